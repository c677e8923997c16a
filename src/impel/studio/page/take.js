// The frames of a run, as they come: rows of float32, and what their columns mean.

const POSE = 7, AIM = 8, ROPE = 7;

export class Take {
  constructor(told, before) {
    Object.assign(this, told);
    this.width = POSE * this.names.length + AIM * this.actuators.length + ROPE * this.ropes.length;
    this.index = new Map(this.names.map((name, i) => [name, i]));
    this.done = 0;
    this.room = 0;
    this.data = new Float32Array(0);
    this.events = []; this.remarks = []; this.channels = []; this.ended = false;
    if (told.kept > 0 && before?.run === told.of && before.width === this.width && before.done >= told.kept) {
      this.makeRoom(told.kept);
      this.data.set(before.data.subarray(0, told.kept * this.width));
      this.done = told.kept;
    }
  }

  // Takes rows from a message; whether they are of this run.
  add(buffer) {
    const [, run, first, count, width] = new Uint32Array(buffer, 0, 8);
    if (run !== this.run || width !== this.width) return false;
    this.makeRoom(first + count);
    this.data.set(new Float32Array(buffer, 32, count * width), first * width);
    this.done = first + count;
    return true;
  }

  makeRoom(rows) {
    if (rows <= this.room) return;
    this.room = Math.max(rows, Math.min(this.frames, 2 * this.room + 64));
    const data = new Float32Array(this.room * this.width);
    data.set(this.data.subarray(0, this.done * this.width));
    this.data = data;
  }

  // How long it lasts; live, nobody knows.
  get seconds() { return this.live && !this.ended ? Math.max(10, (1.3 * this.done) / this.fps) : (this.frames - 1) / this.fps; }

  pose(frame, body) { return this.data.subarray(frame * this.width + POSE * body); }
  aim(frame, actuator) { return this.data.subarray(frame * this.width + POSE * this.names.length + AIM * actuator); }
  rope(frame, rope) {
    return this.data.subarray(frame * this.width + POSE * this.names.length + AIM * this.actuators.length + ROPE * rope);
  }
}
