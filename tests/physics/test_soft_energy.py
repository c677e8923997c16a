"""What nothing damps gives back what pressing it took, and never more: in all pairs of shapes and at all angles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impel import Scene, simulate
from odd_shapes import ALL, written

BARE = {"damping": 0, "friction": 0, "rolling": 0}
CURVE = [[0, 1e6], [0.02, 6e6]]
FORMS = {
    "sphere": {"sphere": 0.15},
    "box": {"box": [0.3, 0.25, 0.2]},
    "capsule": {"capsule": {"radius": 0.1, "length": 0.2}},
    "cylinder": {"cylinder": {"radius": 0.12, "length": 0.25}},
    "blob": {"blob": {"points": [{"at": [0, 0, 0], "radius": 0.12}, {"at": [0.12, 0, 0.05], "radius": 0.09}]}},
}


def energies(one, other, seed, stiffness, forms=FORMS):
    """Of two bodies that meet at 1 m/s, in flight, before and after; None where they are still together."""
    random = np.random.default_rng(seed)
    scene = Scene(seconds=0.5, fps=120, gravity=[0, 0, 0])
    coating = BARE | ({} if stiffness is None else {"stiffness": stiffness})
    if other == "plane":
        scene.body("other", plane={}, fixed=True, coating=BARE)
    else:
        turned = random.uniform(0, 360, 3).tolist()
        scene.body("other", **forms[other], mass=1, at=[0, 0, -0.4], euler=turned, coating=coating)
    place, turned = [*random.uniform(-0.03, 0.03, 2), 0.25], random.uniform(0, 360, 3).tolist()
    scene.body("one", **forms[one], mass=1, at=place, euler=turned, velocity=[0, 0, -1], coating=coating)
    take = simulate(scene)
    touches = [event for event in take.events if event["kind"].startswith("contact")]
    free = touches and touches[-1]["kind"] == "contact ends" and touches[-1]["time"] < 0.48
    return take.channels["energy"][[0, -1]] if free else None


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(list(FORMS)),
    st.sampled_from([*FORMS, "plane"]),
    st.integers(0, 10_000),
    st.sampled_from([3e6, CURVE]),
)
def test_no_pair_parts_with_more_energy_than_it_met_with(one, other, seed, stiffness):
    flown = energies(one, other, seed, stiffness)
    if flown is not None:
        assert flown[1] < 1.01 * flown[0]


@pytest.mark.parametrize("form", FORMS)
def test_a_bounce_off_the_floor_keeps_its_energy(form):
    for seed in range(6):
        before, after = energies(form, "plane", seed, 3e6)
        assert after == pytest.approx(before, rel=0.03)


def test_stiff_bounces_of_all_shapes_keep_their_energy(tmp_path):
    """With default coatings, meshes included: without the account that pairs keep, a third lose more than 3 % and a
    tenth gain more than 1 %, up to five times what there was. What slides off an edge may still lose some."""
    forms = FORMS | {f"{name} as a mesh": {"mesh": written(tmp_path, name)} for name in ALL}
    kept = []
    for one in forms:
        for other in [*forms, "plane"]:
            for seed in range(2):
                flown = energies(one, other, seed, None, forms)
                if flown is not None:
                    kept.append(flown[1] / flown[0])
    kept = np.array(kept)
    assert len(kept) > 120
    assert kept.max() < 1.01
    assert np.mean(kept > 0.97) > 0.97
    assert np.median(kept) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("stiffness", [1e6, CURVE], ids=["even", "curve"])
@pytest.mark.parametrize("form", ["box", "cylinder", "all"])
def test_energy_never_grows_in_a_box_of_ten(form, stiffness):
    """Undamped, without friction or weight: what is lost is lost, and does not come back; it is little."""
    scene = Scene(seconds=10, gravity=[0, 0, 0])
    sides = {"x": [0.2, 1.8, 2.2], "y": [1.8, 0.2, 2.2], "z": [1.8, 1.8, 0.2]}
    for k, (axis, size) in enumerate(sides.items()):
        for sign in (-1, 1):
            at = [0.0, 0.0, 1.0]
            at[k] += sign * (0.8 if axis != "z" else 1.1)
            scene.body(f"{axis}{sign}", box=size, at=at, fixed=True, coating=BARE)
    random = np.random.default_rng(0)
    for k in range(10):
        shape = FORMS[form if form != "all" else list(FORMS)[k % 5]]
        at = [0.4 * (k % 3) - 0.4, 0.4 * (k // 3 % 2) - 0.4, 0.3 + 0.45 * (k // 4)]
        turned, velocity = random.uniform(0, 360, 3).tolist(), random.normal(size=3).tolist()
        fields = {"at": at, "euler": turned, "velocity": velocity, "coating": BARE | {"stiffness": stiffness}}
        scene.body(f"body{k}", **shape, mass=1 + 0.2 * k, **fields)
    energy = simulate(scene).channels["energy"]
    peaks = energy[: len(energy) // 30 * 30].reshape(-1, 30).max(axis=1)  # between blows: all of it is motion then
    assert energy.max() <= 1.003 * energy[0]  # that much by the steps, which change their length in a blow
    assert peaks[-1] > 0.8 * energy[0]
    assert np.all(peaks[2:] <= 1.01 * np.minimum.accumulate(np.maximum(peaks[1:-1], peaks[:-2])))
