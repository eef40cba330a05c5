"""Outputs of runs, pages, notebooks and the live view."""

from __future__ import annotations

import json
import pathlib
import urllib.request

import numpy as np
import pytest

import sarrus


def test_recording(tmp_path: pathlib.Path, sim: sarrus.Simulation) -> None:
    sim.step(3)
    with sim.record(tmp_path / "motion.h5", every=4) as recorder:
        assert isinstance(recorder, sarrus.Recorder)
        sim.step(10)
        sim.step(10)
    recording = sarrus.Recording(tmp_path / "motion.h5")
    motion = recording.motion(sim.model)
    np.testing.assert_allclose(motion["time"], 1e-3 * np.array([3, 7, 11, 15, 19, 23]))
    assert motion["position"].shape == (6, 4, 3) and motion["quaternion_xyzw"].shape == (6, 4, 4)
    assert motion["twist"].shape == (6, 4, 6) and motion["q"].shape == (6, 4)
    np.testing.assert_array_equal(motion["position"][-1], sim.position)
    assert recording.state(sim.model, -1).time == sim.time and recording.path.endswith("motion.h5")
    recording.to_html(tmp_path / "motion.html", fps=60, compare=tmp_path / "motion.h5")
    page = (tmp_path / "motion.html").read_text()
    assert page.startswith("<!") and "fourbar_free" in page and recording.html().startswith("<!")
    assert recording._repr_html_().startswith("<iframe srcdoc=") and repr(recording).startswith("<Recording")
    with pytest.raises(sarrus.InputError, match="samples"):
        recording.state(sim.model, 9)
    with pytest.raises(sarrus.InputError, match="fps"):
        recording.html(fps=-1)
    with pytest.raises(sarrus.InputError, match="no such file"):
        sarrus.Recording(tmp_path / "other.h5")


@pytest.mark.parametrize("ending", ["html", "csv", "json", "svg"])
def test_other_outputs(tmp_path: pathlib.Path, sim: sarrus.Simulation, ending: str) -> None:
    path = tmp_path / f"run.{ending}"
    with sim.record(path):
        sim.step(30)
    text = path.read_text()
    if ending == "json":
        assert json.loads(text)["steps"] == 30
    elif ending == "csv":
        assert len(text.splitlines()) == 31
    else:
        assert len(text) > 1000


def test_an_exception_leaves_what_was_recorded(tmp_path: pathlib.Path, sim: sarrus.Simulation) -> None:
    with pytest.raises(KeyError), sim.record(tmp_path / "m.h5"):
        sim.step(5)
        raise KeyError
    assert len(sarrus.Recording(tmp_path / "m.h5").motion(sim.model)["time"]) == 6
    recorder = sim.record(tmp_path / "never.h5")
    recorder.__enter__()
    sim.step()
    del recorder
    sim.step()
    assert not (tmp_path / "never.h5").exists()


def test_view(sim: sarrus.Simulation) -> None:
    with sarrus.view(sim, open=False) as view:
        address, _, token = view.url.partition("#")
        assert len(token) == 32 and view.pages == 0
        assert b"<" in urllib.request.urlopen(address, timeout=10).read()
        sim.step(5)
        view.sync()
        view.sync()
    assert "closed" in repr(view)
    with pytest.raises(sarrus.InputError, match="closed"):
        view.sync()
    other = sarrus.view(sim, port=0, open=False)
    other.close()
    other.close()
