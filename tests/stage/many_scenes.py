"""Simulates thousands of different scenes in one process, which must not grow: `make many` takes ten thousand."""

import resource
import sys

from impel import Scene, simulate

WARM = 100  # scenes, until all is loaded that stays
ROOM = 500e6 / 10000  # bytes that a scene may leave behind


def peak() -> float:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1024.0 if sys.platform == "linux" else 1.0)


def small_scene(n: int) -> Scene:
    """No two have the same sizes, masses or keys; shapes, joints and coatings go by turns."""
    scene = Scene(seconds=0.05)
    size = 0.1 + 1e-5 * n
    shape = (
        {"box": [size, 0.2, 0.3]},
        {"sphere": size},
        {"capsule": {"radius": size, "length": 0.2}},
        {"cylinder": {"radius": size, "length": 0.2}},
    )[n % 4]
    coating = {"stiffness": 1e5 + n, "thickness": 0.04} if n % 3 == 0 else {"friction": 0.5}
    scene.body("ground", plane={}, fixed=True)
    actor = scene.body("actor", **shape, mass=1 + 1e-4 * n, at=[0, 0, 1], coating=coating)
    actor.move([[0, 0, 1], [1 + 1e-3 * n, 0, 1]])
    if n % 5 < 3:
        scene.body("load", sphere=0.05, mass=0.1, at=[0, 0, 0.5])
        joint = ("ball", "hinge", "weld")[n % 5]
        where = {} if joint == "weld" else {"at": [0, 0, 0.7]}
        scene.joint("ties", **{joint: ["actor", "load"]}, **where, **({"axis": [0, 1, 0]} if joint == "hinge" else {}))
    return scene


def left_behind(count: int) -> float:
    """Bytes by which so many scenes, after the first ones, make the process grow."""
    for n in range(WARM):
        simulate(small_scene(n))
    before = peak()
    for n in range(WARM, WARM + count):
        simulate(small_scene(n))
    return peak() - before


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    more = left_behind(count)
    print(f"{count} scenes: {more / 1e6:.0f} MB more (at most {ROOM * count / 1e6:.0f})")
    sys.exit(more > ROOM * count)


if __name__ == "__main__":
    main()
