"""The check of references can fail: each kind of mistake in a small tree is found, and nothing in a tree without any."""

import os
import tempfile

import check

GOOD = {
    "README.md": "[theory](docs/theory/rows.md) and [its part](docs/theory/rows.md#2-joints)\n",
    "CONTRIBUTING.md": "",
    "CHANGELOG.md": "an entry about an old_file.h\n",
    "docs/theory/rows.md": "# Rows\n\n## 1. Law\n\nSee §2 and [bibliography.md](bibliography.md) §1.\n\n## 2. Joints\n\n### 2.1 Two\n",
    "docs/theory/bibliography.md": "# Papers\n\n## 1. Tags\n\n- **[T]** someone\n",
    "docs/page.md": "`build/release/tests/math_test --gtest_filter=Cone.Projects*` and `src/a.{h,cpp}`\n",
    "src/a.h": "// Joint rows (docs/theory/rows.md §2,\n// §2.1; [T] Alg. 2), see a.cpp and §1.\n",
    "src/a.cpp": "",
    "src/sarrus/math/b.h": "",
    "docs/architecture.md": "  math/   vectors\n",
    "tests/math/cone_test.cpp": "TEST(Cone, ProjectsPoints) {}\n",
}
BAD = [
    ("src/a.h", "// as spec/rows.md has it\n", "outside"),
    ("src/a.h", "// docs/theory/rows.md §7\n", "no section 7"),
    ("src/a.h", "// docs/theory/rows.md §2, §3.1\n", "no section 3.1"),
    ("src/a.h", "// docs/theory/rows.md §2\n// and later §9\n", "no section 9"),
    ("src/a.h", "// docs/theory/none.md §1\n", "does not exist"),
    ("src/a.h", "// see gone.h\n", "'gone.h' does not exist"),
    ("src/a.h", "// [Q] says so\n", "tag [Q]"),
    ("docs/architecture.md", "math/ is somewhere\n", "not in the map"),
    ("docs/page.md", "to be @MEASURED@\n", "placeholder"),
    ("docs/page.md", "[x](missing.md)\n", "which does not exist"),
    ("docs/page.md", "[x](theory/rows.md#3-none)\n", "no such heading"),
    ("docs/page.md", "`build/release/tests/cone_test`\n", "no test program"),
    ("docs/page.md", "`Cone.Turns*`\n", "no test case"),
    ("docs/page.md", "`src/b.{h,cpp}`\n", "does not exist"),
    ("docs/theory/rows.md", "# Rows\n\n## 1. Law\n\nSee §4.\n\n## 2. Joints\n\n### 2.1 Two\n", "no section 4"),
]


def errors_of(tree):
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return check.Checker(root).run()


assert errors_of(GOOD) == [], errors_of(GOOD)
for path, text, expected in BAD:
    errors = errors_of({**GOOD, path: text})
    assert any(expected in e for e in errors), (text, errors)
