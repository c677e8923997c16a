"""Compiles a scene into flat arrays, plays it and records the take."""

from impel.stage.performance import Moment, Performance
from impel.stage.simulate import simulate
from impel.stage.warmup import warmup

__all__ = ["Moment", "Performance", "simulate", "warmup"]
