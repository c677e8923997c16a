// Puts the parts of the page together: what is told goes to those who show it, what is done goes to the server.

import { make, get } from "./make.js";
import { Link, Newest } from "./link.js";
import { Take } from "./take.js";
import { Viewport } from "./viewport.js";
import { Inspector, at } from "./inspector.js";
import { Timeline, goals_of } from "./timeline.js";
import { Plots } from "./plots.js";
import { Toys } from "./toys.js";
import { offering } from "./menu.js";
import { KINDS as SHAPES, a_body, a_move, a_push, an_appointment, cues_of, free_bodies, joint_as, names_for, new_name, shape_of, start_of, with_cut } from "./adding.js";

const PATIENCE = 150; // ms that the old picture stays while the new take has not come to this moment
const SLOW = 500; // ms after which one is told what is waited for
const THROWN = 10; // m/s, about, of a ball
const HINT = 6000; // ms that something to know is shown
let gestures = Date.now();

const state = {
  data: null, looks: {}, forms: [], take: null, frame: 0, playing: false, loop: true, selection: null, live: false, opened: false, owed: 0,
  connected: false, clocked: 0,
};
window.studio = state; // for whoever looks from outside, such as tests

// What comes from the server

const link = new Link({
  told(message) { tell[message.tell]?.(message); },
  rows(buffer) {
    if (!state.take?.add(buffer) || !draws_anew(state.take)) { // nothing of it is looked at now
      link.acknowledge();
      later("computed", () => timeline.draw());
      return;
    }
    state.owed += 1;
    state.fresh = true;
    if (state.shown?.run !== state.take.run) draw(performance.now()); // a new take's first picture does not wait
    wake();
  },
  found() { state.connected = true; notice(null, "connection"); },
  lost() { state.connected = false; state.owed = 0; notice("The connection to impel was lost; unsaved changes are kept beside the file.", "connection"); },
});

const tell = {
  welcome({ schema, examples, root, ties }) {
    Object.assign(state, { schema, examples, root, ties });
    inspector.schema = schema;
  },
  document(message) {
    if (state.opened !== message.opened || state.name !== message.name || state.file !== message.file) find_forms();
    head(message);
    state.data = message.data;
    state.opened = message.opened;
    lay_out();
    if (!get("text").hidden) fetch_text();
    else if (message.problems.length) show_tab("text"); // there it is mended
    if (!state.opened) open_gallery();
  },
  edited(message) {
    const { path, value } = message, alike = same_kind(at(state.data, path), value);
    put(state.data, path, value);
    state.due = message.run;
    later("head", () => head(message));
    place_keys();
    if (alike) later("fields", () => { inspector.refresh(state.data); show_time(); });
    else lay_out();
    if (!get("text").hidden) later("text", fetch_text);
  },
  run(message) {
    const before = state.take, first = before === null || state.framed !== state.name;
    state.take = new Take(message, before);
    if (before === null && !message.live && !state.began && performance.getEntriesByType("navigation")[0].type !== "reload") play(true); // a scene is opened to be seen
    state.began = true;
    state.asked_at = performance.now();
    state.due = message.run;
    state.live = message.live;
    state.events_shown = false;
    if (message.live) state.playing = false;
    else state.frame = Math.min(state.frame, state.take.frames - 1); // it may be shorter
    if (state.toy && !message.toy) { state.toy = null; follow(undefined); lay_out(); show_fields(); }
    state.look = first || before?.toy !== message.toy;
    const slow = setTimeout(() => notice("Making the shapes …", "shapes"), SLOW);
    view.cast(state.take, state.looks).finally(() => { clearTimeout(slow); notice(null, "shapes"); }).then(() => {
      if (message.toy && view.take?.toy && !before?.toy) follow(view.solid()); // it runs off
      show_keys(); state.fresh = true; wake(); later("dots", color_dots);
    });
    later("run", () => {
      show_time();
      for (const line of message.doubts) notice(line, "doubt");
      if (!message.doubts.length) notice(null, "doubt");
    });
    live_buttons();
    attach();
  },
  story({ run, problems, events, remarks, channels, frames }) {
    if (state.take?.run !== run) {
      if (problems.length) notice(problems.join(" · "), "problem");
      return;
    }
    Object.assign(state.take, { events, remarks, channels, frames, ended: true });
    if (state.live) { state.live = false; live_buttons(); attach(); }
    if (state.look || view.flashes_at(Math.floor(state.frame)).length || state.shown?.run !== run) { state.fresh = true; wake(); }
    const take = state.take;
    later("story", () => {
      if (take !== state.take) return;
      notice(problems.length ? problems.join(" · ") : null, "problem");
      get("remarks").replaceChildren(make("ul", {}, ...(remarks.length ? remarks : ["Everything went as wished."]).map((line) => make("li", { textContent: line }))));
      get("tab-remarks").textContent = remarks.length ? `Remarks (${remarks.length})` : "Remarks";
      show_time();
      plots.tell(take);
    });
  },
  soft({ run, bodies }) { if (state.take?.run === run) view.soften(state.take, bodies).then(() => { state.skins = view.skins; wake(); }); },
  search(message) { toys.searched(message); },
  palette(message) { toys.palette(message); },
  toy(message) {
    const other = state.toy !== message.figure;
    show_tab("inspector");
    if (other || !get("toy-plots")) toys.show(message, get("inspector"));
    toys.tell(message);
    if (other) { state.framed = null; play(true); }
    state.toy = message.figure;
  },
  plot(message) { toys.plot(message); },
  notice({ line, ask }) {
    notice(line, ask ?? "told", ask === "file" ? ["Take the file's", "Keep mine"] : null);
    if (ask === "file") state.contested = true;
  },
};

