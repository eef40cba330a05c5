"""What the texts of the repository refer to exists.

  - nobody refers to a text outside the repository (a "spec", a folder beside the checkout);
  - `docs/theory/rows.md §2`, in code or in a document, names a file and a numbered section of it;
  - links of Markdown files lead to files and headings that exist;
  - source files and documents that a comment or a document names exist;
  - tests that a document names exist: programs, sources, and cases such as `Suite.Case*`;
  - tags of papers, [T] and the like, have a key in docs/theory/bibliography.md;
  - every folder of src/sarrus is in the map of docs/architecture.md, and no placeholder was left in a document.

Run by ctest, or: python3 tests/docs/check.py [root]
"""

import os
import re
import sys

SOURCES = ("src", "apps", "python", "tests", "bench", "fuzz", "peers", "cmake", "scripts")
CODE = (".h", ".cpp", ".py", ".sh", ".cmake", ".txt")
TEXTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
# Words that look like files of ours and belong to others.
FOREIGN = {"mpi.h"}
OUTSIDE = re.compile(r"\bspec(ification)?(/|\.md|\s*§|\s+README)|\bthe spec\b|\.\./shared\b")
SECTION = r"§\s*\d+(?:\.\d+)*"
# A file with the sections that are named behind it, also "§1, §2", "§2 to §4" and "§2-§4"; in Markdown a link.
CITED = re.compile(r"(?:docs/theory/)?([A-Za-z_]+\.md)(?:\]\([^)]*\)|`)?\)?((?:\s*(?:,|and|to|-|–)?\s*" + SECTION + r")+)")
NAMED = re.compile(r"(?<![\w./*<-])((?:[A-Za-z0-9_]+/)*[A-Za-z0-9_-]+\.(?:h|cpp|md|py))(?![\w(])")
PAIR = re.compile(r"([\w/]+)\.\{h,cpp\}")
PROGRAM = re.compile(r"build/\w+/tests/(\w+)")
TEST_SOURCE = re.compile(r"`(?:tests/(?:\w+/)?)?([a-z0-9_]+_test)(?:\.cpp)?[`\s]")
TEST_CASE = re.compile(r"[`=*'\s]([A-Z]\w+)\.([A-Z]\w+)\*?[`'\s,]")
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.M)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
TAG = re.compile(r"(?<![\w\]\)])\[([A-Z])\](?![\w\[(])")


def files(root):
    for top in SOURCES + ("docs",):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith(CODE + (".md",)):
                    yield os.path.relpath(os.path.join(folder, name), root)
    yield from TEXTS


def headings(text):
    """Section numbers and anchors of a Markdown file."""
    numbers, anchors = set(), set()
    for line in outside_code(text).splitlines():
        match = re.match(r"#+ (.*)", line)
        if not match:
            continue
        number = re.match(r"(\d+(?:\.\d+)*)\.? ", match[1])
        if number:
            numbers.add(number[1])
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).lower()
        anchors.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return numbers, anchors


def outside_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def comments(path, text):
    """Comments of a source file as running text; whole documents."""
    if path.endswith(".md"):
        return text
    # Strings of a script may contain its comment mark; strings of C++ hardly ever have one after a space.
    script = path.endswith((".py", ".sh", ".cmake", ".txt"))
    comment = re.compile(r"^\s*#+ (.*)" if script else r"(?:^|\s)//+ (.*)")
    found = []
    for line in text.splitlines():
        match = comment.search(line)
        found.append(match[1] if match else "")
    return "\n".join(found)


