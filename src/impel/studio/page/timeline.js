// Time from left to right: how far it is computed, a row for each actor with its keys, contacts and limits, appointments.

const ROW = 22, TOP = 28, LEFT = 110, RIGHT = 18;
const STILL = 3; // pixels that a hand may move and only click
const WORDS = {
  contact: "touches", passed: "passed by the target", reached: "reached", weak: "too weak", missed: "missed", limit: "at its limit",
  step: "a step", asked: "asked for; drag it", free: "no time was asked for; drag it to ask",
};

export class Timeline {
  constructor(canvas, listener) {
    this.canvas = canvas;
    this.listener = listener; // scrubbed(frame), moved(key, time), done(), picked(key)
    this.rows = [];
    this.frame = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      const key = this.key_at(event);
      this.held = { key, from: event.offsetX, off: key ? event.offsetX - this.x_of(key.time) : 0, moved: !key };
      this.follow(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.held) this.follow(event);
      else {
        canvas.style.cursor = this.key_at(event) ? "ew-resize" : "pointer";
        canvas.title = this.words_at(event);
      }
    });
    canvas.addEventListener("pointerup", () => {
      const { key, moved } = this.held ?? {};
      this.held = undefined;
      if (key) moved ? this.listener.done() : this.listener.picked(key);
    });
  }

  follow(event) {
    const { key, from, off } = this.held;
    this.held.moved ||= Math.abs(event.offsetX - from) > STILL;
    if (!this.held.moved) return;
    const seconds = this.seconds_at(event.offsetX - off);
    if (key) this.listener.moved(key, seconds);
    else this.listener.scrubbed(Math.round(seconds * this.take.fps));
  }

  // What there is to show: the take, the scene as it is written.
  tell(take, data) {
    this.take = take;
    this.data = data;
    const actors = Object.entries(data?.actors ?? {});
    this.rows = actors.map(([name, actor]) => ({ name, marks: this.marks(name, actor), timed: this.timed(name, actor) }));
    for (const name of Object.keys(data?.walkers ?? {})) this.rows.push({ name, marks: this.steps(name), timed: [] });
    const met = Object.keys(data?.appointments ?? {});
    if (met.length) this.rows.push({ name: "appointments", marks: this.kept(met), timed: [] });
    this.canvas.style.height = `${TOP + ROW * Math.max(this.rows.length, 1) + 10}px`;
    this.draw();
  }

  marks(name, actor) {
    return (this.take?.events ?? []).flatMap(({ time, kind, subject, details }) => {
      const own = [name, `${name}.move`, `${name}.turn`, `${name}.goals`].includes(subject) || subject?.startsWith?.(`${name} `);
      const touched = kind === "contact begins" && (subject === name || String(subject).includes(name) || Object.values(details ?? {}).includes(name));
      if (touched) return [{ time, kind: "contact", what: subject }];
      if (!own) return [];
      const what = details?.key === undefined ? subject : `${subject} ${details.key}`;
      if (kind === "key passed") return [{ time, kind: "passed", what }];
      if (kind === "goal missed") return [{ time, kind: "missed", what }];
      if (kind === "key reached" || kind === "goal met") return [{ time, kind: "reached", what }];
      if (kind === "strength saturated" || kind === "overloaded") return [{ time, kind: "weak" }];
      return kind === "joint limit" ? [{ time, kind: "limit" }] : [];
    });
  }

  steps(name) {
    return (this.take?.events ?? []).flatMap(({ time, kind, subject }) => (kind === "footfall" && subject.startsWith(`${name}.`) ? [{ time, kind: "step", what: subject }] : []));
  }

  kept() {
    return (this.take?.events ?? []).flatMap(({ time, kind, subject }) => (kind.startsWith("appointment") ? [{ time, what: subject, kind: kind === "appointment missed" ? "missed" : kind === "appointment kept" ? "reached" : "passed" }] : []));
  }

  timed(name, actor) {
    const keys = ["move", "turn"].flatMap((kind) => (actor[kind]?.keys ?? []).map((key, number) => [key, ["actors", name, kind, "keys", number]]));
    const goals = goals_of({ actors: { [name]: actor } }).map(({ goal, path }) => [goal, path]);
    return [...keys, ...goals].flatMap(([key, path]) => {
      if (typeof key.time === "number") return [{ path, time: key.time, until: held_until(key) }];
      const passed = (this.take?.events ?? []).find(({ kind, subject, details }) => kind === "key passed" && subject === `${name}.${path[2]}` && details?.key === path.at(-1));
      return passed ? [{ path, time: passed.time, until: passed.time, free: true }] : []; // the time that it took
    });
  }

  get seconds() { return this.take?.seconds || 1; }
  x_of(seconds) { return LEFT + ((this.canvas.clientWidth - LEFT - RIGHT) * seconds) / this.seconds; }
  seconds_at(x) { return Math.min(Math.max(((x - LEFT) / (this.canvas.clientWidth - LEFT - RIGHT)) * this.seconds, 0), this.seconds); }

  // Where a moment of someone is.
  place(name, seconds) { return [this.x_of(seconds), TOP + ROW * (this.rows.findIndex((row) => row.name === name) + 0.5)]; }

  key_at(event) {
    const row = this.rows[Math.floor((event.offsetY - TOP) / ROW)];
    return row?.timed.find((key) => Math.abs(this.x_of(key.time) - event.offsetX) < 6);
  }

  // What is near: for who wonders what a mark means.
  words_at(event) {
    const row = this.rows[Math.floor((event.offsetY - TOP) / ROW)];
    const near = [...(row?.timed ?? []).map(({ time, free }) => ({ time, kind: free ? "free" : "asked" })), ...(row?.marks ?? [])].filter(({ time }) => Math.abs(this.x_of(time) - event.offsetX) < 6);
    return near.map(({ time, kind, what }) => `${what ?? row.name}: ${WORDS[kind]}, ${time.toFixed(2)} s`).join("\n");
  }

  at(frame) {
    this.frame = frame;
    this.canvas.setAttribute("aria-valuenow", frame);
    this.canvas.setAttribute("aria-valuemax", Math.max((this.take?.frames ?? 1) - 1, 0));
    this.canvas.setAttribute("aria-valuetext", `${(frame / (this.take?.fps ?? 60)).toFixed(2)} seconds`);
    this.draw();
  }

  draw() {
    const { canvas, take } = this, ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (width === 0) return;
    if (canvas.width !== width * ratio || canvas.height !== height * ratio) { canvas.width = width * ratio; canvas.height = height * ratio; }
    const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (!take) return;
    pen.font = "13px system-ui, \"DejaVu Sans\", sans-serif";
    pen.fillStyle = color("--line");
    pen.fillRect(LEFT, 20, width - LEFT - RIGHT, 3);
    pen.fillStyle = color("--accent");
    pen.fillRect(LEFT, 20, this.x_of(Math.max(take.done - 1, 0) / take.fps) - LEFT, 3);
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300].find((s) => (s / this.seconds) * (width - LEFT - RIGHT) > 46) ?? 600;
    pen.textAlign = "center";
    for (let s = 0; s <= this.seconds + 1e-9; s += step) {
      pen.fillStyle = color("--soft");
      pen.fillText(`${Number(s.toFixed(2))}`, this.x_of(s), 14);
      pen.fillStyle = color("--line");
      pen.fillRect(this.x_of(s), TOP - 4, 1, height - TOP);
    }
    this.rows.forEach(({ name, marks, timed }) => {
      const [, y] = this.place(name, 0);
      pen.textAlign = "right";
      pen.fillStyle = color("--ink");
      pen.fillText(name, LEFT - 10, y + 4, LEFT - 14);
      pen.fillStyle = color("--line");
      pen.fillRect(LEFT, y, width - LEFT - RIGHT, 1);
      for (const key of timed) {
        if (key.free) continue;
        pen.fillStyle = color("--key");
        pen.fillRect(this.x_of(key.time), y - 3, Math.max(2, this.x_of(Math.min(key.until, this.seconds)) - this.x_of(key.time)), 6);
        pen.fillRect(this.x_of(key.time) - 2, y - 8, 4, 16);
      }
      for (const { time, kind } of marks) mark(pen, kind, this.x_of(time), y, color);
    });
    pen.fillStyle = color("--accent");
    const x = this.x_of(this.frame / take.fps);
    pen.fillRect(x - 0.75, 8, 1.5, height - 8);
    pen.beginPath();
    pen.moveTo(x - 6, 6); pen.lineTo(x + 6, 6); pen.lineTo(x, 15);
    pen.fill();
  }
}

