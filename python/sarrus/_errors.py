"""What goes wrong, each kind with an exception of its own. None of them is a text to be parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sarrus._core import StepReport


class InputError(ValueError):
    """Bad input. The message names the element, the problem and the remedy; ``element`` is the first of these."""

    def __init__(self, message: str, element: str = "") -> None:
        super().__init__(message)
        self.element = element

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        return type(self), (str(self), self.element)


class StepFailed(RuntimeError):
    """No acceptable answer was found for a step. The state is the one before it; ``report`` tells what was worst."""

    def __init__(self, message: str, report: StepReport) -> None:
        super().__init__(message)
        self.report = report


class SimulationBusy(RuntimeError):
    """A step of this simulation runs in another thread."""
