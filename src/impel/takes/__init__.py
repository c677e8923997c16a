"""Recorded motion: save, load, CSV, glTF."""

from impel.takes.archive import load_npz, save_npz
from impel.takes.glb import write_glb
from impel.takes.resampling import resampled
from impel.takes.tables import write_channels_csv, write_csv
from impel.takes.take import EVENT_KINDS, PALETTE, Take

__all__ = [
    "EVENT_KINDS",
    "PALETTE",
    "Take",
    "load_npz",
    "resampled",
    "save_npz",
    "write_channels_csv",
    "write_csv",
    "write_glb",
]