// Goals of actors, which are written as a list or as a table with keys.
export function goals_of(data) {
  return Object.entries(data?.actors ?? {}).flatMap(([actor, { goals }]) => {
    const path = ["actors", actor, "goals", ...(Array.isArray(goals) ? [] : ["keys"])];
    return ((Array.isArray(goals) ? goals : goals?.keys) ?? []).map((goal, number) => ({ actor, goal, number, path: [...path, number] }));
  });
}

// A key is held for seconds, a goal until a time, an appointment or the end.
const held_until = ({ time, hold, until }) => (hold === true ? (typeof until === "number" ? until : Infinity) : time + (hold || 0));

function mark(pen, kind, x, y, color) {
  pen.beginPath();
  if (kind === "passed") { pen.strokeStyle = color("--key"); pen.lineWidth = 1.5; pen.arc(x, y, 4, 0, 7); pen.stroke(); return; }
  if (kind === "reached") { pen.fillStyle = color("--good"); pen.arc(x, y, 3, 0, 7); }
  if (kind === "contact") { pen.fillStyle = color("--accent"); pen.moveTo(x, y + 9); pen.lineTo(x - 3, y + 3); pen.lineTo(x + 3, y + 3); }
  if (kind === "limit" || kind === "step") { pen.fillStyle = color("--soft"); pen.rect(x - 1, y - 6, 2, 12); }
  if (kind === "weak" || kind === "missed") { pen.fillStyle = color("--bad"); pen.moveTo(x, y - 9); pen.lineTo(x - 4, y - 2); pen.lineTo(x + 4, y - 2); }
  pen.fill();
}
