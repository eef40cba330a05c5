"""Whether this processor has what the engine was built for. The engine itself would end by an illegal instruction."""

from __future__ import annotations

import os
import platform

from sarrus import _march


def missing(needed: tuple[str, ...], flags: set[str]) -> list[str]:
    """What is needed and not there; nothing where the system tells no flags."""
    return [name for name in needed if flags and name not in flags]


def check_cpu() -> None:
    """Raises ImportError in one line that says what is missing."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            line = next((text for text in file if text.startswith("flags")), "")
    except OSError:
        return
    flags = set(line.partition(":")[2].split()) - {os.environ.get("SARRUS_WITHOUT_CPU_FEATURE", "")}
    lacks = missing(_march.NEEDS, flags)
    if lacks:
        raise ImportError(
            f"sarrus was built for {_march.MARCH}; this processor ({platform.machine()}) lacks {', '.join(lacks)}. "
            "Build it here: SARRUS_MARCH=native (docs/python.md)"
        )
