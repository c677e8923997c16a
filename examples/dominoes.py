"""Forty dominoes in a ring fall one after the other; a finger, which moves by keys with times, pushes the first.

python examples/dominoes.py
"""

import math

from impel import Scene, simulate, write_take

COUNT, RADIUS, APART = 40, 0.7, 0.1  # metres
COLORS = ["#e4572e", "#f2b134", "#4c9f70", "#2a7f9e"]

scene = Scene(seconds=5, camera={"from": [1.2, -2.2, 2.0], "to": [0, 0, 0.05], "fov": 26})
scene.body("ground", plane={}, fixed=True)
for i in range(COUNT):
    angle = i * APART / RADIUS
    at = [RADIUS * math.sin(angle), -RADIUS * math.cos(angle), 0.1]
    color = COLORS[i * len(COLORS) // COUNT]
    scene.body(f"domino {i}", box=[0.02, 0.1, 0.2], mass=0.1, at=at, euler=[0, 0, math.degrees(angle)], color=color)
push = [{"time": 0.5}, {"time": 1.0, "at": [-0.02, -RADIUS, 0.18]}, {"time": 1.4, "at": [-0.2, -RADIUS, 0.18]}]
scene.body("finger", capsule={"radius": 0.02, "length": 0.1}, at=[-0.2, -RADIUS, 0.18], euler=[0, 90, 0], follows=push)

take = simulate(scene)
height = take.position[:, take.index(f"domino {COUNT - 1}"), 2]
print(f"the last domino falls at {take.time[height < 0.08][0]:.1f} s")
write_take(take, "dominoes.png")  # a strip of moments; or .mp4, .glb
