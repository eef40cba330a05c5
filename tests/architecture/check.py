#!/usr/bin/env python3
"""The arrows between the folders of src/sarrus: which folder may include which, and which libraries it links.

A static archive links whatever its user links, so the linker does not see a forbidden include. This does:

    check.py SOURCE_DIR FOLDERS

FOLDERS is written by CMake, one line per sarrus_library: folder | sources | folders of DEPENDS | linked targets.
Prints one line per violation (file, line, arrow) and exits 1 if there is one.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')

# Headers of other libraries, and the target that a folder must link itself to include them.
FOREIGN = {
    r"Bullet|btBullet|LinearMath/": "BulletDouble::Collision",
    r"libqhull": "Qhull::",
    r"tinyxml2": "tinyxml2",
    r"nlohmann/": "nlohmann_json::nlohmann_json",
    r"hdf5|H5": "hdf5::hdf5",
}

# What a folder must not reach, through any other folder either.
UNREACHABLE = {"solvers": ["BulletDouble::Collision", "Qhull::"]}


class Folder:
    def __init__(self, line):
        name, sources, depends, links = (part.strip() for part in line.split("|"))
        self.name = name
        self.sources = set(sources.split())
        self.depends = depends.split()
        self.links = links.split()


def read_folders(path):
    folders = [Folder(line) for line in path.read_text().splitlines() if line.strip()]
    return {folder.name: folder for folder in folders}


def reachable(folders, name):
    """The folder itself and all that it depends on, with the path that leads there."""
    paths = {name: name}
    todo = [name]
    while todo:
        here = todo.pop()
        for next_one in folders[here].depends:
            if next_one not in paths:
                paths[next_one] = f"{paths[here]} -> {next_one}"
                todo.append(next_one)
    return paths


def check_file(file, where, folder, allowed):
    for number, text in enumerate(file.read_text().splitlines(), 1):
        match = INCLUDE.match(text)
        if not match:
            continue
        header = match.group(1)
        if header.startswith("sarrus/"):
            target = header.split("/")[1]
            if target not in allowed:
                yield f"{where}:{number}: {folder.name} -> {target} is no arrow of its DEPENDS"
        else:
            for pattern, library in FOREIGN.items():
                if re.match(pattern, header) and not any(link.startswith(library) for link in folder.links):
                    yield f"{where}:{number}: {folder.name} includes <{header}> without linking {library}"


def violations(source_dir, folders):
    root = source_dir / "src" / "sarrus"
    for entry in sorted(path for path in root.iterdir() if path.is_dir()):
        if entry.name not in folders:
            yield f"src/sarrus/{entry.name}: no sarrus_library names this folder"
            continue
        folder = folders[entry.name]
        allowed = reachable(folders, entry.name)
        for file in sorted(list(entry.rglob("*.h")) + list(entry.rglob("*.cpp"))):
            where = file.relative_to(source_dir)
            if file.suffix == ".cpp" and str(file.relative_to(entry)) not in folder.sources:
                yield f"{where}: compiled by no library"
            yield from check_file(file, where, folder, allowed)
    for name, libraries in UNREACHABLE.items():
        for other, path in reachable(folders, name).items():
            for library in libraries:
                if any(link.startswith(library) for link in folders[other].links):
                    yield f"src/sarrus/{other}/CMakeLists.txt: {path} -> {library} must not be"


def main():
    source_dir = pathlib.Path(sys.argv[1])
    found = list(violations(source_dir, read_folders(pathlib.Path(sys.argv[2]))))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
