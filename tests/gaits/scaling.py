"""Walkers of other sizes."""

from impel.gaits.walker import Walker


def scaled(walker, factor):
    """The same walker, larger or smaller in all its lengths."""
    document = walker.model_dump()
    for leg in document["legs"].values():
        for name in ("hip", "foot"):
            leg[name] = [factor * c for c in leg[name]]
        for name in ("upper", "lower"):
            leg[name] *= factor
    ((kind, size),) = document["body"]["shape"].items()
    document["body"]["shape"] = {kind: factor * size if kind == "sphere" else [factor * c for c in size]}
    for name in ("stance", "thickness"):
        document[name] *= factor
    return Walker.model_validate({**document, "name": f"{walker.name} x {factor:g}"})
