#!/usr/bin/env python3
"""Takes pictures out of a benchmark report, as SVG files of their own.

usage: report_pictures.py report.html DIR NAME=TITLE...

Writes DIR/NAME.svg with the first picture of the figure whose caption starts with TITLE.
"""
import html
import os
import re
import sys


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    page = open(sys.argv[1], encoding="utf-8").read()
    style = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
    style = style[style.index("svg.sp"):]
    figures = re.findall(r"<figure.*?</figure>", page, re.S)
    os.makedirs(sys.argv[2], exist_ok=True)
    for wish in sys.argv[3:]:
        name, title = wish.split("=", 1)
        found = [f for f in figures if title in html.unescape(re.sub(r"<[^>]*>", "", f[f.rfind("<figcaption"):]))]
        if not found:
            sys.exit(f"no figure '{title}' in {sys.argv[1]}")
        picture = re.search(r"<svg.*?</svg>", found[0], re.S).group(0)
        end = picture.index(">")
        text = picture[: end + 1] + "<style>" + style + "</style>" + picture[end + 1:]
        if "xmlns=" not in text[:end]:
            text = text.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
        with open(os.path.join(sys.argv[2], name + ".svg"), "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