function head({ name, file, dirty, undo, redo, problems, looks }) {
  Object.assign(state, { name, file, looks });
  get("name").textContent = file ?? `${name} (not saved yet)`;
  get("dirty").hidden = !dirty;
  get("undo").disabled = undo === 0;
  get("redo").disabled = redo === 0;
  document.title = `${dirty ? "● " : ""}${name}: impel studio`;
  get("problems").replaceChildren(...problems.map((line) => make("li", { textContent: line })));
  notice(problems.length && get("text").hidden ? problems[0] : null, "text");
  if (JSON.stringify(looks) !== state.dressed) { state.dressed = JSON.stringify(looks); view.dress(looks); wake(); }
}

function put(data, path, value) {
  let here = data;
  path.slice(0, -1).forEach((part, k) => { here = here[part] ??= typeof path[k + 1] === "number" ? [] : {}; });
  if (value === null || value === undefined) Array.isArray(here) ? here.splice(path.at(-1), 1) : delete here[path.at(-1)];
  else here[path.at(-1)] = value;
}

const same_kind = (a, b) => (Array.isArray(a) ? Array.isArray(b) && a.length === b.length && a.every((x, k) => same_kind(x, b[k])) : a !== null && typeof a !== "object" && typeof a === typeof b);

// What can wait until the next picture: it would hold that up, for the page is painted as a whole.
const waiting = new Map();
let catching_up;
function later(name, work) {
  waiting.delete(name);
  waiting.set(name, work);
  catching_up ??= setTimeout(catch_up, state.due > (state.shown?.run ?? 0) ? PATIENCE : 30);
}
function catch_up() {
  clearTimeout(catching_up);
  catching_up = undefined;
  const works = [...waiting.values()];
  waiting.clear();
  for (const work of works) work();
}

// Until a run, or a later one, is seen; not for ever.
const seen = (run) => new Promise((done) => { state.shown?.run >= run || state.live ? done() : watchers.push({ run, done }); setTimeout(done, 2 * PATIENCE); });
let watchers = [];

// What is done

const complain = (lines) => notice(lines.join(" · "), "problem");
function ask(command, fields) {
  send_held();
  const answer = link.ask(command, fields);
  answer.catch(complain);
  return answer;
}

// While it is played live, what can be changed in place is; else the scene changes, and is simulated again.
// Of a gesture the newest value is held until the one before it is seen: so a slider that is drawn without a stop shows
// one motion after the other.
let under_way = null, held = null;
const change = new Newest((field, value) => link.ask("change", { field, value }).then(acted, complain));
function edit(path, value, gesture = null) {
  if (state.live && value !== undefined) { change.wish(path.join("."), value); return Promise.resolve(); }
  if (gesture !== null && gesture === under_way) {
    held?.done();
    return new Promise((done, fail) => { held = { path, value, gesture, done, fail }; });
  }
  send_held();
  return send(path, value, gesture);
}

function send(path, value, gesture) {
  under_way = gesture;
  const answered = link.ask("edit", value === undefined ? { path, remove: true } : { path, value, gesture, frame: Math.floor(state.frame) });
  answered.then(({ run }) => seen(run), () => {}).then(() => { if (under_way === gesture) under_way = null; send_held(); });
  return answered;
}

function send_held() {
  if (!held) return;
  const { path, value, gesture, done, fail } = held;
  held = null;
  send(path, value, gesture).then(done, fail);
}

const view = new Viewport(get("view"), {
  picked(body, key) { if (!state.take?.toy) select(key ? { ...key.owner, key } : body === undefined ? null : owner(state.take.names[body])); },
  dragged(handle, place) {
    if (handle.since !== undefined && state.frame >= 1) notice("This moves where it is at the start.", "hint");
    edit(handle.path, place.map((x) => Number(x.toFixed(4))), `drag ${state.gesture}`).catch(complain);
  },
  released() { state.gesture = ++gestures; attach(); },
  added({ label }, point) { add_key(label, point); },
  grabbed(body, point, place) { return grab(body, point, place); },
  pulled(place) { if (state.pull !== undefined) pull.wish(place); },
  let_go() { release(); },
});
const inspector = new Inspector(get("inspector"), {
  edit, rename, scene: () => state.data, moment: () => ({ seconds: seconds_now(), live: state.live }), moving: () => under_way !== null,
  start: (path) => start_of(path, state.data), names: (path) => names_for(path, state.data, state.take, state.forms),
  form: (kind, before) => (SHAPES.includes(kind) ? shape_of(kind, before, state.forms) : undefined),
  tie: (kind, before) => joint_as(kind, before, state.ties),
});
const timeline = new Timeline(get("timeline"), {
  scrubbed(frame) { state.playing = false; go_to(frame); },
  moved(key, seconds) { set_time(key.path, seconds, `time ${state.gesture}`); },
  done() { state.gesture = ++gestures; },
  picked({ path, time }) {
    state.playing = false;
    go_to(Math.round(time * state.take.fps));
    const key = keys_of(state.data).find((other) => written(other).join() === path.join());
    select({ group: "actors", name: path[1], ...(key ? { key } : {}) });
  },
});
const plots = new Plots(get("plots"), (name) => link.ask("channel", { name }), (frame) => { play(false); go_to(frame); });
const toys = new Toys(get("palette"), (command, fields) => ask(command, fields), notice);
const pull = new Newest((place) => (state.pull === undefined ? null : link.ask("pull", { number: state.pull, to: place })));

function owner(name) {
  if (state.data?.bodies?.[name]) return { group: "bodies", name };
  const walker = Object.keys(state.data?.walkers ?? {}).find((w) => name.startsWith(`${w}.`));
  return walker ? { group: "walkers", name: walker } : null;
}

// Where a key is written, which may say only its place, or more.
const written = ({ path }) => (path.at(-1) === "at" ? path.slice(0, -1) : path);
const within = (key) => (key.in ? { within: state.take?.index.get(key.in) } : {});

