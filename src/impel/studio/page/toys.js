// Wind-up toys: a search whose palette fills up with moving pictures, and sliders for the poses of the one that is picked.

import { make, get } from "./make.js";
import { Newest } from "./link.js";
import { offering } from "./menu.js";
import { chart } from "./plots.js";

const SWING = 30; // degrees to both sides, in which an angle is varied
const PAUSE = 300; // ms after the last change, until it is looked how the toy settles

export class Toys {
  constructor(dialog, ask, notice) {
    Object.assign(this, { dialog, ask, notice, cards: [] });
    this.change = new Newest((fields) => ask("toy_change", fields).catch(() => {}));
  }

  async open() {
    const { figures } = await this.ask("figures");
    this.progress = make("progress", { max: 1, value: 0, "aria-label": "Search" });
    this.words = make("p", { textContent: "Pick a figure and let it find out how it could move." });
    this.figure = make("select", { id: "toy-figure" }, ...figures.map((name) => make("option", { value: name, textContent: name })));
    this.evaluations = make("input", { id: "toy-evaluations", type: "number", value: 1000, min: 50, max: 20000, step: 50 });
    this.seed = make("input", { id: "toy-seed", type: "number", value: 0, min: 0 });
    this.board = make("div", { className: "cards" });
    this.sliders = make("div", { id: "toy-sliders" });
    this.dialog.replaceChildren(
      make("button", { className: "close", textContent: "Close", onclick: () => this.dialog.close() }),
      make("h1", { textContent: "Wind-up toys" }), this.words,
      make("div", { className: "ask" },
        make("label", { htmlFor: "toy-figure", textContent: "Figure " }, this.figure),
        make("label", { htmlFor: "toy-evaluations", textContent: "Evaluations " }, this.evaluations),
        make("label", { htmlFor: "toy-seed", textContent: "Seed " }, this.seed),
        make("button", { id: "toy-search", textContent: "Search", onclick: () => this.search() }),
        make("button", { textContent: "Stop", onclick: () => this.ask("toy_stop") })),
      this.progress, this.board, this.sliders);
    this.draw_cards();
    this.dialog.showModal();
  }

  search() {
    this.words.textContent = "Searching; the first run of a figure compiles it for a few seconds.";
    this.progress.removeAttribute("value");
    this.ask("search", { figure: this.figure.value, evaluations: Number(this.evaluations.value), seed: Number(this.seed.value) }).catch((lines) => {
      this.words.textContent = lines.join(" ");
      this.progress.value = 0;
    });
  }

  searched({ done, of, best, verifying }) {
    if (!this.progress) return;
    this.progress.value = done / of;
    this.words.textContent = verifying ? `Running the best on for 20 s: ${done} of ${of}` : `${done} of ${of} tried, best ${best.toFixed(2)}`;
  }

  palette({ figure, toys, ended }) {
    this.cards = toys;
    if (!this.board) return;
    this.words.textContent = toys.length ? `${toys.length} ${toys.length === 1 ? "way" : "ways"} to move a ${figure}${ended ? "." : ", so far."}` : `Nothing kept it up for 20 s${ended ? "; try more evaluations." : " so far."}`;
    if (ended) this.progress.value = 1;
    this.draw_cards();
  }

  draw_cards() {
    const canvases = this.cards.map((toy, number) => {
      const canvas = make("canvas", { width: 320, height: 180 });
      return [toy, canvas, make("button", { className: "card", onclick: () => { this.dialog.close(); this.ask("toy_pick", { number }); } }, canvas, make("strong", { textContent: `${toy.distance.toFixed(2)} m in 20 s` }))];
    });
    this.board.replaceChildren(...canvases.map(([, , card]) => card));
    clearInterval(this.timer);
    const began = performance.now();
    this.timer = setInterval(() => {
      if (!this.dialog.open) { clearInterval(this.timer); return; }
      for (const [toy, canvas] of canvases) draw(canvas, toy, ((performance.now() - began) / 1000) % (toy.parts[0].way.length / toy.fps));
    }, 33);
  }

