"""Cores are counted on every system, also where nobody tells which of them a process may use (macOS, Windows)."""

import os

import numpy as np

from impel.cores import available_cores
from impel.gaits import energy
from impel.gaits.gait import PUBLISHED
from impel.gaits.walker import load_walker


def test_without_affinity_all_cores_of_the_machine_count(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert available_cores() == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1


def test_populations_are_measured_without_affinity(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(energy, "_pool", None)
    rows = np.tile(PUBLISHED["tired"].genes.row(), (3 * energy.CHUNK, 1))
    measured = energy.measure(load_walker("creature"), rows).energy
    assert np.isfinite(measured).all()
