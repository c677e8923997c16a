// Fields of what is selected, made from the schema's own sentences: each with its text, its range, and a way to unset it.

import { make } from "./make.js";

const HUGE = 1e6; // a bound beyond it bounds nothing that a person would slide to
const MOST_ENTRIES = 100; // of a list that is shown one by one; longer ones are for the text
let gestures = Date.now();

export class Inspector {
  // given: scene() -> the scene as it is written; edit(path, value | undefined, gesture) -> promise; rename(path, name) ->
  // promise; moment() -> { seconds, live }: what is looked at; moving() -> whether a slider is on its way; start(path) ->
  // a value to begin with, if there is one; form(kind, before) -> a shape of another kind; tie(kind, before) -> a joint of another kind; names(path) -> the
  // names that a field can hold, if there are only so many.
  constructor(element, given) {
    Object.assign(this, given);
    this.element = element;
    this.open = new Set(); // which parts were unfolded
    this.refreshers = [];
  }

  resolve(schema) {
    return schema?.$ref ? { ...this.schema.$defs[schema.$ref.split("/").pop()], ...schema, $ref: undefined } : schema ?? {};
  }

  // The schema of a place in a scene.
  schema_at(path) {
    let here = this.schema;
    for (const part of path) {
      here = this.resolve(here);
      here = here.properties?.[part] ?? (typeof here.additionalProperties === "object" ? here.additionalProperties : undefined)
        ?? here.items ?? this.choices(here).find((choice) => choice.properties?.[part])?.properties[part] ?? this.choices(here).find((choice) => choice.items)?.items;
    }
    return this.resolve(here);
  }

  choices(schema) { return (schema.properties ? [schema] : schema.anyOf ?? schema.oneOf ?? [schema]).map((choice) => this.resolve(choice)); }

  // Shows a place of the scene: its title, its sentence, its fields.
  show(title, path, data, extra = []) {
    this.path = path;
    this.refreshers = [];
    const found = this.schema_at(path), schema = this.choices(found).find((choice) => choice.properties) ?? found;
    this.element.replaceChildren(
      ...(path.length === 2 && typeof path[1] === "string" ? this.named(path) : [make("h1", { textContent: title })]),
      make("p", { textContent: found.description ?? schema.description ?? "" }),
      ...this.fields(schema, path, data),
      ...extra.filter(Boolean),
    );
  }

  // A heading that can be written: another name, wherever the scene speaks of it.
  named(path) {
    const wrong = make("span", { className: "wrong", role: "alert" }), name = path.at(-1);
    const rename = () => {
      const to = box.value.trim();
      if (to === name || to === "") { box.value = name; wrong.textContent = ""; return; }
      this.rename(path, to).catch((lines) => { wrong.textContent = lines.map(short).join("\n"); });
    };
    const box = make("input", {
      id: "field-name", type: "text", value: name, spellcheck: false, "aria-label": "name", title: "Its name: write another one (F2)", onchange: rename,
      onkeydown: ({ key }) => { if (key === "Escape") box.value = name; if (key === "Enter" || key === "Escape") box.blur(); },
    });
    return [make("h1", { className: "named" }, box), wrong];
  }

  // Shows a place in space that is written as [x, y, z].
  show_place(title, path, value, text, extra = []) {
    this.path = path;
    this.refreshers = [];
    this.element.replaceChildren(make("h1", { textContent: title }),
      this.field("at", { type: "array", maxItems: 3, items: { type: "number" }, description: text }, path, value, true), ...extra);
  }

  // Values have changed, but not which fields there are.
  refresh(data) { for (const refresh of this.refreshers) refresh(data); }

