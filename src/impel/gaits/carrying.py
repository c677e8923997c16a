"""How the body is carried by its legs: over the feet that stand, on springs that give under its weight.

A stance leg is a spring and a damper at its hip. Where feet are lifted the others bear more, so the body sinks, and
tilts towards the hips that nothing holds: the quasi-static solution of a rigid body on those springs. What it has of
inertia makes a damped oscillator of each of heave, roll and pitch, at the frequency of the springs, ω² = g/spring: soft
legs bounce, stiff ones do not. The paper's own body (`curve: paper`) has none of this: it is a place, by eqs. 2 and 3.
"""

import math

from impel.kernel import kernel

GRAVITY = 9.8  # m/s², as in the notes to paper 001
STIFFEST = 1e-4  # leg halves that legs give at least: stiffer ones would only need shorter ticks
SPRINGY = 0.3  # damping of the springs, 1 being critical: a bounce is seen, and is gone after two or three
UNLOADED = 0.8  # of its share that a foot in mid-air leaves to the others; with all in the air some spring must be left
CARRIED = 0.8  # natural frequency of the body along its way and aside, per cycle: it hardly feels single steps ...
STEADY = 0.7  # ... and does not swing
LEAN = 1.0  # of the lean that keeps the balance in a turn, at a start and at a stop
LEANING = 4.0  # rate per cycle at which it leans, critically damped


@kernel(inline=True)
def support(foot, floor, lame, limp, spare, sway, cosine, sine, rig):
    """001, eq. 2: where the feet want the body, away from those that are lifted.

    `foot` (n, 3) are the feet in the world, `floor` (n,) the ground under each; (cosine, sine) is the heading. To the
    degree `limp` the body leans off the lame leg by `spare`, however high its foot is; the paper's limp is (1, sway),
    and `spare` = 1 leaves the leg out.
    """
    n = foot.shape[0]
    middle_x = 0.0
    middle_y = 0.0
    rest_x = 0.0
    rest_y = 0.0
    for i in range(n):
        middle_x += foot[i, 0]
        middle_y += foot[i, 1]
        rest_x += rig.rest[i, 0]
        rest_y += rig.rest[i, 1]
    middle_x /= n
    middle_y /= n
    rest_x /= n
    rest_y /= n
    x = 0.0
    y = 0.0
    for i in range(n):
        lean = sway * (1.0 - 1.0 / ((foot[i, 2] - floor[i]) / rig.unit + 1.0))
        if i == lame:
            lean += limp * (spare - lean)
        x += foot[i, 0] + lean * (middle_x - foot[i, 0])
        y += foot[i, 1] + lean * (middle_y - foot[i, 1])
    return x / n - (cosine * rest_x - sine * rest_y), y / n - (sine * rest_x + cosine * rest_y)


@kernel(inline=True)
def paper_height(foot, floor, x, y, cosine, sine, stature, rig):
    """001, eq. 3: as high as the spread of the legs allows at this moment."""
    z = 0.0
    for i in range(foot.shape[0]):
        dx = x + cosine * rig.hip[i, 0] - sine * rig.hip[i, 1] - foot[i, 0]
        dy = y + sine * rig.hip[i, 0] + cosine * rig.hip[i, 1] - foot[i, 1]
        z += floor[i] - rig.hip[i, 2]
        z += stature * math.sqrt(max(0.0, rig.stance * rig.stance - dx * dx - dy * dy))
    return z / foot.shape[0]


@kernel(inline=True)
def posture(rig, pace, stature):
    """How high above its feet the body is carried: as 001, eq. 3 has it in the mean over a step, for knees make up for
    what the spread of the legs would lift and lower it within one."""
    z = 0.0
    n = rig.hip.shape[0]
    for i in range(n):
        z += stature * math.sqrt(max(0.0, rig.stance * rig.stance - rig.spread[i] - pace * pace / 12.0)) - rig.hip[i, 2]
    return z / n


@kernel(inline=True)
def sag(spring, light, surge, rig):
    """Heave, roll and pitch at which springs balance the weight, against how the body stands on all feet.

    `light` (n,) is how much of its load each foot has given up, `surge` how fast the feet carry the body on (m/s²),
    by which it is thrown back.
    """
    lifted = 0.0
    ahead = 0.0
    aside = 0.0
    n = light.shape[0]
    for i in range(n):
        lifted += light[i]
        ahead += rig.hip[i, 0] * light[i]
        aside += rig.hip[i, 1] * light[i]
    give = spring / (n - UNLOADED * lifted)
    thrown = spring * surge / ((GRAVITY + abs(surge)) * rig.unit)  # which no spring lets go farther than it gives
    return -give * lifted, -give * aside / rig.grip[1], give * ahead / rig.grip[0] - thrown


@kernel(inline=True)
def spring_rate(spring, rig):
    """The frequency of a body on legs that give so much (rad/s)."""
    return math.sqrt(GRAVITY / max(spring, STIFFEST * rig.unit))


@kernel(inline=True)
def pulled(place, velocity, wanted, rate, frequency, damping, dt):
    """A damped oscillator after dt, drawn to a place that moves at `rate`; by the trapezoidal rule, which is stable
    however stiff it is and damps nothing by itself."""
    hold = 0.5 * dt * frequency * (2.0 * damping + 0.5 * dt * frequency)
    pull = frequency * frequency * (wanted - place) + 2.0 * damping * frequency * rate
    after = (velocity * (1.0 - hold) + dt * pull) / (1.0 + hold)
    return place + 0.5 * dt * (velocity + after), after


@kernel(inline=True)
def steady_start(place, velocity, count, frequency, damping, dt):
    """The state from which an oscillator comes back to itself after so many steps of its drive, if from rest at 0 it
    comes to the one given: s = Mⁿ·s + p."""
    hold = 0.5 * dt * frequency * (2.0 * damping + 0.5 * dt * frequency)
    c, d = -dt * frequency * frequency / (1.0 + hold), (1.0 - hold) / (1.0 + hold)
    a, b = 1.0 + 0.5 * dt * c, 0.5 * dt * (1.0 + d)
    ra, rb, rc, rd = 1.0, 0.0, 0.0, 1.0
    while count > 0:  # Mⁿ by squaring
        if count % 2 == 1:
            ra, rb, rc, rd = a * ra + b * rc, a * rb + b * rd, c * ra + d * rc, c * rb + d * rd
        a, b, c, d = a * a + b * c, b * (a + d), c * (a + d), c * b + d * d
        count //= 2
    ra, rb, rc, rd = 1.0 - ra, -rb, -rc, 1.0 - rd
    whole = ra * rd - rb * rc
    return (rd * place - rb * velocity) / whole, (ra * velocity - rc * place) / whole
