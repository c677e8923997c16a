"""Soft bodies pressed together by hand, and what can be measured of their surfaces."""

import numpy as np

from impel.geometry.kinds import INNER, solid
from impel.geometry.shapes import make_extents, make_shapes
from impel.geometry.skins import make_skin
from impel.motion.orientations import matrix_from_quaternion, multiply_quaternions
from impel.physics.coating import Coating, make_tables
from impel.physics.covers import SEEN, cover_of, drawn_of
from impel.physics.skin_contacts import Touch
from impel.physics.skin_frames import field_at, squash_frames

UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def coating(stiffness):
    """Of a stiffness: a number, infinite for what is rigid, or a curve ((depth, stiffness), ...)."""
    return Coating(stiffness[0][1], 0.1, curve=stiffness) if isinstance(stiffness, tuple) else Coating(stiffness, 0.1)


class Pressed:
    """Bodies (shape, stiffness, place, orientation) at one moment."""

    def __init__(self, *bodies, bulge=0.4):
        self.shapes = [shape for shape, *_ in bodies]
        self.coatings = [coating(stiffness) for _, stiffness, *_ in bodies]
        arrays = make_shapes(self.shapes)
        turned = np.array([orientation for *_, orientation in bodies], float)
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        solids = [solid(shape) for shape in self.shapes]
        offset = np.array([matrix_from_quaternion(q) @ whole.offset for q, whole in zip(turned, solids)])
        self.position = np.array([at for _, _, at, _ in bodies], float) + offset
        self.orientation = multiply_quaternions(turned, np.array([whole.rotation for whole in solids]))
        self.solids = solids
        self.touch = Touch(
            shapes=arrays,
            extent=make_extents(arrays),
            softness=np.array([1.0 / own.stiffness for own in self.coatings]),
            tables=make_tables(self.coatings),
            varies=np.array([len(own.curve) > 0 for own in self.coatings], np.int64),
            bulge=np.full(len(bodies), bulge),
            position=self.position[None].copy(),
            orientation=self.orientation[None].copy(),
        )

    def squash(self, a):
        """The surface of a soft body."""
        n = len(self.shapes)
        meets = np.ones((n, n), bool)
        whole = self.solids[a]
        made = cover_of(self.touch, a, self.shapes[a], whole.offset, whole.rotation, [(0, 1, meets)])
        if made is None:
            return None
        cover = made[1].cover
        rows = len(cover.vertex)
        index, shift, normal = (
            np.zeros(rows, np.uint32),
            np.zeros((rows, 3), np.float32),
            np.zeros((rows, 3), np.uint16),
        )
        first, depth = np.zeros(2, np.int64), np.zeros(1)
        drawn = drawn_of(cover, np.array(UPRIGHT))
        squash_frames(self.touch, cover, drawn, a, 0, 1, meets, 0.0, first, index, shift, normal, depth)
        if depth[0] < SEEN * cover.size:
            return None  # as in a take
        return Squashed(self, a, cover, depth[0])

    def distance(self, b, points):
        """How far points of the world are from the surface of a body, and which way leads out of it."""
        turn = matrix_from_quaternion(self.orientation[b])
        value, gradient = np.empty(len(points)), np.empty((len(points), 3))
        field_at(self.touch.shapes, b, np.ascontiguousarray((points - self.position[b]) @ turn), value, gradient)
        return value, gradient @ turn.T

    def pressure(self, i, depth):
        """In the coating of a body, as a plain sum; above the surface it goes on as it begins."""
        own = self.coatings[i]
        curve = np.array(own.curve or ((0.0, own.stiffness),))
        depths = np.concatenate([[0.0], curve[:, 0], [1e3]])
        stiffness = np.concatenate([curve[:1, 1], curve[:, 1], curve[-1:, 1]])
        keep = np.append(True, np.diff(depths) > 0)
        depths, stiffness = depths[keep], stiffness[keep]
        until = np.append(0.0, np.cumsum(np.diff(depths) * (stiffness[1:] + stiffness[:-1]) / 2))
        row = np.clip(np.searchsorted(depths, depth, side="right") - 1, 0, len(depths) - 2)
        here = np.interp(depth, depths, stiffness)
        inside = until[row] + (depth - depths[row]) * (stiffness[row] + here) / 2
        return np.where(depth < 0, depth * curve[0, 1], inside), here

    def beyond(self, a, b, points):
        """How far points are beyond the surface that the coatings of a and b share, seen from a, in metres."""
        away_a, away_b = self.distance(a, points)[0], self.distance(b, points)[0]
        if np.isinf(self.coatings[b].stiffness):
            return -away_b
        (press_a, stiff_a), (press_b, stiff_b) = self.pressure(a, -away_a), self.pressure(b, -away_b)
        return (press_b - press_a) / (stiff_a + stiff_b)


