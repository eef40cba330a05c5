"""The hand-written stub says of every function what the module has: parameters, defaults, and documentation."""

from __future__ import annotations

import ast
import inspect
import pathlib

import pytest

import sarrus
from sarrus import _core

STUB = pathlib.Path(_core.__file__).with_name("_core.pyi")
TREE = ast.parse(STUB.read_text())
FUNCTIONS = [
    (owner.name if isinstance(owner, ast.ClassDef) else "", node)
    for owner in [TREE, *(n for n in TREE.body if isinstance(n, ast.ClassDef))]
    for node in owner.body
    if isinstance(node, ast.FunctionDef)
]


@pytest.mark.parametrize(("owner", "node"), FUNCTIONS, ids=[f"{o}.{n.name}".strip(".") for o, n in FUNCTIONS])
def test_function(owner: str, node: ast.FunctionDef) -> None:
    thing = getattr(getattr(_core, owner), node.name) if owner else getattr(_core, node.name)
    if any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in node.decorator_list):
        return
    if isinstance(thing, property):
        assert inspect.getdoc(thing) == ast.get_docstring(node)
        return
    signature = getattr(thing, "__nb_signature__", None)
    if signature is None or node.name in ("__exit__", "__eq__", "__setitem__", "__getitem__"):
        return
    text = signature[0][0].replace("\\0", "None").split("->")[0]
    for argument in node.args.args + node.args.kwonlyargs:
        if argument.arg not in ("self", "arg"):
            assert f"{argument.arg}:" in text, f"{argument.arg} is not in {text}"
    given = len(node.args.args) + len(node.args.kwonlyargs)
    assert text.count(":") - text.count("::") >= given - 1
    documented = (ast.get_docstring(node) or "").split()
    assert " ".join(documented) in " ".join((inspect.getdoc(thing) or "").split())


def test_every_public_name_is_documented() -> None:
    for name in sarrus.__all__:
        thing = getattr(sarrus, name)
        if callable(thing):
            assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and thing.__module__ == "sarrus._core":
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_every_name_is_in_the_stub() -> None:
    for name, value in vars(_core).items():
        if name.startswith("_"):
            continue
        nodes = {n.name: n for n in TREE.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
        assert name in nodes, name
        if inspect.isclass(value):
            members = {n.name for n in nodes[name].body if isinstance(n, ast.FunctionDef)}
            assert {m for m in vars(value) if not m.startswith("_")} <= members
