"""Pictures of what the papers show, made by impel, each with a computed verdict on the claims."""

from impel.gallery.run import entry_names, run

__all__ = ["entry_names", "run"]
