"""One compilation serves all scenes."""

from impel.scene import Scene
from impel.stage.performance import Performance
from impel.stage.step import play


def test_scenes_with_all_sorts_of_parts_are_one_kind() -> None:
    plain, full = Scene(seconds=1), Scene(seconds=1)
    for scene in (plain, full):
        scene.body("ball", sphere=0.2, mass=1, at=[0, 0, 1])
    full.body("ground", plane={}, fixed=True)
    full.body("blob", blob={"points": [{"at": [0, 0, 0], "radius": 0.1}]}, mass=1, at=[3, 0, 1])
    full.body("bar", capsule={"radius": 0.1, "length": 0.4}, mass=1, at=[6, 0, 1])
    full.body("lift", box=[0.2, 0.2, 0.2], at=[9, 0, 1], follows=[{"time": 0}, {"time": 1, "at": [9, 0, 2]}])
    full.joint("pin", ball=["world", "ball"], at=[0, 0, 1.5])
    full["ball"].move([[0, 0, 1], [1, 0, 1]], base_distance=0.3)
    full.joint("wire", on_curve=["bar", "world"], at=[6, 0, 1], curve=[[5, 0, 1], [6, 0, 1], [7, 0, 1]])

    Performance(plain).next_frame()
    compiled = len(play._whole.signatures)
    Performance(full).next_frame(lambda moment: None)
    assert len(play._whole.signatures) == compiled
