// Channels of the take over time, with the cursor.

import { make } from "./make.js";

const SHOWN = 6;
const LEFT = 52, RIGHT = 8;

export class Plots {
  constructor(element, fetch_channel, go_to) {
    this.element = element;
    this.go_to = go_to; // (frame)
    this.fetch_channel = fetch_channel;
    this.wanted = [];
    this.values = new Map();
    this.frame = 0;
  }

  async tell(take) {
    this.take = take;
    if (!this.chosen) this.wanted = take.channels.filter((name) => /\.(distance|force|torque)$/.test(name)).slice(0, 3);
    if (!this.wanted.length) this.wanted = take.channels.slice(0, 1);
    this.wanted = this.wanted.filter((name) => take.channels.includes(name));
    if (this.element.hidden) { this.stale = true; return; }
    await this.fill();
  }

  async fill() {
    this.stale = false;
    const take = this.take;
    if (!take) return;
    this.values.clear();
    for (const name of this.wanted) {
      try { this.values.set(name, (await this.fetch_channel(name)).values); } catch { return; }
      if (take !== this.take) return;
    }
    this.lay_out();
  }

  lay_out() {
    const pick = make("select", { "aria-label": "Add a channel", onchange: (e) => { this.chosen = true; this.wanted = [...this.wanted, e.target.value].slice(-SHOWN); this.fill(); } },
      make("option", { textContent: "Add a channel …", value: "" }),
      ...this.take.channels.filter((name) => !this.wanted.includes(name)).map((name) => make("option", { value: name, textContent: name })));
    this.canvases = this.wanted.map((name) => [name, this.canvas(name)]);
    this.element.replaceChildren(pick, ...this.canvases.flatMap(([name, canvas]) => [
      make("div", { className: "row" }, make("strong", { textContent: name }), " ", make("button", { className: "reset", textContent: "×", title: "Take it away", "aria-label": `Take ${name} away`, onclick: () => { this.chosen = true; this.wanted = this.wanted.filter((other) => other !== name); this.lay_out(); } })), canvas]));
    this.at(this.frame);
  }

  // Pointed at, it goes to that moment.
  canvas(name) {
    const canvas = make("canvas", { role: "img", "aria-label": `${name} over time` });
    const go = (event) => { if (event.buttons & 1) this.go_to(Math.round(((event.offsetX - LEFT) / (canvas.clientWidth - LEFT - RIGHT)) * ((this.values.get(name)?.length ?? 1) - 1))); };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); go(event); });
    canvas.addEventListener("pointermove", go);
    return canvas;
  }

  at(frame) {
    this.frame = frame;
    if (this.element.hidden || !this.canvases) return;
    if (this.stale) { this.fill(); return; }
    for (const [name, canvas] of this.canvases) draw(canvas, this.values.get(name) ?? [], frame, this.take.fps);
  }
}

function draw(canvas, values, frame, fps) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = width * ratio; canvas.height = height * ratio;
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name);
  pen.scale(ratio, ratio);
  if (values.length < 2) return;
  let low = Infinity, high = -Infinity;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  if (high - low < 1e-12) { low -= 0.5; high += 0.5; }
  const x = (k) => LEFT + ((width - LEFT - RIGHT) * k) / (values.length - 1), y = (value) => 8 + (height - 24) * (1 - (value - low) / (high - low));
  pen.font = "12px system-ui, \"DejaVu Sans\", sans-serif";
  pen.fillStyle = color("--soft");
  pen.textAlign = "right";
  pen.fillText(figure(high, high - low), LEFT - 5, 14);
  pen.fillText(figure(low, high - low), LEFT - 5, height - 14);
  pen.strokeStyle = color("--line");
  pen.strokeRect(LEFT, 8, width - LEFT - RIGHT, height - 24);
  pen.strokeStyle = color("--key");
  pen.lineWidth = 1.5;
  pen.beginPath();
  const stride = Math.max(1, Math.floor(values.length / (2 * width)));
  for (let k = 0; k < values.length; k += stride) pen.lineTo(x(k), y(values[k]));
  pen.stroke();
  const now = Math.min(frame, values.length - 1);
  pen.fillStyle = color("--accent");
  pen.fillRect(x(now) - 0.5, 8, 1, height - 24);
  pen.beginPath();
  pen.arc(x(now), y(values[now]), 3.5, 0, 7);
  pen.fill();
  pen.textAlign = x(now) > width / 2 ? "right" : "left";
  pen.fillText(`${figure(values[now], (high - low) / 10)} at ${(now / fps).toFixed(2)} s`, x(now) + (x(now) > width / 2 ? -6 : 6), height - 4);
}

// A number with as many digits as matter in its range.
function figure(value, range) {
  const digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.max(range, 1e-9)))));
  return Math.abs(value) >= 1e5 ? value.toExponential(2) : value.toFixed(digits);
}

// Points of a plane, joined by a line or not, between axes with figures; `at`: a value that is marked.
export function chart(canvas, { labels, line = [], points = [], at }) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight, top = 22, bottom = height - 36;
  canvas.width = width * ratio; canvas.height = height * ratio;
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name);
  pen.scale(ratio, ratio);
  pen.font = "12px system-ui, \"DejaVu Sans\", sans-serif";
  const all = [...line, ...points], span = (k) => {
    let low = Infinity, high = -Infinity;
    for (const place of all) { low = Math.min(low, place[k]); high = Math.max(high, place[k]); }
    const margin = 0.04 * (high - low) || 0.5;
    return [low - margin, high + margin];
  };
  const [x0, x1] = span(0), [y0, y1] = span(1);
  const x = (value) => LEFT + ((width - LEFT - RIGHT) * (value - x0)) / (x1 - x0), y = (value) => bottom - ((bottom - top) * (value - y0)) / (y1 - y0);
  pen.strokeStyle = color("--line");
  pen.fillStyle = color("--soft");
  pen.textAlign = "center";
  for (const value of ticks(x0, x1)) { pen.strokeRect(x(value), top, 0, bottom - top); pen.fillText(figure(value, 10 * (x1 - x0)), x(value), bottom + 14); }
  pen.textAlign = "right";
  for (const value of ticks(y0, y1)) { pen.strokeRect(LEFT, y(value), width - LEFT - RIGHT, 0); pen.fillText(figure(value, 10 * (y1 - y0)), LEFT - 5, y(value) + 4); }
  pen.textAlign = "left";
  pen.fillText(labels[1], 4, 13, width - 8);
  pen.textAlign = "right";
  pen.fillText(labels[0], width - RIGHT, height - 5, width - LEFT - RIGHT);
  if (at >= x0 && at <= x1) { pen.fillStyle = color("--accent"); pen.fillRect(x(at) - 0.75, top, 1.5, bottom - top); }
  pen.strokeStyle = pen.fillStyle = color("--key");
  pen.lineWidth = 1.2;
  pen.beginPath();
  for (const place of line) pen.lineTo(x(place[0]), y(place[1]));
  pen.stroke();
  if (line.length) pen.fillStyle = color("--accent"); // where each cycle begins
  const size = line.length ? 5 : 1.6;
  for (const place of points) pen.fillRect(x(place[0]) - size / 2, y(place[1]) - size / 2, size, size);
}

// A few round values in a range.
function ticks(low, high) {
  const rough = (high - low) / 4, ten = 10 ** Math.floor(Math.log10(rough)), step = ten * [1, 2, 5, 10].find((factor) => factor * ten >= rough);
  return Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, k) => (Math.ceil(low / step) + k) * step);
}
