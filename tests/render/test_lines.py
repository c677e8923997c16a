"""Ropes, wires and rails are seen where they are: straight if taut, hanging if slack, moving with their bodies."""

import numpy as np
from test_camera import take_of
from test_ropes import tied

from impel.render.picture import expose
from impel.render.scenery import prepare
from impel.takes.lines import rope_lines

SIZE = (320, 180)


def drawn(take, bare, frame):
    """Where a picture with ropes and wires differs from the one without, seen by the same camera."""
    take.camera = bare.camera = {"from": [0, -9, 2], "to": [0, 0, 2], "fov": 40}
    film = prepare(take, SIZE)
    change = np.abs(expose(film, frame).astype(int) - expose(prepare(bare, SIZE), frame)).max(axis=-1)

    def at(point):
        x, y, _ = film.shot.seen(frame, np.asarray(point), SIZE)
        return change[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2].max()

    return at


def test_ropes_and_wires_are_drawn_where_they_are():
    bare = tied()
    bare.wires, bare.ropes = {}, {}
    for frame in (0, 20):
        take = tied()
        del take.ropes["cord"]
        at = drawn(take, bare, frame)
        line = rope_lines(take, "rope", [frame])[0]
        free = np.linalg.norm(line[:, None] - take.position[frame, 1:], axis=-1).min(axis=1) > 0.3
        assert np.count_nonzero(free) > 10
        assert all(at(point) > 30 for point in line[free])
        middle = take.ropes["rope"][frame].mean(axis=0)
        hangs = line[np.argmax(np.linalg.norm(line - middle, axis=-1))] - middle
        assert at(middle - 0.3 * hangs) == 0  # on the other side there is nothing
        assert at([-1.2, 0, 3.2]) > 30  # the beam's rail
        assert at([np.cos(1), 0, 1 + np.sin(1)]) > 30  # the ring


def test_a_taut_rope_is_drawn_straight():
    take, bare = tied(), tied()
    take.wires, bare.wires, bare.ropes = {}, {}, {}
    del take.ropes["rope"]
    at = drawn(take, bare, 10)
    start, stop = take.ropes["cord"][10]
    assert all(at(start + share * (stop - start)) > 30 for share in (0.3, 0.5, 0.7))


def test_a_wire_goes_with_its_body():
    path = np.linspace([-1, 0, 2], [1, 0, 2], 11)
    take, bare = (take_of(({"sphere": 0.1}, path)) for _ in range(2))
    take.wires = {"body 0.pole": np.array([[0.0, 0, 0], [0, 0, 1]])}
    at = drawn(take, bare, 10)
    assert at([1, 0, 2.8]) > 30
    assert at([-1, 0, 2.8]) == 0


def test_lost_ropes_are_left_out():
    take = tied()
    whole = expose(prepare(take, SIZE), 5)
    take.ropes["rope"][5] = np.nan
    assert expose(prepare(take, SIZE), 5).shape == whole.shape


def test_where_a_rope_hangs_from_is_in_the_picture():
    swing = 0.5 * np.sin(np.arange(60) / 8)
    bob = np.stack([np.sin(swing), 0 * swing, 2 - np.cos(swing)], axis=-1)
    take = take_of(({"sphere": 0.2}, bob))
    hook = np.array([0.0, 0, 2])
    before = prepare(take, SIZE).shot.seen(0, hook, SIZE)
    take.ropes = {"string": np.stack([bob, np.tile(hook, (60, 1))], axis=1)}
    after = prepare(take, SIZE).shot.seen(0, hook, SIZE)
    assert before[1] < 0 < after[1]


def test_the_whole_wire_is_seen_rather_than_a_small_bead_followed():
    angle = np.linspace(0, 4, 90)
    bead = np.stack([2 * np.sin(angle), 0 * angle, 3 + 2 * np.cos(angle)], axis=-1)
    ring = np.array([[2 * np.sin(a), 0, 3 + 2 * np.cos(a)] for a in 2 * np.pi * (np.arange(49) % 48) / 48])
    take = take_of(({"sphere": 0.1}, bead))
    assert np.ptp(prepare(take, SIZE).shot.eye, axis=0).max() > 1
    take.wires = {"world.ring": ring}
    shot = prepare(take, SIZE).shot
    assert np.ptp(shot.eye, axis=0).max() == 0
    seen = shot.seen(0, ring, SIZE)
    assert seen[:, :2].min() > 0
    assert (seen[:, :2].max(axis=0) < SIZE).all()