// The keys and goals that can be dragged.
function keys_of(data) {
  const found = [];
  for (const [actor, wishes] of Object.entries(data?.actors ?? {})) {
    (wishes.move?.keys ?? []).forEach((key, number) => {
      const place = Array.isArray(key) ? key : key.at;
      if (Array.isArray(place)) found.push({ ...within(key), owner: { group: "actors", name: actor }, actor, kind: "move", number, at: place, path: ["actors", actor, "move", "keys", number, ...(Array.isArray(key) ? [] : ["at"])] });
    });
  }
  for (const { actor, goal, number, path } of goals_of(data)) {
    if (Array.isArray(goal.at)) found.push({ ...within(goal), owner: { group: "actors", name: actor }, actor, kind: "goal", number, at: goal.at, path: [...path, "at"] });
  }
  for (const [actor, walker] of Object.entries(data?.walkers ?? {})) {
    (Array.isArray(walker.path) ? walker.path : []).forEach((place, number) => found.push({ owner: { group: "walkers", name: actor }, actor: `${actor}.body`, kind: "path", number, at: place, level: true, path: ["walkers", actor, "path", number] }));
  }
  return found;
}

// A toy has the stage for itself.
const show_time = () => timeline.tell(state.take, state.take?.toy ? null : state.data);
const show_keys = () => view.place_keys(state.take?.toy ? [] : keys_of(state.data));

function place_keys() {
  if (!state.take) return;
  show_keys();
  attach();
}

function add_key(label, point) {
  const [actor, kind] = [label.slice(0, label.lastIndexOf(".")), label.split(".").pop()];
  const path = kind === "way" ? ["walkers", actor, "path"] : ["actors", actor, "move", "keys"];
  const keys = at(state.data, path);
  if (!keys || !["way", "move"].includes(kind)) return;
  if (kind === "way") point = [point[0], point[1], keys[0][2]];
  const places = keys.map((key) => (Array.isArray(key) ? key : key.at));
  let best = keys.length, least = Infinity; // between which two keys the way would grow least
  for (let k = 0; k + 1 < places.length; k++) {
    const more = away(places[k], point) + away(point, places[k + 1]) - away(places[k], places[k + 1]);
    if (more < least) [best, least] = [k + 1, more];
  }
  const value = [...keys.slice(0, best), point.map((x) => Number(x.toFixed(3))), ...keys.slice(best)];
  const name = actor, group = kind === "way" ? "walkers" : "actors";
  ask("edit", { path, value }).then(() => { const key = keys_of(state.data).find(({ owner, number }) => owner.group === group && owner.name === name && number === best); if (key) select({ group, name, key }); });
}
const away = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

function remove_selected() {
  const { key, group, name } = state.selection ?? {};
  if (key) ask("edit", { path: written(key), remove: true }).then(() => select({ group, name }), () => {});
  else if (group === "camera" || typeof name === "number") ask("edit", { path: group === "camera" ? [group] : [group, name], remove: true }).then(() => select(null), () => {});
  else if (name) ask("remove", { group, name }).then(({ also }) => { select(null); if (also.length) notice(`With it went ${also.join(", ")}.`, "hint"); }, () => {});
}

// Selection

function select(selection) {
  if (state.toy) ask("show");
  state.selection = selection;
  state.gesture = ++gestures;
  notice(null, "hint");
  mark_selection();
  show_fields();
  attach();
  live_buttons();
  wake();
}

function attach() {
  const { group, name, key } = state.selection ?? {};
  const body = state.take?.index.get(group === "actors" || group === "bodies" ? name : group === "walkers" ? `${name}.body` : undefined);
  const bead = key && view.beads?.find(({ userData }) => written(userData).join() === written(key).join());
  view.select(state.take?.toy ? undefined : body, bead);
  if (state.live || view.poking || state.take?.toy) view.attach(null);
  else if (bead) view.attach(bead.userData);
  else if (group === "bodies" && state.data.bodies[name] && !state.data.bodies[name].follows) view.attach({ path: ["bodies", name, "at"], at: state.data.bodies[name].at ?? [0, 0, 0], since: body });
  else if (group === "joints" && Array.isArray(state.data.joints?.[name]?.at)) view.attach({ path: ["joints", name, "at"], at: state.data.joints[name].at, since: tied(state.data.joints[name]), turned: true });
  else view.attach(null);
}

// The body that a joint goes along with.
const tied = (joint) => Object.values(joint).filter((pair) => Array.isArray(pair) && pair.every((name) => typeof name === "string")).flat().map((name) => state.take?.index.get(name)).findLast((body) => body !== undefined);

function mark_selection() {
  for (const item of get("outline").querySelectorAll(".item")) {
    item.setAttribute("aria-current", String(item.dataset.group === state.selection?.group && item.dataset.name === String(state.selection?.name ?? "")));
  }
}

function show_fields() {
  const { group, name, key } = state.selection ?? {};
  if (!state.schema) return;
  if (!group || group === "world") inspector.show("World", ["world"], state.data?.world ?? {});
  else if (group === "camera") inspector.show("Camera", ["camera"], state.data?.camera ?? {}, [camera_buttons(["camera"]), remove_button()]);
  else if (at(state.data, [group, name]) === undefined) inspector.element.replaceChildren();
  else if (key && key.kind !== "path" && at(state.data, written(key)) !== undefined) show_key(key);
  else inspector.show(Array.isArray(state.data[group]) ? label_of(group, state.data[group][name]) : name, [group, name], at(state.data, [group, name]), [group === "bodies" ? wish_buttons(name) : group === "cameras" ? camera_buttons([group, name]) : null, remove_button()]);
}

function show_key(key) {
  const path = written(key), value = at(state.data, path);
  const title = `${key.kind === "goal" ? "Goal" : "Key"} ${key.number} of ${key.actor}`;
  const timed = make("button", { textContent: "Be there at the time shown", title: "Asks for it to be there at the time that the timeline shows", onclick: () => set_time(path, seconds_now()) });
  const more = make("button", { textContent: "Hold, and more", title: "Fields for a hold, a frame and more", onclick: () => ask("edit", { path, value: { at: at(state.data, path) } }) });
  const gone = make("button", { textContent: `Remove this ${key.kind === "goal" ? "goal" : "key"}`, onclick: remove_selected }), plain = Array.isArray(value);
  const buttons = make("div", { className: "ask" }, timed, plain ? more : null, together(key), gone);
  if (plain) inspector.show_place(title, path, value, "Where it is to pass, in metres; or drag it in the view.", [buttons]);
  else inspector.show(title, path, value, [buttons]);
}

