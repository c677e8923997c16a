"""Compiles a scene into flat arrays, plays it and records the take."""

from impel.stage.moment import Moment
from impel.stage.performance import Performance, Snapshot
from impel.stage.show import Frame, Show, play
from impel.stage.simulate import simulate
from impel.stage.warmup import warmup

__all__ = ["Frame", "Moment", "Performance", "Show", "Snapshot", "play", "simulate", "warmup"]
