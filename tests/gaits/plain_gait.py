"""Paper 001's walker as plain, slow Python, written from the formulas: the reference for the compiled code."""

import math

TICKS_PER_SECOND = 240
G = 9.8
D = 4.0


def foot_at(time, delay, cycle, pace, amplitude, period, curve):
    """Progress along x, height, and whether it is in the air; times in seconds."""
    elapsed = time - delay
    steps = math.floor(elapsed / cycle)
    u = (elapsed - steps * cycle) / period
    mean = 0.5 if curve == "smooth" else 1 / 3
    centre = pace * (delay / cycle - 0.5 + (1 - mean) * period / cycle)
    if 1e-12 < u < 1 - 1e-12:
        if curve == "smooth":
            s, h = u - math.sin(2 * math.pi * u) / (2 * math.pi), (1 - math.cos(2 * math.pi * u)) / 2
        else:
            s, h = u**2, math.sin(math.pi * u)
        return pace * (steps + s) + centre, amplitude * h, True
    return pace * (steps + (1 if u > 0.5 else 0)) + centre, 0.0, False


def body_at(feet, walker, sway, stature, lame):
    legs = list(walker.legs.items())
    n = len(legs)
    cx = sum(f[0] for f in feet) / n
    cy = sum(f[1] for f in feet) / n
    x = y = 0.0
    for (name, leg), (fx, fy, fz) in zip(legs, feet):
        factor = 1.0 if name == lame else 1 - 1 / (fz + 1)
        x += (fx + sway * (cx - fx) * factor - leg.foot[0]) / n
        y += (fy + sway * (cy - fy) * factor - leg.foot[1]) / n
    z = 0.0
    for (_, leg), (fx, fy, _) in zip(legs, feet):
        d2 = (x + leg.hip[0] - fx) ** 2 + (y + leg.hip[1] - fy) ** 2
        z += (stature * math.sqrt(max(0.0, walker.stance**2 - d2)) - leg.hip[2]) / n
    return x, y, z


def arm_of(hip, foot, pole, upper, lower):
    """The horizontal lengths of both segments, the knee on the pole's side."""
    line = [f - h for f, h in zip(foot, hip)]
    d = math.dist(foot, hip)
    e = [c / d for c in line]
    a = (upper**2 - lower**2 + d * d) / (2 * d)
    b = math.sqrt(max(0.0, upper**2 - a * a))
    along = sum(p * c for p, c in zip(pole, e))
    side = [p - along * c for p, c in zip(pole, e)]
    size = math.sqrt(sum(c * c for c in side))
    knee = [h + a * c + b * s / size for h, c, s in zip(hip, e, side)]
    return math.dist(knee[:2], hip[:2]) + math.dist(knee[:2], foot[:2])


def energies(walker, genes, curve, lame=None):
    """(torque, legs, body, acceleration) for walking D metres."""
    legs = list(walker.legs.items())
    cycle = (genes.cycle or 1 + max(genes.delays)) * genes.period
    ticks = math.ceil(cycle * TICKS_PER_SECOND - 1e-9)
    dt = cycle / ticks
    effort = 1.8 if curve == "smooth" else 1.0

    def pose(tick):
        feet, lifted = [], []
        for (_, leg), delay in zip(legs, genes.delays):
            x, z, up = foot_at(
                cycle * (tick / ticks), delay * genes.period, cycle, genes.pace, genes.amplitude, genes.period, curve
            )
            feet.append((leg.foot[0] + x, leg.foot[1], z))
            lifted.append(up)
        return feet, lifted, body_at(feet, walker, genes.sway, genes.stature, lame)

    poses = [pose(tick) for tick in range(-2, ticks)]
    torque = lift = climb = effort_sum = 0.0
    for (_, _, oldest), (old_feet, _, old), (feet, lifted, body) in zip(poses, poses[1:], poses[2:]):
        rise = body[2] - old[2]
        distance = [math.dist(f[:2], body[:2]) for f in feet]
        down = [i for i in range(len(legs)) if not lifted[i]]
        total = sum(distance[i] for i in down)
        for i, (_, leg) in enumerate(legs):
            hip = [b + h for b, h in zip(body, leg.hip)]
            if lifted[i]:
                gain = feet[i][2] - old_feet[i][2] - rise
                lift += leg.mass * G * max(0.0, gain) * math.dist(hip, feet[i])
            else:
                share = 1.0 if len(down) == 1 else (1 - distance[i] / total) / (len(down) - 1)
                force = share * walker.body.mass * G
                torque += 0.1 * force * arm_of(hip, feet[i], leg.pole, leg.upper, leg.lower) * dt
        climb += walker.body.mass * G * max(0.0, rise)
        change = [(c - b) / dt - (b - a) / dt for a, b, c in zip(oldest, old, body)]
        effort_sum += effort * walker.body.mass * math.sqrt(sum(c * c for c in change))
    return tuple(D / genes.pace * term for term in (torque, lift, climb, effort_sum))
