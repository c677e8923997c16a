"""Walkers with a mood: an energy budget decides how a creature walks (paper 001).

from impel.gaits.evolve import evolve
from impel.gaits.mood import load_moods
from impel.gaits.record import as_take
from impel.gaits.walk import walk, walk_gait
from impel.gaits.walker import load_walker
from impel.gaits.wishes import Wishes

limp = evolve(load_walker("creature"), Wishes(energy=100, lame="rear_right"), generations=3, population=200)
take = as_take(walk_gait(limp.gait, path=[(0, 0), (4, 0)]))

slider = load_moods("biped")  # from exhausted (0) to exuberant (100)
take = as_take(walk(slider, mood=[(0, 10), (4, 90)], path=[(0, 0), (3, 0), (5, 2)]))
"""