  // The toy that is on the stage: a slider for each angle and time, and beside them how its motion repeats.
  show({ figure, poses, times, ranges }, element) {
    const slider = (label, value, low, high, fields) => {
      const said = (to) => ("joint" in fields ? `${to.toFixed(1)}°` : `${to.toFixed(3)} s`), shown = make("output", { className: "unset", textContent: said(value) });
      const range = make("input", { type: "range", min: low, max: high, step: (high - low) / 1000, value, "aria-label": label });
      range.addEventListener("input", () => { shown.textContent = said(Number(range.value)); this.change.wish({ ...fields, value: Number(range.value) }); });
      return make("div", { className: "field" }, make("label", {}, label.replaceAll("_", " "), shown), make("div", { className: "row" }, range));
    };
    const about = (value, by, [low, high]) => [Math.max(low, value - by), Math.min(high, value + by)];
    this.numbers = poses.flatMap((pose, k) => [
      ...Object.entries(pose).map(([joint, angle]) => ({ parameter: `poses.${k}.${joint}`, text: `${joint.replaceAll("_", " ")} in pose ${k + 1} (°)`, value: angle, span: about(angle, SWING, ranges[joint]) })),
      { parameter: `times.${k}`, text: `how long pose ${k + 1} lasts (s)`, value: times[k], span: [0.5 * times[k], 1.5 * times[k]] }]);
    this.charts = new Map(["phase", "bifurcation"].map((kind) => [kind, make("canvas", { className: "chart", role: "img", "aria-label": { phase: "Phase plot", bifurcation: "Bifurcation plot" }[kind], hidden: true })]));
    this.title = make("p", { role: "status", textContent: "How it settles …" });
    this.spread = make("p", { role: "status", hidden: true });
    element.replaceChildren(make("h1", { textContent: figure.replaceAll("_", " ") }), make("p", { textContent: "It goes through these poses, round and round." }),
      make("div", { className: "ask" }, make("button", { textContent: "Back to the scene", onclick: () => this.ask("show") })),
      make("fieldset", { id: "toy-plots" }, make("legend", { textContent: "How it repeats" }), this.title, this.charts.get("phase"),
        make("div", { className: "ask" }, offering(make("button", { id: "toy-vary", textContent: "Vary …", title: "How its motion depends on one of its numbers" }), () => this.numbers.map((number) => [number.text, () => this.vary(number)]))),
        this.spread, this.charts.get("bifurcation")),
      ...poses.map((pose, k) => make("fieldset", {}, make("legend", { textContent: `Pose ${k + 1}` }),
        ...Object.entries(pose).map(([joint, angle]) => slider(joint, angle, ...ranges[joint], { pose: k, joint })),
        slider("lasts", times[k], 0.02, Math.max(1, 2 * times[k]), { time: k }))));
  }

  // It runs now with these numbers.
  tell({ poses, times }) {
    for (const number of this.numbers) {
      const [kind, k, joint] = number.parameter.split(".");
      number.value = kind === "times" ? times[k] : poses[k][joint];
    }
    this.draw_plots();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.ask("toy_plot", { kind: "phase" }).catch(() => {}), PAUSE);
  }

  vary({ parameter, text, span: [low, high] }) {
    this.spread.hidden = false;
    this.spread.textContent = `Varying ${text} …`;
    this.ask("toy_plot", { kind: "bifurcation", parameter, low, high }).catch(() => {});
  }

  plot(message) {
    if (!this.charts) return;
    this.plots = { ...this.plots, [message.kind]: message };
    if (message.kind === "phase") this.title.textContent = message.title === "period 1" ? "Every cycle is like the one before (period 1)." : `Settled: ${message.title}.`;
    else this.spread.textContent = `${this.number(message).text}: ${message.title}`;
    this.charts.get(message.kind).hidden = !(message.line ?? message.points).length;
    this.draw_plots();
  }

  number({ labels: [parameter] }) { return this.numbers.find((number) => number.parameter === parameter); }

  draw_plots() {
    for (const [kind, canvas] of this.charts ?? []) {
      const message = this.plots?.[kind];
      if (!message || canvas.hidden) continue;
      const number = kind === "bifurcation" ? this.number(message) : null;
      chart(canvas, number ? { ...message, labels: [number.text, message.labels[1]], at: number.value } : message);
    }
  }
}

// A frame of a toy's outlines, seen from the side, the camera going along.
function draw(canvas, { parts, fps }, seconds) {
  const pen = canvas.getContext("2d"), frame = Math.min(Math.floor(seconds * fps), parts[0].way.length - 1);
  const size = Math.max(...parts.map(({ outline }) => Math.max(...outline.map(([x, z]) => Math.hypot(x, z))))) * 2 + 0.05;
  const reach = Math.max(...parts.map(({ way }) => way[0][1])) + 0.5 * size, scale = canvas.height / (1.6 * reach);
  const middle = parts[0].way[frame][0];
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.setTransform(scale, 0, 0, -scale, canvas.width / 2 - scale * middle, 0.9 * canvas.height);
  pen.fillStyle = "#8886";
  pen.fillRect(middle - 100, -100, 200, 100);
  for (let x = Math.floor(middle / 0.1) * 0.1 - 3; x < middle + 3; x += 0.1) pen.fillRect(x, -0.02, 0.01, 0.02); // the ground goes by
  for (const { color, outline, way } of parts) {
    const [x, z, angle] = way[frame];
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    pen.beginPath();
    for (const [u, w] of outline) pen.lineTo(x + c * u + s * w, z - s * u + c * w);
    pen.closePath();
    pen.fillStyle = color;
    pen.fill();
  }
}