  fields(schema, path, data) {
    const there = [], more = [], kinds = kinds_of(schema), kind = kinds.find((name) => data?.[name] !== undefined);
    if (kind) there.push(this.kind(schema, path, data, kinds, kind));
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (kind && kinds.includes(name) && name !== kind) continue;
      const value = data?.[name];
      const row = this.field(name, this.resolve(field), [...path, name], value, (schema.required ?? []).includes(name) || name === kind);
      (value === undefined ? more : there).push(row);
    }
    if (more.length) there.push(this.folded(`${path.join("-")} more`, there.length < 3 && path.length < 3, make("summary", { textContent: `${more.length} more` }), () => more));
    return there;
  }

  // Something to unfold, which stays as it was left when it is shown anew.
  folded(name, open, summary, inside) {
    const fold = make("details", { open: this.open.has(name) || (open && !this.open.has(`not ${name}`)) }, summary);
    const fill = () => { if (fold.open && fold.children.length === 1) fold.append(...inside()); };
    fill();
    fold.addEventListener("toggle", () => { fill(); this.open[fold.open ? "add" : "delete"](name); this.open[fold.open ? "delete" : "add"](`not ${name}`); });
    return fold;
  }

  // Which of its kinds it is, of those that it can become.
  kind(schema, path, data, kinds, kind) {
    const form = (to) => this.form(to, data) ?? (JSON.stringify(bare(schema.properties[to])) === JSON.stringify(bare(schema.properties[kind])) ? data[kind] : undefined);
    const id = `field-${path.join("-")}-kind`, wrong = make("span", { className: "wrong", role: "alert" });
    const become = (to) => {
      const { [kind]: old, ...rest } = at(this.scene(), path);
      return this.edit(path, path[0] === "joints" ? this.tie(to, { [to]: old, ...rest }) : { [to]: form(to), ...rest }).catch((lines) => { select.value = kind; wrong.textContent = lines.map(short).join("\n"); });
    };
    const select = make("select", { id, onchange: (e) => become(e.target.value) },
      ...kinds.filter((name) => name === kind || form(name) !== undefined).map((name) => make("option", { value: name, textContent: name.replaceAll("_", " "), selected: name === kind })));
    return make("div", { className: "field" }, make("label", { htmlFor: id, textContent: "kind" }), make("div", { className: "row" }, select), wrong);
  }

  // A list, each entry of which has fields of its own.
  entries(name, list, path, value, set, reset) {
    const inner = this.choices(this.resolve(list.items)), table = inner.find((choice) => choice.properties);
    const one = (entry, k) => {
      const summary = make("summary", { textContent: `${k}: ${plain(entry)}` }), here = [...path, k];
      this.refreshers.push((data) => { const now = at(data, here); if (now !== undefined) summary.textContent = `${k}: ${plain(now)}`; });
      return this.folded(here.join("-"), false, summary, () => [
        ...(Array.isArray(entry) ? [this.field("at", { ...inner.find((choice) => choice.items), description: "" }, here, entry, true)] : this.fields(table, here, entry)),
        make("button", { textContent: "Remove", "aria-label": `Remove ${name} ${k}`, onclick: () => this.edit(here, undefined).catch((lines) => { wrong.textContent = lines.map(short).join("\n"); }) })]);
    };
    const wrong = make("span", { className: "wrong", role: "alert" });
    return make("fieldset", { className: "list" }, make("legend", {}, name, reset), ...value.map(one), wrong,
      make("button", { textContent: "Add one more", "aria-label": `Add one more to ${name}`, onclick: () => this.edit([...path, value.length], later_than(value.at(-1))).catch((lines) => { wrong.textContent = lines.map(short).join("\n"); }) }));
  }

  field(name, schema, path, value, required) {
    const wrong = make("span", { className: "wrong", role: "alert" });
    const id = `field-${path.join("-")}`;
    const set = (to, gesture) => this.edit(path, to, gesture).then(() => { wrong.textContent = ""; }, (lines) => { wrong.textContent = lines.map(short).join("\n"); });
    const reset = required || value === undefined ? null
      : make("button", { className: "reset", title: "Leave it out", textContent: "×", "aria-label": `Leave out ${name}`, onclick: () => set(undefined) });
    const choices = this.choices(schema);
    const nested = choices.find((choice) => choice.properties);
    if (nested && value !== null && typeof value === "object" && !Array.isArray(value)) {
      const inside = this.fields(nested, path, value);
      if (!inside.length) return make("div", { className: "field" }, make("label", {}, name, reset), make("small", { textContent: schema.description ?? "" }));
      return make("fieldset", {}, make("legend", {}, name, reset), ...inside);
    }
    const list = choices.find((choice) => choice.type === "array" && choice.items && this.choices(this.resolve(choice.items)).some((entry) => entry.properties || (entry.maxItems === 3 && entry.items?.type === "number")));
    if (list && Array.isArray(value) && value.length <= MOST_ENTRIES) return this.entries(name, list, path, value, set, reset);
    const names = this.names(path);
    if (names && choices.some((choice) => choice.type === "array" && choice.items?.type === "string" && choice.maxItems !== 2)) return this.several(name, schema, path, value ?? [], names, set, wrong, reset);
    const start = value === undefined ? this.start(path) : undefined;
    if (start !== undefined) {
      return make("div", { className: "field" }, make("label", {}, name, make("span", { className: "unset", textContent: "not set" })),
        make("div", { className: "row" }, make("button", { id, textContent: `Add ${name}`, onclick: () => set(start) })), wrong, make("small", { textContent: schema.description ?? "" }));
    }
    const unset = value === undefined ? make("span", { className: "unset", textContent: schema.default === undefined ? "not set" : `default ${plain(schema.default)}` }) : null;
    return make("div", { className: "field" },
      make("label", { htmlFor: id }, name, unset, reset),
      this.input(id, name, schema, choices, path, value, set),
      wrong,
      make("small", { textContent: schema.description ?? nested?.description ?? "" }),
    );
  }

  input(id, name, schema, choices, path, value, set) {
    const words = choices.flatMap((choice) => choice.enum ?? []);
    const number = choices.find((choice) => choice.type === "number" || choice.type === "integer");
    const now = value ?? schema.default;
    if (choices.some((choice) => choice.type === "boolean")) {
      return this.kept(path, make("input", { id, type: "checkbox", checked: now === true, onchange: (e) => set(e.target.checked) }), (input, to) => { input.checked = to === true; });
    }
    if (name === "color") {
      return make("div", { className: "row" },
        make("input", { id, type: "color", value: (now ?? "#888888").slice(0, 7), onfocus: () => { gestures += 1; }, oninput: (e) => set(e.target.value, gestures) }));
    }
    const names = this.names(path);
    if (names && (now === undefined || typeof now === "string")) return this.choice(id, path, names, now, set);
    if (words.length && !number) {
      const select = make("select", { id, onchange: (e) => set(e.target.value) }, ...words.map((word) => make("option", { value: word, textContent: word, selected: word === now })));
      if (now === undefined) select.selectedIndex = -1;
      return this.kept(path, select, (input, to) => { input.value = to; });
    }
    if (number && choices.some((choice) => choice.items?.prefixItems)) return this.series(id, number, path, value, set);
    if (number && (typeof now === "number" || now === undefined) && !(choices.length > 1 && now === undefined)) return this.number(id, number, path, now, set, words);
    const list = choices.find((choice) => choice.type === "array" && choice.maxItems <= 4 && choice.items?.type === "number");
    if (list && (Array.isArray(now) || now === undefined)) return this.vector(id, list, path, now, set);
    if (Array.isArray(now) && choices.some((choice) => choice.maxItems === 2 && choice.items?.type === "string")) return this.pair(id, path, now, set);
    return this.kept(path, make("input", {
      id, type: "text", value: now === undefined ? "" : plain(now), spellcheck: false,
      onchange: (e) => set(read(e.target.value)),
    }), (input, to) => { if (document.activeElement !== input) input.value = to === undefined ? "" : plain(to); });
  }

  number(id, schema, path, value, set, words) {
    const low = bound(schema.minimum ?? schema.exclusiveMinimum), high = bound(schema.maximum ?? schema.exclusiveMaximum);
    const scale = slide(value, low, high);
    const box = make("input", { id, type: "number", className: "short", step: "any", value: value === undefined ? "" : tidy(value) });
    const range = make("input", { type: "range", min: 0, max: 1000, step: 1, value: value === undefined ? 0 : scale.to(value), "aria-label": `${path.at(-1)} as a slider` });
    let gesture = ++gestures;
    grasped(range, () => { gesture = ++gestures; });
    range.addEventListener("input", () => { const to = tidy(scale.from(Number(range.value))); box.value = to; set(to, gesture); });
    let present = value;
    box.addEventListener("change", () => {
      if (box.value === "") box.value = typeof present === "number" ? tidy(present) : ""; // it was no number
      else { range.value = scale.to(Number(box.value)); set(Number(box.value)); }
    });
    this.refreshers.push((data) => {
      const to = present = at(data, path);
      if (typeof to !== "number" || document.activeElement === range && this.moving()) return; // the hand is ahead of it
      if (document.activeElement !== box) box.value = tidy(to);
      range.value = scale.to(to);
    });
    const others = words.map((word) => make("button", { textContent: word, onclick: () => set(word) }));
    return make("div", { className: "row" }, range, box, ...others);
  }

  // A value for all the time, or pairs of seconds and values: the slider sets the first, or goes on from this moment.
  series(id, schema, path, value, set) {
    const scale = slide(schema.maximum <= 100 ? undefined : level(value, 0), schema.minimum, schema.maximum);
    const range = make("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": `${path.at(-1)} as a slider` });
    const box = make("input", { id, type: "text", spellcheck: false, onchange: (e) => set(e.target.value.trim() === "" ? undefined : read(e.target.value)) });
    const said = make("output", { className: "unset" });
    const show = (to) => {
      value = to;
      said.textContent = tidy(level(to, this.moment().seconds) ?? NaN) || "";
      if (document.activeElement !== box) box.value = to === undefined ? "" : plain(to);
      if (document.activeElement !== range) range.value = scale.to(level(to, this.moment().seconds) ?? (schema.minimum + schema.maximum) / 2);
    };
    let gesture, since;
    const begin = () => { gesture = ++gestures; since = Number(this.moment().seconds.toFixed(2)); };
    grasped(range, begin);
    range.addEventListener("input", () => {
      const to = tidy(scale.from(Number(range.value)));
      said.textContent = to;
      set(Array.isArray(value) && !this.moment().live ? [...value.filter(([time]) => time < since), [since, to]] : to, gesture);
    });
    this.refreshers.push((data) => show(at(data, path)));
    show(value);
    return make("div", {}, make("div", { className: "row" }, range, said), make("div", { className: "row" }, box));
  }

  vector(id, schema, path, value, set) {
    const count = schema.maxItems;
    const boxes = Array.from({ length: count }, (_, k) => make("input", {
      id: k === 0 ? id : `${id}-${k}`, type: "number", step: "any", value: value === undefined ? "" : tidy(value[k]), "aria-label": `${path.at(-1)} ${(path.at(-1) === "quaternion" ? "wxyz" : "xyz")[k]}`,
    }));
    for (const box of boxes) box.addEventListener("change", () => { if (boxes.every((other) => other.value !== "")) set(boxes.map((other) => Number(other.value))); });
    this.refreshers.push((data) => {
      const to = at(data, path);
      if (Array.isArray(to)) boxes.forEach((box, k) => { if (document.activeElement !== box) box.value = tidy(to[k]); });
    });
    return make("div", { className: "row" }, ...boxes);
  }

  // One of several names.
  choice(id, path, names, value, set) {
    const all = [...new Set(value === undefined ? names : [...names, value])];
    const select = make("select", { id, onchange: (e) => set(e.target.value) }, ...all.map((name) => make("option", { value: name, textContent: name, selected: name === value })));
    if (value === undefined) select.selectedIndex = -1;
    return this.kept(path, select, (input, to) => { input.value = to; });
  }

  // A list of names: each can be another one, or none.
  several(name, schema, path, value, names, set, wrong, reset) {
    const free = names.filter((other) => !value.includes(other));
    const one = (entry, k) => make("div", { className: "row" },
      make("select", { id: `field-${path.join("-")}-${k}`, "aria-label": `${name} ${k}`, onchange: (e) => set(value.map((other, j) => (j === k ? e.target.value : other))) },
        ...[entry, ...free].map((other) => make("option", { value: other, textContent: other, selected: other === entry }))),
      make("button", { className: "reset", textContent: "×", title: "Take it out", "aria-label": `Take ${entry} out`, onclick: () => set(value.length > 1 ? value.filter((_, j) => j !== k) : undefined) }));
    return make("div", { className: "field" }, make("label", {}, name, reset), ...value.map(one), wrong,
      make("div", { className: "row" }, make("button", { textContent: "Add one more", disabled: !free.length, "aria-label": `Add one more to ${name}`, onclick: () => set([...value, free[0]]) })),
      make("small", { textContent: schema.description ?? "" }));
  }

  // Two bodies that a joint ties together, or one and the world.
  pair(id, path, value, set) {
    const names = [...new Set([...this.names([...path, 0]), ...value])];
    const boxes = value.map((name, k) => make("select", {
      id: k === 0 ? id : `${id}-${k}`, "aria-label": `${path.at(-1)} ${["first", "second"][k]}`, onchange: () => set(boxes.map((box) => box.value)),
    }, ...names.map((other) => make("option", { value: other, textContent: other, selected: other === name }))));
    this.refreshers.push((data) => at(data, path)?.forEach?.((name, k) => { boxes[k].value = name; }));
    return make("div", { className: "row" }, ...boxes);
  }

  kept(path, input, refresh) {
    this.refreshers.push((data) => refresh(input, at(data, path)));
    return make("div", { className: "row" }, input);
  }
}