function set_time(path, seconds, gesture = null) {
  const key = at(state.data, path), time = Number(seconds.toFixed(2));
  return edit(...(Array.isArray(key) ? [path, { at: key, time }] : [[...path, "time"], time]), gesture).catch(complain);
}

// An appointment of this key with another one.
function together(key) {
  const own = `${key.actor}.${key.kind === "goal" ? "goals" : key.kind}.${key.number}`, others = cues_of(state.data).filter((cue) => cue.split(".")[0] !== key.actor);
  if (!others.length) return null;
  return offering(make("button", { textContent: "Together with …", title: "Who would be early waits: an appointment" }), () => others.map((cue) => [cue, () => add("appointments", new_name("meeting", state.data.appointments), { cues: [own, cue] })]));
}

// Where pictures are taken from: as it is looked at now.
function camera_buttons(path) {
  return make("div", { className: "ask" },
    make("button", { textContent: "From this view", onclick: () => ask("edit", { path, value: { ...at(state.data, path), ...view.seen() } }).catch(() => {}) }),
    make("button", { textContent: "Look through it", onclick: () => { if (path[0] === "cameras") go_to(Math.ceil(at(state.data, path).time * state.take.fps)); look_through(true); } }));
}

function wish_buttons(name) {
  const { fixed, at: place = [0, 0, 0] } = state.data.bodies[name];
  if (fixed) return null;
  const keys = state.data.actors?.[name] ? null : make("button", { textContent: "Give it keys", onclick: () => add("actors", name, { move: a_move(place, view.sized(2)) }) });
  const others = ["world", ...Object.keys(state.data.bodies).filter((other) => other !== name)];
  const tie = offering(make("button", { textContent: "Tie it to …" }), () => others.map((other) => [other, () => add_joint(other, name, place)]));
  return make("div", { className: "ask" }, keys, tie);
}

function remove_button() {
  return make("div", { className: "ask" }, make("button", { textContent: "Remove", title: "Remove it from the scene (Delete)", onclick: remove_selected }));
}

function add_joint(to, name, place) {
  const taken = (joint) => state.data.joints?.[joint] !== undefined || state.data.bodies[joint] !== undefined;
  let joint = `${name} to ${to}`;
  while (taken(joint)) joint += "'";
  add("joints", joint, { ball: [to, name], at: place });
}

// The list of what there is

const seconds_now = () => Math.floor(state.frame) / (state.take?.fps ?? 60);
const looked_at = () => view.orbit.target.toArray().map((x) => Number(x.toFixed(2)));
// What can be added: [what it is, what to do], one by one.
const GROUPS = [
  ["cameras", "Cameras", "a camera", () => [
    ...(state.data.camera || state.data.cameras ? [] : [["the scene's camera, from this view", () => ask("edit", { path: ["camera"], value: view.seen() }).then(() => select({ group: "camera", name: "" }), () => {})]]),
    [`a cut to this view at ${moment(seconds_now())}`, add_cut]]],
  ["bodies", "Bodies", "a body", () => SHAPES.map((kind) => [kind, shape_of(kind, {}, state.forms) ? () => add_body(kind) : null])],
  ["actors", "Actors", "wishes of a body", () => free_bodies(state.data).filter((name) => !state.data.actors?.[name]).map((name) => [name, () => add("actors", name, { move: a_move(state.data.bodies[name].at, view.sized(2)) })])],
  ["joints", "Joints", "a joint", () => free_bodies(state.data).map((name) => [`${name} to world`, () => add_joint("world", name, state.data.bodies[name].at ?? [0, 0, 0])])],
  ["walkers", "Walkers", "a walker", () => [["creature", add_walker], ["biped", () => add_walker("biped")], ["hexapod", () => add_walker("hexapod")]]],
  ["appointments", "Appointments", "an appointment", () => (Object.keys(state.data.actors ?? {}).length ? [["an appointment", () => add("appointments", new_name("meeting", state.data.appointments), an_appointment(state.data))]] : [])],
  ["pushes", "Pushes", "a push", () => free_bodies(state.data).map((name) => [name, () => add("pushes", state.data.pushes?.length ?? 0, a_push(name, seconds_now()))])],
  ["changes", "Changes"],
];
// Those of a list have no names: what they say of themselves instead.
const moment = (seconds = 0) => `${Number(Number(seconds).toFixed(2))} s`;
const label_of = (group, entry) => ({ pushes: () => `${entry?.body}, ${moment(entry?.from)}`, changes: () => `${entry?.field}, ${moment(entry?.time)}`, cameras: () => moment(entry?.time) })[group]();

function lay_out() {
  const item = (group, name, text, color) => make("button", { className: "item", title: text, onclick: () => select({ group, name }), ondblclick: () => { show_tab("inspector"); get("field-name")?.select(); }, "data-group": group, "data-name": String(name ?? "") },
    color ? make("span", { className: "dot", style: `background:${color}` }) : null, make("span", { className: "label", textContent: text }));
  const parts = [item("world", "", "World")];
  for (const [group, title, what, offers] of GROUPS) {
    const there = state.data?.[group] ?? {}, names = Array.isArray(there) ? [...there.keys()] : Object.keys(there);
    const more = state.data && offers?.().length;
    if (!names.length && !more) continue;
    parts.push(make("h2", {}, title, more ? offering(make("button", { textContent: "+", title: `Add ${what}`, "aria-label": `Add ${what}` }), offers) : null));
    if (group === "cameras" && state.data.camera) parts.push(item("camera", "", "Camera"));
    parts.push(...names.map((name) => item(group, name, Array.isArray(there) ? label_of(group, there[name]) : name, ["bodies", "actors", "walkers"].includes(group) ? color_of(group, name) : null)));
  }
  const focused = document.activeElement?.closest?.("#outline .item")?.dataset;
  get("outline").replaceChildren(...parts);
  if (focused) [...get("outline").querySelectorAll(".item")].find(({ dataset }) => dataset.group === focused.group && dataset.name === focused.name)?.focus();
  mark_selection();
  get("through").hidden = !state.data?.camera && !state.data?.cameras?.length;
  if (get("through").hidden && state.through) look_through(false);
  show_anew();
  place_keys();
  show_time();
}

