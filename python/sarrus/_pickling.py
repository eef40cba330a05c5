"""How models and snapshots come back from pickles: functions of C++ have no name that pickle finds."""

from __future__ import annotations

from sarrus._core import Model, Snapshot


def model(text: str) -> Model:
    return Model.from_json(text)


def snapshot(data: bytes) -> Snapshot:
    return Snapshot.from_bytes(data)
