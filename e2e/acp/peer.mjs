// The official client on a child process, with a tap on both directions that keeps
// every line as it stands and checks it against the published schema.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import * as acp from "@agentclientprotocol/sdk";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

// The entry point is dist/v1/stable/acp.js; the schema lies beside dist.
const schema = JSON.parse(readFileSync(new URL("../../../schema/v1/schema.json", import.meta.resolve("@agentclientprotocol/sdk"))));
const ajv = new Ajv2020({ strict: false, allErrors: false, allowUnionTypes: true });
addFormats(ajv);
for (const [name, bits] of [["uint16", 16], ["uint32", 32], ["uint64", 64], ["int64", 64], ["int32", 32]]) {
  ajv.addFormat(name, { type: "number", validate: (n) => Number.isInteger(n) && (name[0] !== "u" || n >= 0) && Math.abs(n) <= 2 ** bits });
}
ajv.addSchema({ ...schema, $id: "acp" });

// validators by method: of the parameters, and of the result.
const params = new Map(), results = new Map();
for (const [name, def] of Object.entries(schema.$defs)) {
  if (!def["x-method"]) continue;
  (name.endsWith("Response") ? results : params).set(def["x-method"], ajv.getSchema(`acp#/$defs/${name}`));
}

export class Peer {
  constructor(bin, env, capabilities) {
    this.faults = [];      // what broke the schema, in words
    this.out = [];         // lines to the agent
    this.in = [];          // lines from it
    this.updates = [];     // {raw, update} of session/update
    this.questions = [];   // what was asked, in order
    this.answer = () => "allow";
    this.calls = { out: new Map(), in: new Map() };
    this.child = spawn(bin, ["acp"], { env, stdio: ["pipe", "pipe", "pipe"] });
    this.stderr = "";
    this.child.stderr.on("data", (b) => { this.stderr += b; });
    this.exit = new Promise((done) => this.child.on("exit", (code, signal) => done({ code, signal })));
    const output = new TransformStream({ transform: (b, c) => { this.tap("out", b); c.enqueue(b); } });
    output.readable.pipeTo(Writable.toWeb(this.child.stdin)).catch(() => {}); // the process was killed
    const input = Readable.toWeb(this.child.stdout).pipeThrough(new TransformStream({ transform: (b, c) => { this.tap("in", b); c.enqueue(b); } }));
    this.stream = acp.ndJsonStream(output.writable, input);
    this.connection = acp.client({ name: "e2e" })
      .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
        this.questions.push(params);
        return { outcome: { outcome: "selected", optionId: this.answer(params) } };
      })
      .onNotification(acp.methods.client.session.update, () => {})
      .connect(this.stream);
    this.capabilities = capabilities;
  }

  pending = { out: [], in: [] };

  tap(way, bytes) {
    let rest = Buffer.from(bytes);
    for (let i; (i = rest.indexOf(10)) >= 0; rest = rest.subarray(i + 1)) {
      this.pending[way].push(rest.subarray(0, i));
      const line = Buffer.concat(this.pending[way]).toString("utf8");
      this.pending[way] = [];
      this[way].push(line);
      this.check(way, line);
    }
    if (rest.length > 0) this.pending[way].push(rest);
  }

  check(way, line) {
    let m;
    try { m = JSON.parse(line); } catch { this.faults.push(`${way}: no JSON: ${line.slice(0, 100)}`); return; }
    if (m.jsonrpc !== "2.0") this.faults.push(`${way}: no jsonrpc version`);
    const other = way === "out" ? "in" : "out";
    if (m.method) {
      if (m.id !== undefined) this.calls[way].set(m.id, m.method);
      this.validate(way, m.method, params.get(m.method), m.params);
    } else if (m.error) {
      this.calls[other].delete(m.id);
      if (!Number.isInteger(m.error.code) || typeof m.error.message !== "string") this.faults.push(`${way}: error of the wrong shape`);
    } else {
      const method = this.calls[other].get(m.id);
      this.calls[other].delete(m.id);
      this.validate(way, `reply to ${method}`, results.get(method), m.result);
    }
    if (way === "in" && m.method === "session/update") this.updates.push({ raw: line, update: m.params.update });
  }

  validate(way, what, check, value) {
    if (what.startsWith("$/")) return;
    if (!check) { this.faults.push(`${way}: ${what}: not in the schema`); return; }
    if (!check(value)) this.faults.push(`${way}: ${what}: ${check.errors[0].instancePath} ${check.errors[0].message}`);
  }

  request(method, p) { return this.connection.agent.request(method, p); }
  notify(method, p) { return this.connection.agent.notify(method, p); }

  initialize() {
    return this.request("initialize", { protocolVersion: 1, clientInfo: { name: "tote-e2e", version: "1" }, clientCapabilities: this.capabilities });
  }

  // take returns the updates since the last time.
  take() { return this.updates.splice(0); }

  async kill() {
    this.child.kill("SIGKILL");
    return this.exit;
  }

  // end closes the input, as an editor does that is closed.
  async end() {
    this.child.stdin.end();
    const late = new Promise((done) => setTimeout(() => done({ code: "late" }), 5000).unref());
    const how = await Promise.race([this.exit, late]);
    if (how.code === "late") this.child.kill("SIGKILL");
    return how;
  }
}

// chunkOf is the raw JSON of the content block in the line of a chunk.
export function chunkOf(line) {
  const at = line.indexOf('"content":') + '"content":'.length;
  return line.slice(at, line.length - 3);
}

export const here = fileURLToPath(new URL(".", import.meta.url));
