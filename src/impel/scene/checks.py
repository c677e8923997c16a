"""What cannot be right about a scene whose fields each look right: names, contradictions, and physics."""

from impel.scene.scene import Scene


def problems(scene: Scene) -> list[str]:
    """One line per mistake, each beginning with the field."""
    return []
