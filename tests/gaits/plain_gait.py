"""Paper 001's walker as plain, slow Python, written from the formulas: the reference for the compiled code."""

import math

TICKS_PER_SECOND = 240
FEWEST = 120  # ticks in a cycle
G = 9.8
D = 4.0
DAMPING = 0.3  # of the legs as springs
CARRIED, STEADY = 0.8, 0.7  # the body along its way: natural frequency per cycle, damping


def foot_at(time, delay, cycle, pace, amplitude, period, curve):
    """Progress along x, height, whether it is in the air and the part of its time there; times in seconds."""
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
        return pace * (steps + s) + centre, amplitude * h, u
    return pace * (steps + (1 if u > 0.5 else 0)) + centre, 0.0, None


def support_at(feet, walker, sway, lame):
    """Equation 2, heights in halves of a leg."""
    legs = list(walker.legs.items())
    n = len(legs)
    unit = sum(leg.upper + leg.lower for _, leg in legs) / n / 2
    cx = sum(f[0] for f in feet) / n
    cy = sum(f[1] for f in feet) / n
    x = y = 0.0
    for (name, leg), (fx, fy, fz) in zip(legs, feet):
        factor = 1.0 if name == lame else 1 - 1 / (fz / unit + 1)
        x += (fx + sway * (cx - fx) * factor - leg.foot[0]) / n
        y += (fy + sway * (cy - fy) * factor - leg.foot[1]) / n
    return x, y


def paper_height(x, y, feet, walker, stature):
    """Equation 3."""
    z = 0.0
    for leg, (fx, fy, _) in zip(walker.legs.values(), feet):
        d2 = (x + leg.hip[0] - fx) ** 2 + (y + leg.hip[1] - fy) ** 2
        z += (stature * math.sqrt(max(0.0, walker.stance**2 - d2)) - leg.hip[2]) / len(walker.legs)
    return z


def sag_at(genes, walker, swings):
    """Heave, roll and pitch at which the springs of the standing legs balance the weight."""
    legs = list(walker.legs.values())
    n = len(legs)
    length = sum(leg.upper + leg.lower for leg in legs) / n
    light = [0.0 if u is None else (1 - math.cos(2 * math.pi * u)) / 2 for u in swings]
    surge = sum(0.0 if u is None else math.sin(2 * math.pi * u) for u in swings)
    surge *= genes.pace / n * 2 * math.pi / genes.period**2
    give = genes.spring / (n - 0.8 * sum(light))
    ahead = sum(leg.hip[0] ** 2 for leg in legs) / n + (0.2 * length) ** 2
    aside = sum(leg.hip[1] ** 2 for leg in legs) / n + (0.2 * length) ** 2
    return (
        -give * sum(light),
        -give * sum(leg.hip[1] * part for leg, part in zip(legs, light)) / aside,
        give * sum(leg.hip[0] * part for leg, part in zip(legs, light)) / ahead
        - genes.spring * surge / ((G + abs(surge)) * length / 2),
    )


def carried(series, follows, frequency, damping, dt):
    """A damped oscillator driven by a periodic series, in its own periodic motion. One that follows feels also how fast
    the series moves."""

    hold = dt * frequency * damping + (dt * frequency) ** 2 / 4  # the trapezoidal rule

    def laps(place, velocity, drive):
        places = []
        for k, wanted in enumerate(drive):
            rate = (wanted - drive[k - 1]) / dt if follows else 0.0
            pull = frequency**2 * (wanted - place) + 2 * damping * frequency * rate
            after = (velocity * (1 - hold) + dt * pull) / (1 + hold)
            place += dt * (velocity + after) / 2
            velocity = after
            places.append(place)
        return places, velocity

    # It is linear: from rest it comes to p, from (1, 0) and (0, 1) without a drive to the columns of M.
    places, velocity = laps(0.0, 0.0, series)
    still = [0.0] * len(series)
    ((*_, a), c), ((*_, b), d) = laps(1.0, 0.0, still), laps(0.0, 1.0, still)
    whole = (1 - a) * (1 - d) - b * c
    start = ((1 - d) * places[-1] + b * velocity) / whole, (c * places[-1] + (1 - a) * velocity) / whole
    return laps(*start, series)[0]


def turn(roll, pitch, vector):
    """About x by the roll, then about y by the pitch."""
    x, y, z = vector
    y, z = math.cos(roll) * y - math.sin(roll) * z, math.sin(roll) * y + math.cos(roll) * z
    return math.cos(pitch) * x + math.sin(pitch) * z, y, math.cos(pitch) * z - math.sin(pitch) * x


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


