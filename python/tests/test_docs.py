"""The examples of the documents run: ```python blocks one after another in one folder, ```json blocks named there."""

from __future__ import annotations

import pathlib
import re

import pytest
from conftest import ROOT

PAGES = ["docs/python.md", "docs/tutorial.md"]
BLOCK = re.compile(r"^```(python|json)(?: (\S+))?\n(.*?)^```", re.S | re.M)


@pytest.mark.parametrize("page", [p for p in PAGES if (ROOT / p).exists()])
def test_examples_run(page: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    text = (ROOT / page).read_text()
    names: dict[str, object] = {"__name__": "docs"}
    count = 0
    for match in BLOCK.finditer(text):
        kind, file, code = match.groups()
        if file and file != "norun":
            pathlib.Path(file).write_text(code)
        if kind == "python" and file != "norun":
            line = text.count("\n", 0, match.start(3))
            exec(compile("\n" * line + code, str(ROOT / page), "exec"), names)
            count += 1
    assert count > 0


def test_docstring_of_the_package() -> None:
    import doctest

    import sarrus

    assert doctest.testmod(sarrus).failed == 0
