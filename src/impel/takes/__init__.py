"""Recorded motion: save, load, CSV, glTF."""

from impel.takes.take import EVENT_KINDS, Take

__all__ = ["EVENT_KINDS", "Take"]
