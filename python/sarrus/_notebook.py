"""What notebooks show."""

from __future__ import annotations

import html


def frame(page: str, height: int = 480) -> str:
    """A page within the page of a notebook."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{height}" '
        'sandbox="allow-scripts" style="border: 0"></iframe>'
    )
