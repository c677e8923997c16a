"""A controller of your own: gusts of wind push a ball off its path, and it finds back.

python examples/wind.py
"""

import math

from impel import Moment, Scene, simulate

scene = Scene(seconds=9)
scene.body("ground", plane={}, fixed=True)
ball = scene.body("ball", sphere=0.15, mass=0.5, at=[-2, 0, 1])
ball.move([[-2, 0, 1], [0, 0.5, 1.3], [2, 0, 1]], base_distance=0.3, speed=0.8)


def wind(moment: Moment) -> None:
    """Called before every frame: a gust every other second, until the weather calms down."""
    gust = 4.0 if moment.time < 6.0 and math.fmod(moment.time, 2.0) > 1.0 else 0.0
    moment.push("ball", [0.0, gust, 0.0])


take = simulate(scene, controller=wind)
away = take.channels["ball.move.distance"]
print(f"blown {away.max():.2f} m off its path at the most, {away[-1]:.3f} m in the end")