const color_of = (group, name) => state.looks.colors?.[name] ?? view.color_of(group === "walkers" ? `${name}.body` : name);

// Other fields may be there now. A slider in somebody's hand is not taken away from it.
function show_anew() {
  const element = get("inspector"), held = element.contains(document.activeElement) ? document.activeElement : null;
  if (/^(range|color)$/.test(held?.type)) {
    inspector.refresh(state.data);
    held.addEventListener("blur", show_anew, { once: true });
    return;
  }
  const top = element.scrollTop, id = held?.id;
  if (!state.toy) show_fields();
  element.scrollTop = top;
  if (id) get(id)?.focus();
}

// What has no colour of its own gets one when it is drawn.
function color_dots() {
  if (state.take?.toy) return;
  for (const dot of get("outline").querySelectorAll(".dot")) dot.style.background = color_of(dot.parentElement.dataset.group, dot.parentElement.dataset.name);
}

// Meshes that bodies can have the form of.
const find_forms = () => link.ask("files").then(({ meshes }) => { state.forms = meshes; }, () => {});

const add = (group, name, value) => ask("edit", { path: [group, name], value }).then(() => select({ group, name }), () => {});
const add_body = (kind, size = view.sized(5)) => add("bodies", new_name({ sphere: "ball", plane: "floor" }[kind] ?? kind, state.data.bodies), a_body(kind, view.room(looked_at(), size / 2), size, state.forms));

function add_walker(walker) {
  const [x, y] = looked_at();
  add("walkers", new_name("walker", state.data.walkers), { ...(walker ? { walker } : {}), path: [[x - 2, y, 0], [x + 2, y, 0]], mood: 50 });
}

function add_cut() {
  const cameras = with_cut(state.data, seconds_now(), view.seen()), gesture = ++gestures, name = cameras.findIndex(({ time }) => Math.abs(time - seconds_now()) < 1e-3);
  const only = state.data.camera ? ask("edit", { path: ["camera"], remove: true, gesture }) : Promise.resolve();
  only.then(() => ask("edit", { path: ["cameras"], value: cameras, gesture })).then(() => select({ group: "cameras", name }), () => {});
}

function rename([group, name], to) {
  return link.ask("rename", { group, name, to }).then(() => select({ group, name: to }));
}

// Time

function go_to(frame) {
  state.frame = Math.max(0, Math.min(frame, (state.take?.frames ?? 1) - 1));
  state.fresh = true;
  wake();
}

let last = performance.now(), asleep = true;
function wake() { if (asleep) { asleep = false; last = performance.now(); requestAnimationFrame(tick); } }
view.orbit.addEventListener("change", wake);
view.orbit.addEventListener("start", () => { if (state.through) look_through(false); });
view.gizmo.addEventListener("change", () => { view.stale = true; wake(); });
new ResizeObserver(() => { view.stale = true; timeline.draw(); wake(); }).observe(get("stage"));

function tick(now) {
  const take = state.take;
  if (take && state.live) {
    if (take.done - 1 !== Math.floor(state.frame)) state.fresh = true;
    view.draw_spring();
  } else if (take && state.playing) {
    state.frame += ((now - last) / 1000) * take.fps;
    if (state.frame >= take.frames - 1) {
      if (state.loop) state.frame = 0;
      else { state.frame = take.frames - 1; play(false); }
    }
    state.fresh = true;
  }
  last = now;
  draw(now);
  asleep = !(state.playing || state.live || view.stale || state.fresh);
  if (!asleep) requestAnimationFrame(tick);
}

// The newest picture, and what was put off for it.
function draw(now) {
  const take = state.take, run = state.shown?.run;
  if (take && take === view.take && view.ready && state.fresh && take.done > 0) show_frame(take, now);
  if (!expected(take, now)) view.render(); // not the old take once more, when the new one is about to come
  while (state.owed > 0) { state.owed -= 1; link.acknowledge(); }
  if (state.shown?.run !== run) {
    for (const { run, done } of watchers) if (run <= state.shown.run) done();
    watchers = watchers.filter(({ run }) => run > state.shown.run);
    if (waiting.size) setTimeout(catch_up);
  }
}

const wanted_of = (take) => (state.live ? take.now * take.fps : Math.floor(state.frame));
const expected = (take, now) => take && state.shown && state.shown.run !== take.run && !take.ended && take.done <= wanted_of(take) && now - state.asked_at < PATIENCE;
// Whether rows that have come are to be seen now: the newest of a live take, the first of any that can show the moment
// that is looked at; while it plays, time itself draws.
const draws_anew = (take) => state.live || (state.shown?.run !== take.run ? take.done > wanted_of(take) : !state.playing && state.shown.frame < wanted_of(take));