def motion(walker, genes, curve, lame=None):
    """One cycle: its tick in seconds, feet, whether they are lifted, and the body as x, y, z, roll, pitch."""
    legs = list(walker.legs.values())
    cycle = (genes.cycle or 1 + max(genes.delays)) * genes.period
    ticks = max(math.ceil(cycle * TICKS_PER_SECOND - 1e-9), FEWEST)
    dt = cycle / ticks
    feet, lifted, wanted = [], [], []
    for tick in range(ticks):
        here, swings = [], []
        for leg, delay in zip(legs, genes.delays):
            x, z, u = foot_at(
                cycle * (tick / ticks), delay * genes.period, cycle, genes.pace, genes.amplitude, genes.period, curve
            )
            here.append((leg.foot[0] + x, leg.foot[1], z))
            swings.append(u)
        feet.append(here)
        lifted.append([u is not None for u in swings])
        x, y = support_at(here, walker, genes.sway, lame)
        if curve == "paper":
            wanted.append((x, y, paper_height(x, y, here, walker, genes.stature), 0.0, 0.0))
        else:
            wanted.append((x - genes.pace * tick / ticks, y, *sag_at(genes, walker, swings)))
    if curve == "paper":
        return dt, feet, lifted, wanted
    length = sum(leg.upper + leg.lower for leg in legs) / len(legs)
    springs = math.sqrt(G / max(genes.spring, 1e-4 * length / 2))
    x, y, z, roll, pitch = zip(*wanted)
    x, y = (carried(series, True, CARRIED * 2 * math.pi / cycle, STEADY, dt) for series in (x, y))
    z, roll, pitch = (carried(series, False, springs, DAMPING, dt) for series in (z, roll, pitch))
    height = 0.0
    for leg in legs:
        spread = (leg.foot[0] - leg.hip[0]) ** 2 + (leg.foot[1] - leg.hip[1]) ** 2 + genes.pace**2 / 12
        height += (genes.stature * math.sqrt(max(0.0, walker.stance**2 - spread)) - leg.hip[2]) / len(legs)
    x = [dev + genes.pace * k / ticks for k, dev in enumerate(x)]
    return dt, feet, lifted, list(zip(x, y, [height + dz for dz in z], roll, pitch))


def energies(walker, genes, curve, lame=None):
    """(torque, legs, body, acceleration) for walking D metres."""
    legs = list(walker.legs.values())
    dt, feet, lifted, bodies = motion(walker, genes, curve, lame)
    unit = sum(leg.upper + leg.lower for leg in legs) / len(legs) / 2
    effort = (1.8 if curve == "smooth" else 1.0) * math.sqrt(unit)
    torque = lift = climb = effort_sum = 0.0
    for k, body in enumerate(bodies):
        old_feet = feet[k - 1]
        # Before the first tick comes the last one, a pace behind.
        old = [c - (genes.pace if k < 1 and i == 0 else 0.0) for i, c in enumerate(bodies[k - 1][:3])]
        oldest = [c - (genes.pace if k < 2 and i == 0 else 0.0) for i, c in enumerate(bodies[k - 2][:3])]
        roll, pitch = body[3:]
        rise = body[2] - old[2]
        distance = [math.dist(f[:2], body[:2]) for f in feet[k]]
        down = [i for i in range(len(legs)) if not lifted[k][i]]
        total = sum(distance[i] for i in down)
        for i, leg in enumerate(legs):
            hip = [b + h for b, h in zip(body, turn(roll, pitch, leg.hip))]
            if lifted[k][i]:
                gain = feet[k][i][2] - old_feet[i][2] - rise
                lift += leg.mass * G * max(0.0, gain) * math.dist(hip, feet[k][i]) / unit
            else:
                share = 1.0 if len(down) == 1 else (1 - distance[i] / total) / (len(down) - 1)
                force = share * walker.body.mass * G
                arm = arm_of(hip, feet[k][i], turn(roll, pitch, leg.pole), leg.upper, leg.lower)
                torque += 0.1 * force * arm * dt / math.sqrt(unit)
        climb += walker.body.mass * G * max(0.0, rise)
        change = [(c - b) / dt - (b - a) / dt for a, b, c in zip(oldest, old, body)]
        effort_sum += effort * walker.body.mass * math.sqrt(sum(c * c for c in change))
    return tuple(D / genes.pace * term for term in (torque, lift, climb, effort_sum))
