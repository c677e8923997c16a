"""Bodies of any form: balls in a cup, a train of gears, and thirty odd things in a bin."""

from pathlib import Path
from typing import Any

import numpy as np

from impel.gallery.ledger import Exhibit
from impel.gallery.odd_things import MODULE, cup, gear, ring, write_mesh
from impel.motion.orientations import matrix_from_quaternion
from impel.render.outputs import write_png
from impel.render.sequences import strip
from impel.scene import Scene
from impel.stage import simulate
from impel.takes import Take

ORDER = 390
TITLE = "Things of any form"
TEXT = (
    "Meshes are bodies like all others: a cup holds balls, teeth drive teeth, and a bin fills with gears, cups, rings "
    "and beasts. What a mesh touches with is its own surface, edges and hollows included."
)

TEETH = (12, 18, 9)
SIDE = 0.45  # m: from the middle of the bin to its walls


def balls_in_a_cup(directory: Path) -> Scene:
    scene = Scene(seconds=4, camera={"from": [0.35, -0.6, 0.6], "to": [0, 0, 0.1], "fov": 32})
    scene.body("floor", plane={}, fixed=True)
    scene.body("cup", mesh=write_mesh(cup(), directory / "cup.obj"), mass=0.5, color="#e9e4d8")
    spots = np.random.default_rng(2).uniform(-0.03, 0.03, (14, 2))
    for k, (x, y) in enumerate(spots):
        scene.body(f"ball{k}", sphere=0.03, mass=0.1, at=[x, y, 0.12 + 0.07 * k])
    return scene


def gear_train(directory: Path) -> Scene:
    """The first gear turns twice in four seconds; the others are only pushed by its teeth."""
    scene = Scene(seconds=4, camera={"from": [0.25, -0.55, 0.75], "to": [0.2, 0, 0], "fov": 34})
    scene.body("floor", plane={}, at=[0, 0, -0.03], fixed=True)
    x, turned = 0.0, 0.0
    for k, teeth in enumerate(TEETH):
        fields: dict[str, Any] = {"at": [x, 0, 0], "euler": [0, 0, turned]}
        if k == 0:
            fields["follows"] = [{"time": 0, "euler": [0, 0, 0]}, {"time": 4, "euler": [0, 0, 720]}]
            fields["linear"] = True
        else:
            fields |= {"mass": 0.5, "coating": {"friction": 0.1}}
        scene.body(f"gear{k}", mesh=write_mesh(gear(teeth), directory / f"gear{teeth}.obj"), **fields)
        if k > 0:
            scene.joint(f"axle{k}", hinge=["world", f"gear{k}"], at=[x, 0, 0], axis=[0, 0, 1], friction=0.002)
        if k + 1 < len(TEETH):
            after = TEETH[k + 1]
            x += MODULE * (teeth + after) / 2 + 0.0005
            # A gap of the next is to face the tooth, or the gap, that faces it here.
            facing = (0.0 - turned) / (360 / teeth) % 1.0
            own = 180 / (360 / after) % 1.0
            turned = ((own + facing + 0.5) % 1.0) * 360 / after
    return scene


def bin_of_odd_things(directory: Path, count: int = 30) -> Scene:
    scene = Scene(seconds=4, camera={"from": [1.1, -1.9, 2.1], "to": [0, 0, 0.25], "fov": 34})
    scene.body("floor", plane={}, fixed=True)
    for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        size = [0.1 if x else 2 * SIDE + 0.2, 0.1 if y else 2 * SIDE + 0.2, 0.6]
        at = [x * (SIDE + 0.05), y * (SIDE + 0.05), 0.3]
        scene.body(f"wall{k}", box=size, at=at, fixed=True, color="#b9c4cc60")
    tail = {"points": [[-0.08, 0, 0.02], [-0.15, 0, 0.03], [-0.18, 0, 0.1]], "radius": 0.014}
    beast = {
        "points": [{"at": [0, 0, 0], "radius": 0.09}, {"at": [0.12, 0, 0.06], "radius": 0.06}],
        "segments": [
            {"from": [x, y * 0.05, -0.02], "to": [1.2 * x, y * 0.06, -0.14], "radius": 0.025}
            for x in (-0.06, 0.06)
            for y in (-1, 1)
        ],
        "curves": [tail],
        "blend": 0.03,
    }
    solids = {"gear12": gear(12), "cup": cup(), "ring": ring()}
    files = [write_mesh(solid, directory / f"{name}.obj") for name, solid in solids.items()]
    rng = np.random.default_rng(5)
    for k in range(count):
        scale = float(rng.choice([0.5, 0.75, 1.0, 1.2]))
        rod = {"cylinder": {"radius": 0.02 * scale, "length": 0.2 * scale}, "euler": [0, 90, 0]}
        ends = [{"sphere": 0.05 * scale, "at": [side * 0.1 * scale, 0, 0]} for side in (-1, 1)]
        shapes: list[dict[str, Any]] = [
            *({"mesh": {"file": file, "scale": scale}} for file in files),
            {"compound": [rod, *ends]},
            {"compound": [{"blob": beast}]},
        ]
        at = [-0.19 + 0.38 * (k % 2), -0.19 + 0.38 * (k // 2 % 2), 0.3 + 0.42 * (k // 4)]
        scene.body(f"thing{k}", **shapes[k % 5], mass=2 * scale**3, at=at, euler=rng.uniform(-180, 180, 3).tolist())
    return scene


def turns(take: Take, name: str) -> float:
    """How often a body has turned about z."""
    axis = matrix_from_quaternion(take.orientation[:, take.index(name)])[:, :, 0]
    return float(np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))[-1] / (2 * np.pi))


def make(directory: Path) -> Exhibit:
    pictures = []
    filled = simulate(balls_in_a_cup(directory / "meshes"))
    held = sum(take_height(filled, f"ball{k}") > 0.03 for k in range(14))
    write_png(strip(filled, times=[0.2, 0.5, 0.8, 4]), directory / "cup.png")
    pictures.append(("cup.png", f"Fourteen balls are dropped into a cup; {held} stay in it, at rest."))
    train = simulate(gear_train(directory / "meshes"))
    write_png(strip(train, times=[0, 0.1, 0.2, 0.3]), directory / "gears.png")
    done = [turns(train, f"gear{k}") for k in range(3)]
    wanted = [done[0] * sign * TEETH[0] / teeth for sign, teeth in zip((1, -1, 1), TEETH)]
    caption = (
        f"Only the first gear is led; after {done[0]:.2f} turns the others have made {done[1]:.2f} and {done[2]:.2f}"
    )
    pictures.append(("gears.png", f"{caption} ({wanted[1]:.2f} and {wanted[2]:.2f} by their teeth)."))
    heap = simulate(bin_of_odd_things(directory / "meshes"))
    write_png(strip(heap, times=[0.3, 0.7, 1.2, 4]), directory / "bin.png")
    pictures.append(("bin.png", "Thirty odd things fall into a bin, and come to rest."))
    return Exhibit(pictures=pictures, verdicts=[])


def take_height(take: Take, name: str) -> float:
    """How high a body is in the end."""
    return float(take.position[-1, take.index(name), 2])
