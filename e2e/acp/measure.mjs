// Measures the program named by TOTE_BIN as an editor finds it, and prints a table. It
// asserts nothing: the numbers depend on the machine. GO names the Go tool, which
// builds the empty program that starting is compared with.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker, isMainThread, parentPort } from "node:worker_threads";
import { Raw, sleep } from "./agent.mjs";
import { startBackend } from "./backend.mjs";
import * as pictures from "./pictures.mjs";
import { Rig, image, text } from "./rig.mjs";

// The backend has a thread of its own, so that neither side of the measurement waits
// for the other.
const now = () => performance.timeOrigin + performance.now();
if (!isMainThread) {
  const backend = await startBackend();
  backend.arrived = (size) => parentPort.postMessage({ at: now(), size });
  parentPort.postMessage({ url: backend.url });
}

function backendThread() {
  const worker = new Worker(new URL(import.meta.url));
  const backend = { requests: [], close: () => worker.terminate() };
  return new Promise((done) => worker.on("message", (m) => {
    if (m.url) done(Object.assign(backend, { url: m.url }));
    else backend.requests.push(m);
  }));
}

const bin = process.env.TOTE_BIN;
if (isMainThread && !bin) { console.error("set TOTE_BIN to the program"); process.exit(2); }
const times = 30;

const median = (xs) => [...xs].sort((a, b) => a - b)[Math.floor(xs.length / 2)];
const rows = [];
const row = (what, value, unit, note = "") => rows.push([what, value === null || value === undefined ? "?" : `${Math.round(value * 10) / 10} ${unit}`, note]);

// Nothing is checked against the schema here, so that the tee costs next to nothing.
class Bare extends Raw {
  constructor(...args) {
    super(...args);
    this.tee.line = (way, bytes) => { if (way === "in") this.saw(way, "", JSON.parse(bytes.toString("utf8"))); };
  }

  write(line) { return new Promise((done) => { this.child.stdin.write(line, done); }); }
}

// empty builds a program that does nothing.
function empty(dir) {
  writeFileSync(join(dir, "main.go"), "package main\n\nfunc main() {}\n");
  const out = join(dir, "empty");
  execFileSync(process.env.GO ?? "go", ["build", "-o", out, join(dir, "main.go")], { env: { ...process.env, CGO_ENABLED: "0", GO111MODULE: "off" } });
  return out;
}

// run is the time of a program that ends by itself.
function run(program, args, env) {
  const began = performance.now();
  const { status, error } = spawnSync(program, args, { env, stdio: "ignore" });
  if (error || status !== 0) throw error ?? new Error(`${program} ${args} ended with ${status}`);
  return performance.now() - began;
}

// handshake is the time from the start of the agent to the answer to initialize. The
// request is written at once, as editors do.
function handshake(env) {
  return new Promise((done, fail) => {
    const began = performance.now();
    const child = spawn(bin, ["acp"], { env, stdio: ["pipe", "pipe", "ignore"] });
    child.stdin.write('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n');
    child.stdout.once("data", () => {
      const took = performance.now() - began;
      child.once("exit", () => done(took));
      child.stdin.end();
    });
    child.once("error", fail);
  });
}

// send prompts and returns the time until the backend has the whole request, and
// until the prompt is answered.
async function send(t, c, sessionId, ...blocks) {
  const n = t.backend.requests.length;
  const line = `${JSON.stringify({ jsonrpc: "2.0", id: `s${n}`, method: "session/prompt", params: { sessionId, prompt: blocks.map((b) => (typeof b === "string" ? text(b) : b)) } })}\n`;
  const reply = c.reply(`s${n}`), began = now();
  await c.write(line);
  const { result } = await reply;
  if (result?.stopReason !== "end_turn") throw new Error(`a prompt ended with ${JSON.stringify(result)}`);
  return { out: t.backend.requests[n].at - began, all: now() - began, size: t.backend.requests[n].size };
}

async function open(t) {
  const c = t.start(new Bare(bin, t.env));
  await c.initialize();
  return c;
}

async function measure(t) {
  const go = empty(t.root);
  const pairs = { empty: [], version: [], hello: [] };
  run(go, []); run(bin, ["version"], t.env); await handshake(t.env); // to have them in the cache
  for (let i = 0; i < times; i++) { // in turn, so that a slow moment of the machine hits all
    pairs.empty.push(run(go, [], t.env));
    pairs.version.push(run(bin, ["version"], t.env));
    pairs.hello.push(await handshake(t.env));
  }
  row("empty Go program", median(pairs.empty), "ms", `start to end, median of ${times}`);
  row("tote version", median(pairs.version), "ms", `start to end, median of ${times}`);
  row("tote acp", median(pairs.hello), "ms", `start to initialize answered, median of ${times}`);

  let c = await open(t);
  await sleep(300);
  row("memory after initialize", c.resident(), "MiB", "resident");
  let began = performance.now();
  let sessionId = await c.session(t.project);
  row("session/new, the first", performance.now() - began, "ms");
  const news = [];
  for (let i = 0; i < times; i++) { began = performance.now(); sessionId = await c.session(t.project); news.push(performance.now() - began); }
  row("session/new", median(news), "ms", `median of ${times}`);
  row("text, the first prompt", (await send(t, c, sessionId, "hello")).out, "ms", "prompt to request out");
  await sleep(300);
  row("memory after a turn", c.resident(), "MiB", "resident");
  const texts = [], all = [];
  for (let i = 0; i < times; i++) { const s = await send(t, c, await c.session(t.project), "hello"); texts.push(s.out); all.push(s.all); }
  row("text", median(texts), "ms", `prompt to request out, median of ${times}`);
  row("text", median(all), "ms", `prompt to answer, median of ${times}`);
  await c.end();

  // A picture of the size of a screen photograph, prepared for the model.
  const big = pictures.png(3700, 2372);
  for (const [what, bytes, block] of [["PNG", big.length, image(big)], ["text block", 10 << 20, text("line of text\n".repeat((10 << 20) / 13 + 1).slice(0, 10 << 20))],
    ["resource", 10 << 20, { type: "resource", resource: { uri: "file:///big.bin", mimeType: "application/octet-stream", blob: Buffer.alloc(10 << 20, 7).toString("base64") } }]]) {
    const took = [], peaks = [];
    let size = 0;
    for (let i = 0; i < 5; i++) {
      c = await open(t);
      const id = await c.session(t.project);
      await send(t, c, id, "hello");
      const before = c.peak();
      const s = await send(t, c, id, "see", block);
      took.push(s.out);
      size = s.size;
      if (before !== null) peaks.push(c.peak() - before);
      await c.end();
    }
    const name = `${what} of ${(bytes / 1e6).toFixed(1)} MB`;
    row(name, median(took), "ms", "prompt to request out, a new process each, median of 5");
    row(name, peaks.length ? median(peaks) : null, "MiB", `added to the peak of memory; the request has ${(size / 1e6).toFixed(1)} MB`);
  }
}

async function main() {
  const rig = new Rig(bin, "measure");
  await rig.open();
  rig.backend.close();
  rig.backend = await backendThread();
  rig.configure({});
  try {
    await measure(rig);
  } finally {
    for (const a of rig.agents) if (a.child.exitCode === null) await a.kill();
    await rig.backend.close();
    rmSync(rig.root, { recursive: true, force: true });
  }
  const widths = [0, 1].map((i) => Math.max(...rows.map((r) => r[i].length)));
  for (const [what, value, note] of rows) console.log(`${what.padEnd(widths[0])}  ${value.padStart(widths[1])}  ${note}`);
}

if (isMainThread) await main();
