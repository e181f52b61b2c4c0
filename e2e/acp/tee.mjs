// A tee between a client and an agent. It keeps every line as it stands and holds
// each message of both directions against the published schema: parameters by their
// method, results by the method of their request. What has no schema is a fault.
// A scenario that sends something invalid on purpose declares it.
import { protocol } from "./schema.mjs";

// maxLine is what is kept of a line: of an agent what the official client takes, below
// which it has to stay; of a client what the program takes.
const maxLine = { in: 32 << 20, out: 64 << 20 };
const other = { out: "in", in: "out" };
const server = { out: "agent", in: "client" }; // who serves what goes that way

export class Tee {
  // log is told of each line, in order: (way, line, message).
  constructor({ version = 1, unstable = false, log = () => {} } = {}) {
    this.protocol = protocol(version, { unstable });
    this.log = log;
    this.faults = [];   // what broke the protocol, in words
    this.declared = []; // {pattern, why, count}: what a scenario breaks on purpose
    this.lines = { out: [], in: [] };
    this.calls = { out: new Map(), in: new Map() }; // open requests: method by id
    this.left = { out: { parts: [], size: 0 }, in: { parts: [], size: 0 } };
    this.checked = 0;
    this.kept = true; // whether lines are kept
  }

  // declare says that faults like pattern are the scenario's own doing: so many of
  // them, or any number but none.
  declare(pattern, count = 0) { this.declared.push({ pattern, count, seen: 0 }); }

  // tolerate is declare for what need not happen.
  tolerate(pattern) { this.declared.push({ pattern, count: -1, seen: 0 }); }

  // rest are the faults that were not declared, and the declared that did not happen.
  rest() {
    const out = [];
    for (const d of this.declared) d.seen = 0;
    for (const f of this.faults) {
      const d = this.declared.find((x) => x.pattern.test(f));
      if (d) d.seen++; else out.push(f);
    }
    for (const d of this.declared) {
      if (d.count >= 0 && (d.count ? d.seen !== d.count : d.seen === 0)) out.push(`declared ${d.pattern} ${d.count || "some"} times, seen ${d.seen} times`);
    }
    return out;
  }

  // take is given bytes as they go by.
  take(way, bytes) {
    const left = this.left[way];
    let rest = Buffer.from(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength ?? bytes.length);
    for (let i; (i = rest.indexOf(10)) >= 0; rest = rest.subarray(i + 1)) {
      const size = left.size + i;
      const line = size > maxLine[way] ? null : Buffer.concat([...left.parts, rest.subarray(0, i)]);
      left.parts = [];
      left.size = 0;
      if (line === null) this.fault(way, `a line over ${maxLine[way] >> 20} MiB`);
      else this.line(way, line);
    }
    left.size += rest.length;
    if (left.size > maxLine[way]) left.parts = [];
    else if (rest.length > 0) left.parts.push(Buffer.from(rest));
  }

  // end tells that a direction is over.
  end(way) {
    if (this.left[way].size > 0) this.fault(way, "the last line has no end");
  }

  fault(way, what) { this.faults.push(`${way}: ${what}`); }

  line(way, bytes) {
    const text = bytes.toString("utf8");
    if (!Buffer.from(text, "utf8").equals(bytes)) this.fault(way, "not UTF-8");
    if (this.kept) this.lines[way].push(text);
    let m;
    try { m = JSON.parse(text); } catch { this.fault(way, `no JSON: ${text.slice(0, 80)}`); return; }
    this.checked++;
    this.message(way, m);
    this.log(way, text, m);
  }

  message(way, m) {
    if (m === null || typeof m !== "object" || Array.isArray(m)) { this.fault(way, "no object"); return; }
    if (m.jsonrpc !== "2.0") this.fault(way, "no jsonrpc version");
    const roots = Object.keys(m).filter((k) => !["jsonrpc", "id", "method", "params", "result", "error"].includes(k));
    if (roots.length > 0) this.fault(way, `unknown member ${roots[0]} of a message`);
    if (m.method !== undefined) this.call(way, m);
    else this.reply(way, m);
  }

  call(way, m) {
    if (typeof m.method !== "string") { this.fault(way, "a method that is no string"); return; }
    if (m.result !== undefined || m.error !== undefined) this.fault(way, `${m.method}: a call with a result`);
    const known = this.protocol.of(server[way], m.method);
    if (m.id !== undefined) {
      const key = JSON.stringify(m.id);
      if (!["string", "number"].includes(typeof m.id)) this.fault(way, `${m.method}: an id of type ${m.id === null ? "null" : typeof m.id}`);
      if (this.calls[way].has(key)) this.fault(way, `${m.method}: the id ${key} is in use`);
      this.calls[way].set(key, m.method);
    }
    if (m.method.startsWith("_")) return; // of one's own
    const check = m.id === undefined ? known?.notification : known?.request;
    if (!check) { this.fault(way, `${m.method}: not in the schema as a ${m.id === undefined ? "notification" : "request"}`); return; }
    this.validate(way, m.method, check, m.params);
    if (m.method === "session/update" && way === "in") this.update(m.params?.update);
  }

  update(u) {
    if (!this.protocol.updates.has(u?.sessionUpdate)) { this.fault("in", `session/update: ${u?.sessionUpdate}: not in the schema`); return; }
    // What the user said is the client's own: it comes back as it was sent.
    const own = u.sessionUpdate.startsWith("user_message");
    const shown = own && u.content ? { ...u, content: Array.isArray(u.content) ? [] : { type: "text", text: "" } } : u;
    this.strictly(`session/update ${u.sessionUpdate}`, this.protocol.update, shown);
    if (own) return;
    for (const b of [u.content].flat()) {
      const block = b?.type === "content" ? b.content : b;
      if (["text", "image", "audio", "resource", "resource_link"].includes(block?.type)) this.strictly(`session/update ${u.sessionUpdate} ${block.type}`, this.protocol.block, block);
    }
  }

  reply(way, m) {
    const key = JSON.stringify(m.id);
    if ((m.result === undefined) === (m.error === undefined)) { this.fault(way, `${key}: not one of result and error`); return; }
    const method = this.calls[other[way]].get(key);
    this.calls[other[way]].delete(key);
    if (m.error) {
      if (!this.protocol.error(m.error) || !Number.isInteger(m.error.code)) this.fault(way, `${method}: an error of the wrong shape`);
      if (!m.error.message || /[\r\n]/.test(m.error.message)) this.fault(way, `${method}: the message of an error is empty or has several lines`);
      if (method === undefined && m.id !== null) this.fault(way, `an error for ${key}, which is no open request`);
      return;
    }
    if (method === undefined) { this.fault(way, `a result for ${key}, which is no open request`); return; }
    if (method.startsWith("_")) return;
    const check = this.protocol.of(server[other[way]], method)?.result;
    if (!check) { this.fault(way, `reply to ${method}: not in the schema`); return; }
    this.validate(way, `reply to ${method}`, check, m.result);
  }

  validate(way, what, check, value) {
    const { lax, strict } = check;
    if (!lax(value)) { this.fault(way, `${what}: ${lax.errors[0].instancePath} ${lax.errors[0].message}`); return; }
    if (way === "in" && what !== "session/update") this.strictly(what, strict, value);
    else if (way === "in") this.strictly(what, strict, { ...value, update: { sessionUpdate: "session_info_update" } });
  }

  strictly(what, check, value) {
    if (check(value)) return;
    const e = check.errors.at(-1);
    this.fault("in", `${what}: ${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`);
  }
}
