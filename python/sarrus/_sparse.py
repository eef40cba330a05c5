"""Sparse matrices of a problem, for those who have scipy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sarrus._errors import InputError

if TYPE_CHECKING:
    from sarrus._core import Problem


def matrix(name: str, problem: Problem, rows: int, size: int) -> Any:
    """J or M in compressed rows."""
    if name not in ("J", "M"):
        raise InputError(f"sparse: '{name}' is unknown; give 'J' or 'M'", "sparse")
    try:
        from scipy.sparse import coo_matrix
    except ImportError:
        raise InputError(
            "sparse: needs scipy; install it, or take the dense Problem.J and Problem.M", "sparse"
        ) from None
    value, row, column = problem._triplets(name == "J")
    shape = (rows if name == "J" else size, size)
    return coo_matrix((value, (row.astype(int), column.astype(int))), shape=shape).tocsr()