// The kinds of which exactly one is given, as of a shape or a joint.
const kinds_of = ({ properties, oneOf }) => (properties && oneOf?.every(({ required }) => required?.length === 1) ? oneOf.map(({ required }) => required[0]) : []);
const bare = ({ description, title, ...rest }) => rest;
// Another entry like the last one, a second later if it has a time.
const later_than = (entry) => (typeof entry?.time === "number" ? { ...entry, time: entry.time + 1 } : entry);
const bound = (x) => (x === 1e-12 ? 0 : Math.abs(x) <= HUGE ? x : undefined); // 1e-12 is how the schema says: more than 0
export const at = (data, path) => path.reduce((here, part) => here?.[part], data);
// Calls when someone begins to move a slider: with the pointer, or by keys after a pause.
function grasped(range, begin) {
  let last = -Infinity;
  range.addEventListener("pointerdown", begin);
  range.addEventListener("keydown", ({ timeStamp }) => { if (timeStamp - last > 1000) begin(); last = timeStamp; });
}

// What a series is at a moment.
function level(series, seconds) {
  if (!Array.isArray(series)) return series;
  const after = series.findIndex(([time]) => time > seconds);
  if (after <= 0) return (after === 0 ? series[0] : series.at(-1))[1];
  const [[t0, a], [t1, b]] = [series[after - 1], series[after]];
  return a + ((b - a) * (seconds - t0)) / (t1 - t0);
}
const tidy = (x) => Number(Number(x).toPrecision(4));
const short = (text) => text.replace(/^[^:]*\.(ya?ml|json): /, "");

