"""`make fuzz`: new random scenes each time, with the seeds printed.

Every second one is passive; the others have actors, and joints with all they can have. Then structures with actors, a
fifth as many. Give a first seed, and how many, to see them again.
"""

import secrets
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from judging import APART, closest, judge
from scenes import random_scene
from structures import behaviour, random_structure


def main():
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    first = numbers[0] if numbers else secrets.randbelow(10**9)
    count = numbers[1] if len(numbers) > 1 else 1 if numbers else 200
    print(f"seeds {first} to {first + count - 1}", flush=True)
    faults, refused, apart = [], [], []
    judge(1, random_scene(1, seconds=0.05))  # compiles, which is not to be counted
    for seed in range(first, first + count):
        scene = random_scene(seed)
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
    for seed in range(first, first + count // 5):
        found = behaviour(seed, random_structure(seed))
        if found.faults():
            faults.append(seed)
            print(f"structure {seed}: {'; '.join(found.faults())}", flush=True)
    print(f"{count} scenes and {count // 5} structures:", end=" ")
    print(f"{len(faults)} with faults, {len(apart)} apart, {len(refused)} refused")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
