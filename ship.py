"""Compiles ahead of time what Python calls, into a library that comes with the package.

python ship.py        (`make library`, and `make wheel`)

Does once what people do, small: scenes, films, pictures, walks. Whatever they call and this does not is compiled when
they do.
"""

import os
import sys
import tempfile
from pathlib import Path


def work(directory: Path) -> None:
    """What people do."""
    from impel.gaits.mood import moods_of
    from impel.gaits.record import as_take
    from impel.gaits.walk import walk
    from impel.geometry.baking import thicknesses
    from impel.geometry.grids import make_grid
    from impel.geometry.meshes import exact_mesh
    from impel.geometry.meshfiles import Surface, welded
    from impel.render.outputs import write_take
    from impel.scene import load_scene
    from impel.stage import simulate, warmup

    warmup()
    for path in sorted(Path("src/impel/gallery/scenes").glob("*.yaml")):
        if not path.name.endswith(".toy.yaml"):
            scene = load_scene(path)
            scene.world.seconds = 0.1
            take = simulate(scene, controller=lambda moment: None)
    for name in ("take.png", "take.gif", "take.glb", "take.csv", "take.npz"):
        write_take(take, directory / name, overlays=True)
    write_take(
        as_take(walk(moods_of("biped", with_mood=True), mood=[(0, 0), (1, 100)], seconds=2), fps=24),
        directory / "walk.npz",
    )
    box = welded(Surface(*exact_mesh({"box": [1, 1, 1]})))  # a mesh of a file may be baked already
    thicknesses(make_grid(box.vertices, box.triangles, 8), box)


def main() -> None:
    from impel.kernel.shipped import DIRECTORY, platform_name
    from impel.kernel.shipping import TARGETS, ship, watching

    if platform_name() not in TARGETS:
        sys.exit(f"ship.py: knows {', '.join(TARGETS)}, not {platform_name()}")
    cpu = TARGETS[platform_name()].cpu
    if os.environ.get("NUMBA_CPU_NAME") != cpu:  # numba reads it when it is imported
        chosen = {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": ""}
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **chosen})
    for old in DIRECTORY.glob("*"):
        old.unlink()
    with tempfile.TemporaryDirectory() as directory, watching() as seen:
        work(Path(directory))
    left_out = ship(seen, DIRECTORY)
    if left_out:
        sys.exit(f"ship.py: needs more than the C library: {', '.join(left_out)}")
    size = sum(path.stat().st_size for path in DIRECTORY.iterdir())
    print(f"{len(seen)} kernels, {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
