"""Sine and cosine that vectorise: libm's cannot be called for eight trials at once."""

from impel.kernel import kernel

_TO_EVEN = 6755399441055744.0  # 1.5·2^52: adding and subtracting it rounds to the nearest whole number


@kernel(inline=True)
def cosine_sine(angle):
    """To within 2e-16 for the few turns a figure makes.

    Polynomials of least error on ±π/4 (those of fdlibm, below 2^-58), after removing quarter turns with π/2 in two
    parts (Cody and Waite); no branches.
    """
    quarters = angle * 0.6366197723675814 + _TO_EVEN - _TO_EVEN
    x = angle - quarters * 1.5707963267948966
    x = x - quarters * 6.123233995736766e-17
    y = x * x
    sine = 1.58969099521155010221e-10 * y - 2.50507602534068634195e-08
    sine = sine * y + 2.75573137070700676789e-06
    sine = sine * y - 1.98412698298579493134e-04
    sine = sine * y + 8.33333333332248946124e-03
    sine = sine * y - 1.66666666666666324348e-01
    sine = x + x * y * sine
    cosine = -1.13596475577881948265e-11 * y + 2.08757232129817482790e-09
    cosine = cosine * y - 2.75573143513906633035e-07
    cosine = cosine * y + 2.48015872894767294178e-05
    cosine = cosine * y - 1.38888888888741095749e-03
    cosine = cosine * y + 4.16666666666666019037e-02
    cosine = 1.0 - 0.5 * y + y * y * cosine
    # Which quarter: 0, 1/4, ±1/2 or -1/4 of a turn. Its own cosine and sine are whole numbers, so turning is exact.
    turn = quarters * 0.25
    turn = turn - (turn + _TO_EVEN - _TO_EVEN)
    away = abs(turn)
    along = 1.0 - 4.0 * away
    across = 8.0 * turn * (1.0 - 2.0 * away)
    return cosine * along - sine * across, sine * along + cosine * across
