"""Elements and numbers that are found by name or by index."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sarrus._errors import InputError

T = TypeVar("T")


def _unknown(name: object, names: Sequence[str], kind: str) -> InputError:
    near = difflib.get_close_matches(str(name), names, 1)
    hint = f"did you mean '{near[0]}'?" if near else f"there are {len(names)}: {', '.join(names[:8])}"
    return InputError(f"{kind} '{name}': unknown; {hint}", f"{kind} '{name}'")


def _place(key: object, names: Sequence[str], kind: str) -> int:
    """The index of a name or an index; coordinates of one-axis joints are found by the joint, too."""
    if isinstance(key, str):
        if key in names:
            return names.index(key)
        only = [i for i, name in enumerate(names) if name.rpartition(".")[0] == key]
        if len(only) == 1:
            return only[0]
        raise _unknown(key, names, kind)
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        index = int(key)
        if -len(names) <= index < len(names):
            return index % len(names)
        raise InputError(f"{kind} {index}: out of range; there are {len(names)}", f"{kind} {index}")
    raise InputError(f"{kind}: give a name or an index, not {type(key).__name__}", kind)


class Named(Generic[T]):
    """Elements of a model by name or index: ``model.body["chassis"]``, ``model.body[0]``; iterable."""

    __slots__ = ("_elements", "_kind", "names")

    def __init__(self, names: Sequence[str], elements: Sequence[T], kind: str) -> None:
        self.names: tuple[str, ...] = tuple(names)
        self._elements: tuple[T, ...] = tuple(elements)
        self._kind = kind

    def __getitem__(self, key: str | int) -> T:
        return self._elements[_place(key, self.names, self._kind)]

    def __len__(self) -> int:
        return len(self._elements)

    def __iter__(self) -> Iterator[T]:
        return iter(self._elements)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def items(self) -> Iterator[tuple[str, T]]:
        """Names and elements."""
        return zip(self.names, self._elements, strict=True)

    def __repr__(self) -> str:
        return f"<{len(self)} of {self._kind}: {', '.join(self.names[:8])}{', ...' if len(self) > 8 else ''}>"


class NamedArray:
    """Numbers by name: ``sim.joint_gap["knee"]``; NumPy takes it as an array, ``values`` is that array."""

    __slots__ = ("_kind", "names", "values")

    def __init__(self, names: Sequence[str], values: NDArray[np.float64], kind: str) -> None:
        self.names: tuple[str, ...] = tuple(names)
        self.values = values
        self._kind = kind

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.values[_place(key, self.names, self._kind)]
        return self.values[key]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=True) if copy else np.asarray(self.values, dtype=dtype)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names and numbers."""
        return zip(self.names, self.values, strict=True)

    def __repr__(self) -> str:
        pairs = ", ".join(f"{n}: {v:.6g}" if np.ndim(v) == 0 else f"{n}: {v}" for n, v in list(self.items())[:8])
        return f"<{self._kind}: {pairs}{', ...' if len(self) > 8 else ''}>"