// Values as they stand on one line, and back.
export function plain(value) {
  if (Array.isArray(value)) return `[${value.map(plain).join(", ")}]`;
  if (value !== null && typeof value === "object") return `{${Object.entries(value).map(([k, v]) => `${k}: ${plain(v)}`).join(", ")}}`;
  return String(value);
}

export function read(text) {
  const trimmed = text.trim();
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  if (trimmed !== "" && !Number.isNaN(Number(trimmed))) return Number(trimmed);
  try { return JSON.parse(trimmed); } catch { /* not JSON: lists and mappings as people write them */ }
  if (/^[[{]/.test(trimmed)) {
    try { return JSON.parse(trimmed.replace(/([{,]\s*)([A-Za-z_]\w*)\s*:/g, '$1"$2":').replace(/([:,[]\s*)([A-Za-z_][\w.% ]*?)(\s*[,\]}])/g, (all, a, word, b) => /^(true|false|null)$/.test(word) ? all : `${a}"${word}"${b}`)); } catch { /* then it is text */ }
  }
  return trimmed;
}

// A slider's way between its 1000 steps and values: even between bounds, else by equal factors about the value.
function slide(value, low, high) {
  if (low !== undefined && high !== undefined && !(low >= 0 && value > 0 && high > 30 * value)) return { to: (x) => (1000 * (x - low)) / (high - low), from: (s) => low + (s / 1000) * (high - low) };
  if (low !== undefined && value > 0) {
    const first = value / 30, ratio = 900;
    return { to: (x) => 1000 * Math.log(Math.max(x, first) / first) / Math.log(ratio), from: (s) => first * ratio ** (s / 1000) };
  }
  const size = 4 * Math.max(Math.abs(value ?? 0), 1);
  const begin = low ?? -size, end = high ?? size;
  return { to: (x) => (1000 * (x - begin)) / (end - begin), from: (s) => begin + (s / 1000) * (end - begin) };
}
