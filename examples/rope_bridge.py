"""A ball drops on a bridge of planks between two cliffs, and the bridge swings under it.

python examples/rope_bridge.py
"""

import math

from impel import Scene, simulate, write_take

scene = Scene(seconds=5, camera={"from": [1.5, -7.5, 3.6], "to": [0, 0, 1.35], "fov": 30})
scene.body("ground", plane={}, fixed=True)
for side in (-1, 1):
    scene.body(f"cliff {side}", box=[1, 1.2, 2], at=[2.5 * side, 0, 1], fixed=True, color="#8d7a68")

# The planks hang in an arc, 4 m wide and half a metre deep, each tied to the one before it by a hinge.
planks, deep = 16, 0.5
radius = (2**2 + deep**2) / (2 * deep)
half = math.asin(2 / radius)


def on_arc(share):
    """A point of the arc, from 0 at the left end to 1 at the right one."""
    angle = half * (2 * share - 1)
    return [radius * math.sin(angle), 0, 1.95 - deep + radius * (1 - math.cos(angle))]


before = "cliff -1"
size = [0.85 * 2 * radius * half / planks, 0.8, 0.05]
for i in range(planks):
    tilt = -math.degrees(half * (2 * (i + 0.5) / planks - 1))
    plank = scene.body(
        f"plank {i}", box=size, mass=1.5, at=on_arc((i + 0.5) / planks), euler=[0, tilt, 0], color="#c89b6c"
    )
    scene.joint(f"rope {i}", hinge=[before, plank], at=on_arc(i / planks), axis=[0, 1, 0])
    before = plank
scene.joint("last rope", hinge=[before, "cliff 1"], at=on_arc(1), axis=[0, 1, 0])
scene.body("ball", sphere=0.25, mass=10, at=[-1.5, 0, 2.6], velocity=[1.5, 0, 0], color="#e4572e")

take = simulate(scene)
lowest = take.position[:, take.index("plank 7"), 2].min()
print(
    f"the bridge gives way by {100 * (take.position[0, take.index('plank 7'), 2] - lowest):.0f} cm, and holds the ball"
)
write_take(take, "rope_bridge.png")  # a strip of moments; or .mp4, .glb
