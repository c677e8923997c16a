"""`make fuzz`: new random scenes each time, with the seeds printed.

Give a first seed, and how many, to see them again; `--actors` gives some bodies wishes.
"""

import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from judging import APART, closest, judge
from scenes import random_scene


def main():
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    actors = "--actors" in sys.argv
    first = numbers[0] if numbers else secrets.randbelow(10**9)
    count = numbers[1] if len(numbers) > 1 else 1 if numbers else 200
    print(f"seeds {first} to {first + count - 1}{', with actors' if actors else ''}", flush=True)
    faults, refused, apart = [], [], []
    judge(0, random_scene(0, actors=actors, seconds=0.05))  # compiles, which is not to be counted
    for seed in range(first, first + count):
        scene = random_scene(seed, actors=actors)
        found = judge(seed, scene)
        if found.faults():
            faults.append(seed)
            print(f"seed {seed}: {'; '.join(found.faults())}", flush=True)
        if found.told:
            apart.append(seed)
            print(f"seed {seed}: apart by {found.apart:.2g}, and says so", flush=True)
        if found.refused:
            refused.append(seed)
            gap = closest(scene, found.refused.rpartition("joints.")[2])
            print(f"seed {seed}: refused; scipy comes to {gap:.2g}{'' if gap > APART else ': WRONGLY'}", flush=True)
            if gap <= APART:
                faults.append(seed)
    print(f"{count} scenes: {len(faults)} with faults, {len(apart)} apart, {len(refused)} refused")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