class Squashed:
    """A skin that was pressed, in the world."""

    def __init__(self, world, a, cover, depth):
        self.world, self.a, self.depth, self.size = world, a, depth, cover.size
        turn = matrix_from_quaternion(world.orientation[a])
        self.rest, self.there = (at @ turn.T + world.position[a] for at in (cover.at, cover.place))
        self.triangles, self.corners = cover.triangles, cover.corners
        self.normals = np.where(cover.turns[:, None] > 0, cover.around, cover.drawn) @ turn.T
        self.vertex = cover.vertex

    def others(self):
        return [b for b in range(len(self.world.shapes)) if b != self.a]

    def in_contact(self, b):
        """Vertices that were inside another body, or have come to lie against it."""
        return (self.world.distance(b, self.rest)[0] < 0) | (
            np.abs(self.world.beyond(self.a, b, self.there)) < 1e-9 * self.size
        )

    def mismatch(self):
        """How far vertices in contact are from the shared surface, in metres; where others press too, only beyond."""
        worst = 0.0
        for b in self.others():
            alone = (
                np.all([~self.in_contact(c) for c in self.others() if c != b], axis=0)
                if len(self.others()) > 1
                else True
            )
            touching = self.in_contact(b) & alone
            if touching.any():
                worst = max(worst, np.abs(self.world.beyond(self.a, b, self.there[touching])).max())
        return worst

    def most_beyond(self):
        """By how much any vertex is beyond a shared surface."""
        return max(self.world.beyond(self.a, b, self.there).max() for b in self.others())

    def volume(self):
        """Over that at rest."""
        return volume(self.there, self.triangles) / volume(self.rest, self.triangles)

    def flips(self):
        """Triangles that are turned over: on a contact they look out of the other body, elsewhere into it or as at
        rest. At creases, where corners face quite different ways, nobody can tell."""
        across = facing(self.there, self.triangles)
        by = self.normals[self.corners]
        level = np.min([np.einsum("ij,ij->i", by[:, k], by[:, (k + 1) % 3]) for k in range(3)], axis=0) > 0.5
        return int(np.sum(level & (np.einsum("ij,ij->i", across, by.sum(axis=1)) < 0)))

    def off_surface(self, samples=4):
        """How far points of triangles in contact are from the shared surface, in metres."""
        weights = np.random.default_rng(0).dirichlet([1, 1, 1], samples)
        worst = 0.0
        for b in self.others():
            chosen = self.triangles[self.in_contact(b)[self.triangles].all(axis=1)]
            if len(chosen):
                points = np.einsum("sk,tkd->tsd", weights, self.there[chosen]).reshape(-1, 3)
                worst = max(worst, np.abs(self.world.beyond(self.a, b, points)).max())
        return worst


def volume(vertices, triangles):
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij", a, np.cross(b, c))) / 6


def facing(vertices, triangles):
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def brought_together(shape_a, stiff_a, shape_b, stiff_b, depth, turn_b=UPRIGHT, way=(0.0, 0.0, 1.0)):
    """Two bodies, the second moved along a way until it is so deep in the first, as a share of the thinner one's half
    thickness."""
    way = np.array(way) / np.linalg.norm(way)

    def at(distance):
        return Pressed((shape_a, stiff_a, (0, 0, 0), UPRIGHT), (shape_b, stiff_b, distance * way, turn_b))

    world = at(0.0)
    points = skin_points(world, 0)
    inner = min(world.touch.extent[i, INNER] for i in (0, 1))
    low, high = 0.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        deep = -world.distance(1, points - middle * way)[0].min()
        low, high = (middle, high) if deep > depth * inner else (low, middle)
    return at((low + high) / 2)


def skin_points(world, a):
    """Points all over a body's surface, in its shape's frame."""
    return make_skin(world.shapes[a], float(world.touch.extent[a, INNER])).vertices
