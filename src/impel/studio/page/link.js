// The socket: commands that are answered, words that are told, frames that are acknowledged when they were drawn.

export class Link {
  constructor({ told, rows, lost, found }) {
    this.told = told; this.rows = rows; this.lost = lost; this.found = found;
    this.number = 0; this.waiting = new Map(); this.delay = 250;
    this.due = 0; // the newest run that shows what was answered
    this.open();
  }

  open() {
    this.socket = new WebSocket(`ws://${location.host}/socket`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => { this.delay = 250; this.found(); };
    this.socket.onmessage = ({ data }) => {
      if (typeof data !== "string") return this.rows(data);
      const message = JSON.parse(data);
      if ("tell" in message) return this.told(message);
      const waiting = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      this.due = Math.max(this.due, message.ok?.run ?? 0);
      if (waiting) message.problems ? waiting.reject(message.problems) : waiting.resolve(message.ok);
    };
    this.socket.onclose = () => {
      for (const { reject } of this.waiting.values()) reject(["the connection was lost"]);
      this.waiting.clear();
      this.lost();
      setTimeout(() => this.open(), this.delay);
      this.delay = Math.min(2 * this.delay, 4000);
    };
  }

  // What a command answers; rejected with plain lines.
  ask(command, fields = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) return Promise.reject(["not connected: impel has ended"]);
    const id = ++this.number;
    this.socket.send(JSON.stringify({ id, do: command, ...fields }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  acknowledge() {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send('{"do":"ack"}');
  }
}

// Carries out the newest of many wishes, one at a time: what came while another was under way is left out.
export class Newest {
  constructor(work) { this.work = work; this.busy = false; this.next = null; }
  wish(...given) {
    if (this.busy) { this.next = given; return; }
    this.busy = true;
    Promise.resolve(this.work(...given)).catch(() => {}).finally(() => {
      this.busy = false;
      if (this.next) { const given = this.next; this.next = null; this.wish(...given); }
    });
  }
}