function show_frame(take, now) {
  if (state.live && take.done - 1 < wanted_of(take)) return; // it is on the way to where it was
  if (state.live) state.frame = take.done - 1; // the newest
  const wanted = Math.floor(state.frame);
  if (take.done <= wanted && !take.ended && !state.live && now - state.asked_at < PATIENCE) return; // the old picture stays
  state.fresh = false;
  if (state.through) { const shot = camera_at(wanted / take.fps); view.place(shot, take.index.get(shot?.follow) ?? take.index.get(`${shot?.follow}.body`), Math.min(wanted, take.done - 1)); }
  view.show(Math.min(wanted, take.done - 1));
  state.shown = { run: take.run, frame: Math.min(wanted, take.done - 1), at: now };
  if (state.look && (take.ended || take.done > 0.3 * take.frames)) frame_action(take);
  if (state.live && now - state.clocked < 200) return; // the end of a live take is where it is now; nobody reads it
  state.clocked = now;
  get("now").textContent = `${(wanted / take.fps).toFixed(2)} s · frame ${wanted}`;
  timeline.at(wanted);
  plots.at(wanted);
}

// Looks at what has happened so far, and at all of it when it is known, unless somebody has turned the view since.
function frame_action(take) {
  const turned = state.look === "again" && JSON.stringify(view.seen()) !== state.looked;
  if (!turned && (take.ended || state.look !== "again")) view.look(take.toy ? null : state.looks.camera);
  state.look = take.ended || turned ? false : "again";
  state.looked = JSON.stringify(view.seen());
  state.framed = state.name;
}

