"""The script: what clocks and appointments cost, and how well meetings are kept, by clocks and as published.

    python benchmarks/script.py [MEETINGS]

Costs are CPU time per step of the bird's control, against MuJoCo's step of an equal bird in the same run. Meetings are
random: 2 to 10 actors that move or turn, with and without times, one of whom is held up for a while.
"""

import sys

from _bars import end, meet

from control import Flight
from impel.control.appointments import Agreed, Cue
from impel.gallery.meetings import Rule, hold_meeting, ideal_duration, percentile, random_meeting, spread

ROUNDS = 8
FOR_EVER = 1e6  # s a lap: nobody comes to its cue
TWO, FOUR = Agreed(cues=[Cue(0, 6), Cue(1, 1)]), Agreed(cues=[Cue(0, 6), Cue(1, 1), Cue(2, 1), Cue(3, 1)])


def costs() -> None:
    flight = Flight()
    kinds = {
        "as it comes": {},
        "move by the clock": {"timed": ["move"]},
        "turns by the clock": {"timed": ["turn"]},
        "all by the clock": {"timed": ["move", "turn"], "lap": FOR_EVER},
        "two together": {"timed": ["move", "turn"], "lap": FOR_EVER, "agreed": [TWO]},
        "four together": {"timed": ["move", "turn"], "lap": FOR_EVER, "agreed": [FOUR]},
    }
    rounds = [{"mujoco": flight.mujoco()} | {n: flight.control(**k) for n, k in kinds.items()} for _ in range(ROUNDS)]
    least = {name: min(each[name] for each in rounds) for name in rounds[0]}
    step, plain = least["mujoco"], least["as it comes"]
    print(f"MuJoCo's step of the bird {step:.3f} µs; our control of it {plain:.3f} µs")
    move = 100 * (least["move by the clock"] - plain) / step
    turn = 100 * (least["turns by the clock"] - plain) / 3 / step
    two, four = (100 * (least[f"{n} together"] - least["all by the clock"]) / step for n in ("two", "four"))
    print(f"the clock of a move        {move:6.2f} % of that step (at most 3 %)")
    print(f"the clock of a turn        {turn:6.2f} % (at most 22 %)")
    print(f"an appointment of two      {two:6.2f} % (at most 2 %)")
    print(f"an appointment of four     {four:6.2f} %")
    meet("the clock of a move, %", move, at_most=3)
    meet("the clock of a turn, %", turn, at_most=22)
    meet("an appointment of two, %", two, at_most=2)


def row(count: int, title: str, rule: Rule, *, timed: bool, rough: bool, bars: bool) -> None:
    targets, objects, durations, late = [], [], [], 0
    for seed in range(count):
        meeting = random_meeting(seed, timed=timed, rough=rough)
        met = hold_meeting(meeting, rule)
        ideal = ideal_duration(meeting, met)
        late += met.duration == float("inf")
        targets.append((spread(met.targets) - meeting.step) / ideal)
        objects.append((spread(met.objects) - 2 * meeting.step) / ideal)
        durations.append(met.duration / ideal)
    figures = [percentile(targets, 95), percentile(objects, 95), percentile(durations, 50), percentile(durations, 95)]
    told = "".join(f"{figure:12.4f}" for figure in figures)
    print(f"{title:34}{late:9d}{told}", flush=True)
    if bars:
        meet(f"{title}: targets beyond one step, of the duration", figures[0], at_most=0.0005)
        if not rough:
            meet(f"{title}: objects beyond two steps, of the duration", figures[1], at_most=0.001)
        meet(f"{title}: duration over ideal, median", figures[2], at_most=1.02)
        meet(f"{title}: duration over ideal, p95", figures[3], at_most=1.15)


def main() -> None:
    costs()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(
        f"\n{count} random meetings: by how much the spread of targets and objects exceeds one and two steps, over the"
    )
    print("duration; and the duration over the shortest possible")
    print(f"{'':34}{'unfinished':>9}{'targets 95':>12}{'objects 95':>12}{'median':>12}{'95 %':>12}")
    row(count, "clocks", "clocks", timed=True, rough=False, bars=True)
    row(count, "clocks, pushed, held twice", "clocks", timed=True, rough=True, bars=True)
    row(count, "clocks, no times", "clocks", timed=False, rough=False, bars=False)
    row(count, "paper, no times", "paper", timed=False, rough=False, bars=False)
    row(count, "none", "none", timed=True, rough=False, bars=False)
    end()


if __name__ == "__main__":
    main()
