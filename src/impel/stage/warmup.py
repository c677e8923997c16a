"""Compiles ahead of time what scenes need, by simulating small ones."""

from impel.scene import Scene
from impel.stage.simulate import simulate


def _scene(joints: str) -> Scene:
    """A scene that uses every room and is changed at play, with its joints held in this way."""
    scene = Scene(world={"joints": joints, "seconds": 0.1})
    scene.body("ground", plane={}, fixed=True)
    scene.body("ball", sphere=0.2, mass=1, at=[0, 0, 1]).move([[0, 0, 1], [1, 0, 1]], base_distance=0.3)
    scene["ball"].turn([{"euler": [0, 0, 0]}, {"euler": [0, 0, 90], "time": 0.05}])
    scene.body("shelf", box=[0.2, 0.2, 0.1], at=[0, -3, 1], follows=[{"time": t, "at": [0, -3, 1 + t]} for t in (0, 1)])
    scene.body("rider", sphere=0.1, mass=1, at=[0, -3, 1.5]).move([[0, -3, 1.5], {"at": [0, 0, 0.3], "in": "shelf"}])
    scene.body("guest", sphere=0.1, mass=1, at=[0, -5, 1]).goals([{"at": [0, -5, 1], "time": 0.05, "hold": True}])
    scene.body("cushion", sphere=0.2, at=[0, 3, 0.15], fixed=True, coating={"stiffness": 1e5})
    scene.joint("pin", ball=["world", "ball"], at=[0, 0, 1.5])
    scene.body("door", box=[1, 0.1, 2], mass=1, at=[9.5, 0, 2])  # whose joints are looked at before the start
    for name, height in (("upper", 2.5), ("lower", 1.5)):
        scene.joint(name, hinge=["world", "door"], at=[9, 0, height], axis=[0, 0, 1])
    scene.push("ball", force=[1, 0, 0])
    scene.change("world.gravity", [0, 0, -5], time=0.05)
    scene.change("bodies.ball.coating.friction", 0.5, time=0.05)
    scene.walker("spider", path=[[0, 5, 0], [4, 5, 0]], mood=[[0, 0], [1, 100]])
    return scene


def warmup() -> None:
    """Compile what scenes need, so that later simulations start at once."""
    for joints in ("rattle", "displacement", "paper"):
        simulate(_scene(joints))
