#!/usr/bin/env python3
"""check.py finds each kind of violation, planted in a small tree, and nothing in a proper one."""

import pathlib
import tempfile
import unittest

import check

FOLDERS = """
math | a.cpp | | Eigen3::Eigen
geometry | b.cpp | math | Qhull::qhull_r
problem | c.cpp | math |
solvers | d.cpp | problem |
"""


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.folders = FOLDERS
        for name, source in {"math": "a", "geometry": "b", "problem": "c", "solvers": "d"}.items():
            self.write(f"{name}/{source}.cpp", '#include "sarrus/math/x.h"\n#include <vector>\n')

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        file = self.root / "src" / "sarrus" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def found(self):
        (self.root / "folders").write_text(self.folders)
        return list(check.violations(self.root, check.read_folders(self.root / "folders")))

    def test_a_proper_tree_is_accepted(self):
        self.assertEqual(self.found(), [])

    def test_an_include_against_the_arrows_is_named_with_file_and_line(self):
        self.write("problem/y.h", '#pragma once\n  #  include "sarrus/geometry/hull.h"\n')
        self.assertEqual(
            self.found(), ["src/sarrus/problem/y.h:2: problem -> geometry is no arrow of its DEPENDS"]
        )

    def test_arrows_through_another_folder_are_allowed(self):
        self.write("solvers/z.h", '#include "sarrus/problem/p.h"\n#include "sarrus/math/x.h"\n')
        self.assertEqual(self.found(), [])

    def test_a_foreign_header_needs_its_library(self):
        self.write("problem/y.h", "#include <libqhull_r/qhull_ra.h>\n")
        self.assertEqual(len(self.found()), 1)

    def test_a_library_must_not_be_reached_through_others(self):
        self.folders = FOLDERS.replace("| c.cpp | math |", "| c.cpp | math geometry |")
        self.assertEqual(
            self.found(),
            ["src/sarrus/geometry/CMakeLists.txt: solvers -> problem -> geometry -> Qhull:: must not be"],
        )

    def test_sources_and_folders_without_a_library_are_found(self):
        self.write("problem/forgotten.cpp", "")
        self.write("attic/old.cpp", "")
        self.assertEqual(len(self.found()), 2)


if __name__ == "__main__":
    unittest.main()
