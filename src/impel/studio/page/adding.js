// What something new in a scene begins with, and which names a field can hold.

import { goals_of } from "./timeline.js";

const WALKERS = ["creature", "biped", "hexapod"]; // that come with impel
const STEPS = 10; // of a walker that an appointment can be picked with
const SHOVE = { force: [20, 0, 0], seconds: 0.3 }; // of a new push
export const KINDS = ["sphere", "box", "capsule", "cylinder", "plane", "blob", "mesh", "convex", "compound"];
const tidy = (x) => Number(x.toFixed(3));
const beyond = ([x, y, z], by = 1) => [tidy(x + by), y, z];

// A shape of another kind, as large as the one before.
export function shape_of(kind, before = {}, files = []) {
  const [x, y, z] = size_of(before).map(tidy), thin = Math.min(x, y) / 2;
  return {
    sphere: tidy((x + y + z) / 6), box: [x, y, z], capsule: { radius: thin, length: tidy(Math.max(z - 2 * thin, thin)) }, cylinder: { radius: thin, length: z }, plane: {},
    blob: { points: [{ at: [0, 0, 0], radius: thin }, { at: [0, 0, tidy(0.7 * z)], radius: tidy(0.6 * thin) }], blend: tidy(0.3 * thin) },
    compound: [{ box: [x, y, tidy(z / 2)] }, { sphere: tidy(thin / 2), at: [0, 0, tidy(z / 4 + thin / 2)] }],
    mesh: files.length ? { file: files[0] } : undefined, convex: files.length ? { file: files[0] } : undefined,
  }[kind];
}

// How large a shape is along x, y and z, roughly.
function size_of({ sphere, box, capsule, cylinder }) {
  if (typeof sphere === "number") return [2 * sphere, 2 * sphere, 2 * sphere];
  if (box) return box;
  const { radius, length } = capsule ?? cylinder ?? { radius: 0.2, length: 0.4 };
  return [2 * radius, 2 * radius, length + (capsule ? 2 * radius : 0)];
}

// A joint of another kind: without what that cannot have, and with what it needs. ties: what each kind needs, and may have.
export function joint_as(kind, before, ties) {
  const begin = { at: [0, 0, 0], axis: [0, 1, 0], segment: [[0, 0, 0], [1, 0, 0]], curve: [[0, 0, 0], [0.5, 0, 0.2], [1, 0, 0]], radius: 0.5 }, { needed, allowed } = ties[kind];
  const may = (field) => (field === "axis" ? before.cone ?? before.twist : allowed.includes(field)); // what a ball leans from
  const kept = Object.entries(before).filter(([field]) => field === kind || needed.includes(field) || may(field));
  return { ...Object.fromEntries(kept), ...Object.fromEntries(needed.filter((field) => before[field] === undefined).map((field) => [field, begin[field]])) };
}

export function new_name(stem, taken) {
  let k = 1;
  while (taken?.[`${stem}${k}`] !== undefined) k += 1;
  return `${stem}${k}`;
}

export const moves = ({ fixed, follows }) => !fixed && !follows;
export const free_bodies = (data) => Object.keys(data?.bodies ?? {}).filter((name) => moves(data.bodies[name]));
export const a_body = (kind, at, size, files) => ({ shape: { [kind]: shape_of(kind, { box: [size, size, size] }, files) }, ...(kind === "plane" ? { fixed: true } : { mass: 1, at }) });
export const a_move = (place = [0, 0, 0], by) => ({ keys: [place, beyond(place, by)] });
export const a_push = (body, seconds) => ({ body, from: tidy(seconds), until: tidy(seconds + SHOVE.seconds), force: SHOVE.force });

// What a field that is not there can begin with.
export function start_of(path, data) {
  const [group, name] = path, field = path.at(-1), { at = [0, 0, 0], euler = [0, 0, 0] } = data.bodies?.[name] ?? {};
  if (group === "actors" && path.length === 3) {
    return { move: a_move(at), turn: { keys: [{ euler }, { euler: [euler[0], euler[1], euler[2] + 45] }] }, goals: [{ time: 1, at: beyond(at), hold: true }] }[field];
  }
  if (group === "bodies" && path.length === 3) return { coating: {}, follows: [{ time: 0, at }, { time: 1, at: beyond(at) }] }[field];
  if (group === "joints" && path.length === 3) return { spring: { stiffness: 0.5, damping: 0.05 }, limits: [-45, 45] }[field];
  if (path.at(-2) === "blob") return { points: [{ at: [0, 0, 0], radius: 0.1 }], segments: [{ from: [0, 0, 0], to: [0, 0, 0.3], radius: 0.06 }], curves: [{ points: [[0, 0, 0], [0.2, 0, 0.1], [0.3, 0, 0.3]], radius: 0.04 }] }[field];
  return undefined;
}

// The moments that an appointment can be made of.
export function cues_of(data) {
  const keys = Object.entries(data?.actors ?? {}).flatMap(([actor, wishes]) => ["move", "turn"].flatMap((kind) => (wishes[kind]?.keys ?? []).map((_, k) => `${actor}.${kind}.${k}`)));
  const goals = goals_of(data).map(({ actor, number }) => `${actor}.goals.${number}`);
  const steps = Object.keys(data?.walkers ?? {}).flatMap((walker) => Array.from({ length: STEPS }, (_, k) => `${walker}.step.${k}`));
  return [...keys, ...goals, ...steps];
}

// The last moments of two of those who act.
export function an_appointment(data) {
  const last = new Map(cues_of(data).map((cue) => [cue.split(".")[0], cue]));
  return { cues: [...last.values()].slice(0, 2) };
}

// The cuts with one more, from a moment on; what was the only camera comes first.
export function with_cut(data, seconds, seen) {
  const before = data.camera ? [{ time: 0, ...data.camera }] : data.cameras ?? [], time = tidy(seconds);
  return [...before.filter((cut) => cut.time !== time), { time, ...seen }].sort((a, b) => a.time - b.time);
}

// The names that a field can hold, if there are only so many.
export function names_for(path, data, take, files) {
  const words = path.filter((part) => typeof part === "string"), [group, own] = words, field = words.at(-1), bodies = Object.keys(data?.bodies ?? {});
  const others = (all) => all.filter((name) => name !== own);
  if (group === "joints" && words.length === 3 && typeof path.at(-1) === "number") return ["world", ...bodies];
  if (group === "actors" && field === "in") return others(take?.names ?? bodies);
  if (group === "actors" && field === "against") return ["world", ...others(bodies)];
  if (field === "follow") return [...bodies, ...Object.keys(data?.walkers ?? {})].filter((name) => !data.bodies?.[name]?.shape?.plane);
  if (group === "pushes" && field === "body") return free_bodies(data);
  if (field === "cues") return cues_of(data);
  if (field === "after") return others(Object.keys(data.appointments));
  if (group === "walkers" && field === "walker") return WALKERS;
  if (group === "bodies" && ["mesh", "convex", "file"].includes(field)) return files;
  return undefined;
}