class Checker:
    def __init__(self, root):
        self.root = root
        self.paths = list(files(root))
        self.text = {}
        for path in self.paths:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                self.text[path] = file.read()
        self.names = {os.path.basename(p) for p in self.paths}
        self.theory = {
            os.path.basename(p): headings(t)[0] for p, t in self.text.items() if p.startswith("docs/theory/")
        }
        self.cases = [case for p, t in self.text.items() if p.startswith("tests/") for case in TEST.findall(t)]
        self.errors = []

    def complain(self, path, text, position, what):
        self.errors.append(f"{path}:{text.count(chr(10), 0, position) + 1}: {what}")

    def check_outside(self, path, text):
        for match in OUTSIDE.finditer(text):
            self.complain(path, text, match.start(), f"'{match[0]}' is outside of the repository")

    def check_sections(self, path, text):
        """A section without a file is one of the text itself in docs/theory, in code one of the file named before."""
        in_theory = path.startswith("docs/theory/")
        current = os.path.basename(path) if in_theory else None
        covered = 0
        for match in re.finditer(CITED.pattern + "|(" + SECTION + ")", text):
            if match[3]:
                if current and match.start() >= covered:
                    self.check_section(path, text, match.start(), current, match[3])
                continue
            covered = match.end()
            if not in_theory and "theory/" not in text[max(0, match.start() - 12) : match.end()]:
                continue
            if not in_theory and not path.endswith(".md"):
                current = match[1]
            self.check_section(path, text, match.start(), match[1], match[2])

    def check_section(self, path, text, position, file, numbers):
        if file not in self.theory:
            self.complain(path, text, position, f"docs/theory/{file} does not exist")
            return
        for number in re.findall(r"\d+(?:\.\d+)*", numbers):
            if number not in self.theory[file]:
                self.complain(path, text, position, f"docs/theory/{file} has no section {number}")

    def check_names(self, path, text):
        for match in NAMED.finditer(text):
            name = match[1]
            if os.path.basename(name) in FOREIGN:
                continue
            known = os.path.basename(name) in self.names
            if known and "/" in name:
                known = any(("/" + p).endswith("/" + name) for p in self.paths)
            if not known:
                self.complain(path, text, match.start(), f"'{name}' does not exist")
        for match in PAIR.finditer(text):
            for extension in ("h", "cpp"):
                if not any(p.endswith(f"{match[1]}.{extension}") for p in self.paths):
                    self.complain(path, text, match.start(), f"'{match[1]}.{extension}' does not exist")

    def check_tests(self, path, text):
        folders = {p.split("/")[1] + "_test" for p in self.paths if p.startswith("tests/") and p.endswith("_test.cpp")}
        for match in PROGRAM.finditer(text):
            if match[1] not in folders:
                self.complain(path, text, match.start(), f"there is no test program '{match[1]}'")
        for match in TEST_SOURCE.finditer(text):
            if match[1] not in folders and match[1] + ".cpp" not in self.names:
                self.complain(path, text, match.start(), f"there is no test '{match[1]}'")
        for match in TEST_CASE.finditer(text):
            if not any(suite == match[1] and case.startswith(match[2]) for suite, case in self.cases):
                self.complain(path, text, match.start(), f"there is no test case '{match[1]}.{match[2]}'")

    def check_links(self, path, text):
        for match in LINK.finditer(text):
            target, _, anchor = match[1].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            file = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.exists(os.path.join(self.root, file)):
                self.complain(path, text, match.start(), f"link to '{match[1]}', which does not exist")
            elif anchor and file in self.text and anchor not in headings(self.text[file])[1]:
                self.complain(path, text, match.start(), f"link to '{match[1]}': no such heading")

    def check_map(self):
        path = "docs/architecture.md"
        text = self.text.get(path, "")
        for folder in sorted({p.split("/")[2] for p in self.paths if p.startswith("src/sarrus/") and p.count("/") > 2}):
            if not re.search(rf"^  {folder}/ ", text, re.M):
                self.errors.append(f"{path}: the folder src/sarrus/{folder} is not in the map")

    def check_tags(self, path, text):
        key = self.text["docs/theory/bibliography.md"]
        for match in TAG.finditer(text):
            if f"**[{match[1]}]**" not in key:
                self.complain(path, text, match.start(), f"tag [{match[1]}] has no key in bibliography.md")

    def run(self):
        here = os.path.join("tests", "docs")  # mistakes that tests make on purpose
        for path, text in self.text.items():
            if path.startswith(here):
                continue
            plain = comments(path, text)
            self.check_outside(path, plain)
            self.check_sections(path, plain)
            self.check_tags(path, plain)
            if path.endswith(".md"):
                self.check_links(path, outside_code(text))
                self.check_tests(path, text)
                for match in re.finditer(r"@[A-Z_]+@", text):
                    self.complain(path, text, match.start(), f"placeholder {match[0]}")
            if path != "CHANGELOG.md":
                self.check_names(path, plain)
        self.check_map()
        return self.errors


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..")
    errors = Checker(os.path.abspath(root)).run()
    print("\n".join(errors) if errors else "all references lead somewhere")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
