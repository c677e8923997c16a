"""impel turns what an animator wants into motion that physics allows."""

__version__ = "0.1.0"
