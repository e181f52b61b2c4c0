// The program under test as a child process, with the tee on both of its pipes, and
// the clients that drive it: the official ones of both versions, the old one, and a
// raw one that writes what it likes.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import * as acp2 from "@agentclientprotocol/sdk/experimental/v2";
import * as old from "@zed-industries/agent-client-protocol";
import { Tee } from "./tee.mjs";

export class Agent {
  constructor(bin, env, { version = 1, unstable = false, args = ["acp"] } = {}) {
    this.updates = [];   // {raw, update, sessionId, at} of session/update, in order
    this.questions = []; // what was asked, in order
    this.answer = () => "allow";
    this.messages = 0;   // of both directions
    this.tee = new Tee({ version, unstable, log: (way, raw, m) => this.saw(way, raw, m) });
    this.child = spawn(bin, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    this.child.stdin.on("error", () => {}); // the process was killed
    this.stderr = "";
    this.noise = undefined; // the lines that may stand there, a pattern
    this.child.stderr.on("data", (b) => { this.stderr += b; });
    this.exit = new Promise((done) => this.child.on("exit", (code, signal) => done({ code, signal })));
  }

  saw(way, raw, m) {
    this.messages++;
    if (way === "in" && m.method === "session/update") this.updates.push({ raw, update: m.params.update, sessionId: m.params.sessionId, at: this.messages });
  }

  // take returns the updates since the last time.
  take() { return this.updates.splice(0); }

  // peak is the most memory that the process has had, in MiB; null where that cannot be read.
  peak() { return memory(this.child.pid, "VmHWM"); }
  resident() { return memory(this.child.pid, "VmRSS"); }

  async kill() {
    this.child.kill("SIGKILL");
    return this.exit;
  }

  // end closes the input, as an editor does that is closed.
  async end(ms = 5000) {
    this.child.stdin.end();
    const how = await within(ms, this.exit);
    if (how === undefined) this.child.kill("SIGKILL");
    return how ?? { code: "late" };
  }

  // streams are the pipes as the clients of the SDKs want them, past the tee.
  streams() {
    const output = new TransformStream({ transform: (b, c) => { this.tee.take("out", b); c.enqueue(b); } });
    output.readable.pipeTo(Writable.toWeb(this.child.stdin)).catch(() => {}); // the process was killed
    const input = Readable.toWeb(this.child.stdout).pipeThrough(new TransformStream({
      transform: (b, c) => { this.tee.take("in", b); c.enqueue(b); }, flush: () => this.tee.end("in"),
    }));
    return [output.writable, input];
  }
}

function memory(pid, field) {
  try {
    return Math.round(Number(new RegExp(`${field}:\\s*(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 102.4) / 10;
  } catch { return null; } // no such file outside Linux, or the process is gone
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// within is undefined when p takes longer.
export function within(ms, p) {
  let timer;
  const late = new Promise((done) => { timer = setTimeout(done, ms); });
  return Promise.race([p, late]).finally(() => clearTimeout(timer));
}

// Peer is the official client for version 1.
export class Peer extends Agent {
  constructor(bin, env, capabilities = {}, options = {}) {
    super(bin, env, options);
    this.capabilities = capabilities;
    this.connection = acp.client({ name: "e2e" })
      .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
        this.questions.push(params);
        return { outcome: { outcome: "selected", optionId: this.answer(params) } };
      })
      .onNotification(acp.methods.client.session.update, () => {})
      .connect(acp.ndJsonStream(...this.streams()));
  }

  request(method, p) { return this.connection.agent.request(method, p); }
  notify(method, p) { return this.connection.agent.notify(method, p); }

  initialize() {
    return this.request("initialize", { protocolVersion: 1, clientInfo: { name: "tote-e2e", version: "1" }, clientCapabilities: this.capabilities });
  }
}

// Peer2 is the official client for version 2.
export class Peer2 extends Agent {
  constructor(bin, env, capabilities = {}, options = {}) {
    super(bin, env, { version: 2, ...options });
    this.capabilities = capabilities;
    this.seen = []; // the updates that the client let through
    this.connection = acp2.client({ name: "e2e" })
      .onRequest(acp2.methods.client.session.requestPermission, ({ params }) => {
        this.questions.push(params);
        const answer = this.answer(params);
        return { outcome: typeof answer === "string" ? { outcome: "selected", optionId: answer } : answer };
      })
      .onNotification(acp2.methods.client.session.update, ({ params }) => { this.seen.push(params.update); })
      .connect(acp2.ndJsonStream(...this.streams()));
  }

  request(method, p) { return this.connection.agent.request(method, p); }
  notify(method, p) { return this.connection.agent.notify(method, p); }

  initialize(protocolVersion = 2) {
    return this.request("initialize", { protocolVersion, info: { name: "tote-e2e", version: "1" }, capabilities: this.capabilities });
  }
}

// The old client writes what it does not know on the console. It is meant to drop it.
const complain = console.error;
console.error = (what, ...more) => { if (what !== "Error handling notification") complain(what, ...more); };

// Old is the client from before the official one, which knows less.
export class Old extends Agent {
  constructor(bin, env, options = {}) {
    super(bin, env, options);
    this.seen = [];
    this.connection = new old.ClientSideConnection(() => ({
      requestPermission: async (params) => {
        this.questions.push(params);
        return { outcome: { outcome: "selected", optionId: this.answer(params) } };
      },
      sessionUpdate: async ({ update }) => { this.seen.push(update); },
    }), old.ndJsonStream(...this.streams()));
  }
}

// Raw writes lines, or parts of lines, as a scenario wants them. It answers the
// questions of the agent as the official clients here do.
export class Raw extends Agent {
  constructor(bin, env, options = {}) {
    super(bin, env, options);
    this.all = [];        // every message of the agent, in order
    this.waiting = new Map();
    this.watchers = new Set();
    this.count = 0;
    this.manual = false;  // whether the scenario answers the agent's requests itself
    this.child.stdout.on("data", (b) => this.tee.take("in", b));
    this.child.stdout.on("end", () => { this.tee.end("in"); for (const done of this.waiting.values()) done({ gone: true }); });
  }

  saw(way, raw, m) {
    super.saw(way, raw, m);
    if (way !== "in") return;
    this.all.push(m);
    if (m.method === undefined) {
      const key = JSON.stringify(m.id);
      this.waiting.get(key)?.(m);
      this.waiting.delete(key);
    } else if (m.id !== undefined && m.method !== "session/request_permission") {
      this.send({ jsonrpc: "2.0", id: m.id, ...this.served(m) });
    } else if (m.id !== undefined) {
      this.questions.push(m.params);
      if (!this.manual) this.send({ jsonrpc: "2.0", id: m.id, result: { outcome: { outcome: "selected", optionId: this.answer(m.params) } } });
    }
    for (const w of this.watchers) w();
  }

  // serve answers what the agent asks beside permission; undefined for what it does not.
  serve() { return undefined; }

  served({ method, params }) {
    const result = this.serve(method, params);
    return result === undefined ? { error: { code: -32601, message: `no method ${method}` } } : { result };
  }

  // write sends bytes; it resolves when they may be followed by more.
  write(bytes) {
    const b = typeof bytes === "string" ? Buffer.from(bytes, "utf8") : bytes;
    this.tee.take("out", b);
    return new Promise((done) => {
      if (this.child.stdin.write(b)) done();
      else Promise.race([new Promise((go) => this.child.stdin.once("drain", go)), this.exit]).then(() => done());
    });
  }

  send(message) { return this.write(`${JSON.stringify(message)}\n`); }

  // reply is the message that answers id, {gone} when the agent ends first.
  reply(id) { return new Promise((done) => this.waiting.set(JSON.stringify(id), done)); }

  async request(method, params, id = `r${++this.count}`) {
    const reply = this.reply(id);
    await this.send({ jsonrpc: "2.0", id, method, params });
    return reply;
  }

  notify(method, params) { return this.send({ jsonrpc: "2.0", method, params }); }

  initialize(params = {}) {
    return this.request("initialize", { protocolVersion: 1, clientCapabilities: {}, ...params });
  }

  // session opens one and returns its id.
  async session(cwd, more = {}) {
    const { result, error } = await this.request("session/new", { cwd, mcpServers: [], ...more });
    if (error) throw new Error(`session/new: ${error.message}`);
    return result.sessionId;
  }

  prompt(sessionId, ...blocks) {
    return this.request("session/prompt", { sessionId, prompt: blocks.map((b) => (typeof b === "string" ? { type: "text", text: b } : b)) });
  }

  // until waits for a message of the agent, the first behind from that is good, or for
  // anything else that is true after one.
  async until(good, ms = 10_000, from = 0) {
    const found = () => this.all.slice(from).find((m) => good(m));
    if (found()) return found();
    let watch;
    const come = new Promise((done) => { watch = () => { if (found()) done(found()); }; this.watchers.add(watch); });
    return within(ms, come).finally(() => this.watchers.delete(watch));
  }
}