function play(on = !state.playing) {
  state.playing = on && !state.live;
  if (state.playing && state.take && state.frame >= state.take.frames - 1) state.frame = 0;
  get("play").firstChild.firstChild.setAttribute("d", state.playing ? "M3 2h4v12H3zM9 2h4v12H9z" : "M4 2v12l10-6z");
  get("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
  wake();
}

// Poking

async function poke() {
  if (state.live) { await ask("halt"); return; }
  if (!state.take) return;
  state.played = false;
  play(false);
  view.poking = true;
  view.attach(null);
  await ask("live", { frame: Math.floor(state.frame) });
}

// Something was done that can be kept.
function acted() {
  state.played = true;
  live_buttons();
}

function live_buttons() {
  view.poking = state.live;
  get("live").setAttribute("aria-pressed", String(state.live));
  get("live").textContent = state.live ? "Stop" : "Poke";
  get("poking").hidden = !(state.live || state.played);
  for (const id of ["throw", "limp", "hint"]) get(id).hidden = !state.live;
  for (const id of ["start", "back", "play", "forth"]) get(id).disabled = state.live; // it goes by itself
  const name = state.selection?.name, actor = KINDS.some((kind) => state.data?.actors?.[name]?.[kind]);
  get("limp").disabled = !actor;
  get("limp").textContent = state.off?.has(name) ? `${name} on` : actor ? `${name} off` : "Actor off";
  get("limp").title = actor ? "Switch the selected actor off and on (O)" : "Select an actor to switch it off and on (O)";
  get("keep").hidden = state.live || !state.played;
  if (!state.live) state.off = undefined;
}

function grab(body, point, place) {
  const name = state.take.names[body];
  const told = state.data.bodies?.[name];
  if (!told || told.fixed || told.follows) return false;
  const mass = told.mass ?? 1;
  link.ask("push", { body: name, point, spring: 120 * mass, to: place }).then(({ number }) => { state.pull = number; acted(); }, (lines) => notice(lines.join(" · "), "problem"));
  return true;
}

function release() {
  const number = state.pull;
  state.pull = undefined;
  if (number !== undefined) ask("release", { number });
}

// From behind the eye, through what is looked at: there it has waited since the start, and was not in the picture.
function throw_ball() {
  if (!state.live) return;
  const to = view.orbit.target, way = to.clone().sub(view.camera.position), seconds = Math.max(0.4, Math.min(way.length() / THROWN, 1.2));
  const at = to.clone().addScaledVector(way, -1.06), velocity = way.multiplyScalar(1.06 / seconds);
  velocity.z += 0.5 * 9.81 * seconds; // so that it does not fall short
  ask("throw", { at: at.toArray().map((x) => Number(x.toFixed(3))), velocity: velocity.toArray().map((x) => Number(x.toFixed(3))) }).then(acted, () => {});
}

const KINDS = ["move", "turn"], LIMP = [[0, 0]]; // a course of strength; goals cannot be changed while they are led to
function switch_actor() {
  const name = state.selection?.name, actor = state.data.actors?.[name];
  if (!state.live || !KINDS.some((kind) => actor?.[kind])) return;
  const off = !state.off?.has(name);
  for (const kind of KINDS) {
    if (actor[kind]) ask("change", { field: `actors.${name}.${kind}.strength`, value: off ? LIMP : actor[kind].strength ?? "auto" })
      .then(() => { (state.off ??= new Set())[off ? "add" : "delete"](name); acted(); }, () => {});
  }
}

const counted = (n, one, many) => `${n} ${n === 1 ? one : many}`;

// Dialogs and notices

const notices = new Map();
function notice(line, kind, asks = null) {
  notices.get(kind)?.remove();
  notices.delete(kind);
  if (kind === "file") state.contested = false;
  if (!line) return;
  const buttons = asks ? make("div", { className: "ask" },
    make("button", { textContent: asks[0], onclick: () => { notice(null, kind); ask("discard"); } }),
    make("button", { textContent: asks[1], onclick: () => notice(null, kind) })) : null;
  const shown = make("div", { textContent: line }, buttons);
  if (buttons) shown.append(buttons);
  else shown.append(" ", make("button", { className: "reset", textContent: "×", title: "Close", onclick: () => notice(null, kind) }));
  notices.set(kind, shown);
  get("notices").append(shown);
  if (kind === "hint") setTimeout(() => { if (notices.get(kind) === shown) notice(null, kind); }, HINT);
}

async function open_gallery() {
  const { files, unsaved } = await link.ask("files").catch(() => ({ files: [], unsaved: [] }));
  const card = (name, about, fields) => make("button", { className: "card", onclick: async () => { get("gallery").close(); get("view").focus(); await open_scene(fields); } },
    fields.example ? make("img", { src: `/page/card_${fields.example}.jpg`, alt: "", loading: "lazy" }) : null,
    make("strong", { textContent: name }), about ? make("small", { textContent: about }) : null);
  get("gallery").replaceChildren(
    make("button", { className: "close", textContent: "Close", onclick: () => get("gallery").close() }),
    make("h1", { textContent: "impel studio" }),
    make("p", { textContent: "You write what should happen; physics decides how it happens. Open a scene, change a number, see the motion change." }),
    ...(unsaved.length ? [make("h2", { textContent: "Go on with what was not saved" }), make("div", { className: "cards" }, ...unsaved.map((name) => card(name.replaceAll("_", " "), "", name === "untitled" ? {} : { example: name })))] : []),
    ...(files.length ? [make("h2", { textContent: `In ${state.root}` }), make("div", { className: "cards" }, ...files.map((file) => card(file, "", { file })))] : []),
    make("h2", { textContent: "Examples" }),
    make("div", { className: "cards" }, ...state.examples.map(({ name, about }) => card(name.replaceAll("_", " "), about, { example: name })),
      card("An empty stage", "A floor, and whatever you put on it.", {})),
  );
  if (!get("gallery").open) get("gallery").showModal();
  get("gallery").querySelector(".card")?.focus();
  get("gallery").scrollTop = 0;
}

async function open_scene(fields) {
  notice(null, "problem");
  state.selection = null;
  state.take = null;
  state.toy = null;
  follow(undefined);
  look_through(false);
  state.frame = 0;
  const { draft } = await (Object.keys(fields).length ? ask("open", fields) : ask("new"));
  notice(draft ? "These are changes that were not saved the last time." : null, "file", ["Forget them", "Go on with them"]);
  play(true);
}

async function save() {
  if (state.contested) return notice("First take the file's, or keep yours.", "hint");
  if (state.file) return ask("save").then(() => notice(null, "file"), () => {});
  const name = make("input", { id: "name-of-file", type: "text", value: state.name, spellcheck: false }), dialog = get("naming");
  const write = async (event) => {
    event.preventDefault();
    if (!name.value.trim()) { wrong.textContent = "It needs a name."; return; }
    const before = state.name;
    const answer = await link.ask("save", { file: /\.(ya?ml|json)$/.test(name.value) ? name.value : `${name.value}.yaml` }).catch((lines) => { wrong.textContent = lines.join(" "); });
    if (!answer) return;
    dialog.close();
    if (state.framed === before) state.framed = answer.name; // it stays in view
  };
  const wrong = make("p", { className: "wrong", role: "alert" });
  dialog.replaceChildren(make("form", { onsubmit: write }, make("h1", { textContent: "Save as" }),
    make("p", {}, make("label", { htmlFor: "name-of-file", textContent: `A name, in ${state.root}:` })), name, wrong,
    make("div", { className: "ask" }, make("button", { textContent: "Save", type: "submit" }), make("button", { textContent: "Cancel", type: "button", onclick: () => dialog.close() }))));
  dialog.showModal();
  name.focus();
  name.setSelectionRange(0, name.value.replace(/\.\w+$/, "").length);
}

const EXPORTS = [
  ["glb", "GLB for Blender, Unreal, Unity, Godot"], ["mp4", "MP4 film, from this view"], ["gif", "GIF, from this view"], ["png", "PNG strip, from this view"],
  ["picture", "PNG of this view"], ["csv", "CSV table"], ["npz", "NPZ take"],
];
async function export_take(format) {
  if (format === "picture") {
    return download(view.picture(), `${state.name.replace(/\.\w+$/, "")}.png`);
  }
  notice(`Writing ${format} …`, "export");
  try {
    const { url, name } = await ask("export", { format, camera: ["mp4", "gif", "png"].includes(format) && !state.through ? view.seen() : null });
    download(url, name);
  } finally { notice(null, "export"); }
}

function download(url, name) { make("a", { href: url, download: name }).click(); }

async function fetch_text() {
  const { text } = await link.ask("text");
  if (document.activeElement !== get("source")) get("source").value = text;
}

const SHORTCUTS = [
  ["Space", "play or pause"], ["← →", "one frame back or on"], ["Home End", "to the start or the end"], ["F", "frame the action"],
  ["C", "follow the selected body"], ["V", "look through the scene's cameras"], ["H", "overlays"], ["L", "poke: play live, pull at bodies"], ["B", "throw a ball, live"],
  ["O", "switch the selected actor off and on, live"], ["K", "keep what happened live"], ["F2", "another name for what is selected"], ["Delete", "remove what is selected"], ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["Ctrl+S", "save"], ["Tab", "from field to field"], ["Click", "select; drag its arrows to move it"], ["Double click on a path", "a new key there"], ["?", "this list"],
];

function show_shortcuts() {
  get("shortcuts").replaceChildren(
    make("button", { className: "close", textContent: "Close", onclick: () => get("shortcuts").close() }),
    make("h1", { textContent: "Shortcuts" }),
    make("table", {}, ...SHORTCUTS.map(([key, text]) => make("tr", {}, make("td", {}, make("kbd", { textContent: key })), make("td", { textContent: text })))));
  get("shortcuts").showModal();
}

function show_tab(name) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const on = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(on));
    get(tab.getAttribute("aria-controls")).hidden = !on;
  }
  if (name === "text") { fetch_text(); notice(null, "text"); } // it stands there
  if (name === "plots" && state.take) plots.fill();
}

// The camera that the scene has at a moment, if any.
const camera_at = (seconds) => state.data?.camera ?? state.data?.cameras?.findLast(({ time }) => time <= seconds + 1e-9);

// Sees what the scene's cameras see, until one turns the view oneself.
function look_through(on = !state.through) {
  state.through = on && !state.take?.toy;
  get("through").setAttribute("aria-pressed", String(state.through));
  if (state.through) { follow(undefined); view.look(null); }
  go_to(state.frame);
}

function follow(body) {
  view.follow(body);
  if (body !== undefined && state.through) look_through(false);
  get("follow").setAttribute("aria-pressed", String(body !== undefined));
  go_to(state.frame);
}

function paint() {
  view.paint(getComputedStyle(document.documentElement).getPropertyValue("--sky").trim(), document.documentElement.classList.contains("dark"));
  timeline.draw();
  toys.draw_plots();
  wake();
}

// Buttons and keys

for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => show_tab(tab.id.slice(4)));
const click = {
  home: open_gallery, toys: () => toys.open(), undo: () => ask("undo"), redo: () => ask("redo"), save, help: show_shortcuts,
  frame: () => { if (state.through) look_through(false); view.look(null); wake(); }, live: poke, throw: throw_ball, limp: switch_actor, play: () => play(),
  keep: () => ask("keep").then(({ pushes, changes }) => { state.played = false; live_buttons(); notice(`Kept as part of the scene: ${counted(pushes, "push", "pushes")}, ${counted(changes, "change", "changes")}.`, "hint"); }),
  start: () => go_to(0), back: () => { play(false); go_to(Math.floor(state.frame) - 1); }, forth: () => { play(false); go_to(Math.floor(state.frame) + 1); },
  through: () => look_through(),
  follow: () => follow(view.following !== undefined ? undefined : state.take?.toy ? view.solid() : view.selected),
  overlays: () => { view.overlays.visible = !view.overlays.visible; get("overlays").setAttribute("aria-pressed", String(view.overlays.visible)); view.stale = true; wake(); },
  loop: () => { state.loop = !state.loop; get("loop").setAttribute("aria-pressed", String(state.loop)); },
  theme: () => { localStorage.theme = document.documentElement.classList.toggle("dark") ? "dark" : "light"; paint(); },
};
for (const [id, work] of Object.entries(click)) get(id).addEventListener("click", work);
offering(get("export"), () => EXPORTS.map(([format, text]) => [state.through ? text.replace("from this view", "as the cameras see it") : text, () => export_take(format)]));
let writing;
get("source").addEventListener("input", () => { clearTimeout(writing); writing = setTimeout(() => ask("write", { text: get("source").value }), 250); });
if (localStorage.theme === "dark" || (!localStorage.theme && matchMedia("(prefers-color-scheme: dark)").matches)) document.documentElement.classList.add("dark");

const KEYS = { " ": "play", f: "frame", c: "follow", v: "through", h: "overlays", l: "live", b: "throw", o: "limp", k: "keep", "?": "help", Home: "start", ArrowLeft: "back", ArrowRight: "forth" };
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range" && event.target.type !== "checkbox";
  if (event.ctrlKey || event.metaKey) {
    const command = { z: event.shiftKey ? "redo" : "undo", y: "redo", s: "save" }[event.key.toLowerCase()];
    if (!command || (typing && command !== "save" && event.target.tagName === "TEXTAREA")) return;
    event.preventDefault();
    click[command]();
    return;
  }
  if (typing || document.querySelector("dialog[open]") || event.altKey) return;
  if (event.target.type === "range" && /^(Arrow|Home|End|Page)/.test(event.key)) return; // a slider's own
  if (/^( |Enter)$/.test(event.key) && event.target.matches("button, summary, input[type=checkbox]")) return; // what it does by itself
  if (event.key === "End") go_to((state.take?.frames ?? 1) - 1);
  else if (event.key === "Delete") remove_selected();
  else if (event.key === "F2") { show_tab("inspector"); get("field-name")?.select(); }
  else if (KEYS[event.key]) { const button = get(KEYS[event.key]); if (!button.hidden) button.click(); } // which may be disabled
  else return;
  event.preventDefault();
});

// After a click the keys are for the stage again; who goes by keys stays where he is.
document.addEventListener("click", (event) => {
  if (event.detail > 0 && event.target.closest("button, summary") && !document.querySelector("dialog[open], #menu:popover-open") && !document.activeElement.matches("input, textarea, select")) get("view").focus({ preventScroll: true });
});

// The fields are as wide as one likes.
function widen(pixels) {
  const width = Math.max(240, Math.min(pixels, innerWidth - 500));
  document.documentElement.style.setProperty("--side", `${width}px`);
  localStorage.side = width;
}
if (localStorage.side) widen(Number(localStorage.side));
get("splitter").addEventListener("pointerdown", (event) => event.target.setPointerCapture(event.pointerId));
get("splitter").addEventListener("pointermove", (event) => { if (event.buttons & 1) widen(innerWidth - event.clientX - 3); });
get("splitter").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: 20, ArrowRight: -20 }[event.key];
  if (step) { event.preventDefault(); event.stopPropagation(); widen(get("side").clientWidth + step); }
});

// For whoever looks from outside: where things are on the screen.
function screen(at) {
  const box = get("view").getBoundingClientRect(), p = view.project(at);
  return [box.left + (box.width * (p[0] + 1)) / 2, box.top + (box.height * (1 - p[1])) / 2];
}
Object.assign(state, {
  link, go_to, play, open_scene,
  drawn: () => view.drawn,
  settled: () => !held && !link.waiting.size && !waiting.size && state.take?.ended && state.take.run >= link.due && state.shown?.run === state.take.run,
  redraw() { view.stale = true; wake(); const drawn = view.drawn; return new Promise((done) => { const look = () => (view.drawn > drawn ? done() : requestAnimationFrame(look)); look(); }); },
  pick_key(name, number) { const key = keys_of(state.data).find(({ owner, number: n }) => owner.name === name && n === number); select({ ...key.owner, key }); },
  place_on_screen: screen,
  on_screen(name) { return screen(state.take.pose(state.shown.frame, state.take.index.get(name))); },
  key_on_timeline(actor, seconds) { const box = get("timeline").getBoundingClientRect(), [x, y] = timeline.place(actor, seconds); return [box.left + x, box.top + y]; },
  seen: () => view.seen(),
  handle_at: () => view.grip.position.toArray(),
  handle_on_screen() { view.render(); return screen(view.gizmo_tip()); },
});
paint();
wake();
