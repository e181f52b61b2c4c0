// What agents of this protocol have got wrong, by what is known of their issues, each
// as a scenario or, where another file has it already, as a line that says where.
//
//  1 the message drawn twice: clients, "echo by client"
//  3 replay before the reply to load, none on resume: tck, "LOAD, RESUME"
//  6 a cancel that wedges the session: busy, "storms of cancelling"
//  7 updates after the reply of a cancelled prompt: tck, "CANCEL"
//  9 modes that are no option: tck, "MODES, CONFIG"
// 12 calls that were not negotiated: tck, "CLIENTCAP"
// 17 members and words of one's own: the tee, throughout
// 19 version 2: v2, "states" and "resume"
// 20 what is no approval: busy, "answers to a question"
import { createServer } from "node:http";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { hanging, textOf } from "../backend.mjs";
import { sleep, within } from "../agent.mjs";
import * as pictures from "../pictures.mjs";
import { image, notices } from "../rig.mjs";

const shot = pictures.png(48, 24);

async function ready(t, params) {
  const c = t.raw();
  const { result } = await c.initialize(params);
  c.hello = result;
  return c;
}

const load = (c, sessionId, cwd, more = {}) => c.request("session/load", { sessionId, cwd, mcpServers: [], ...more });
const ofKind = (us, ...kinds) => us.map((u) => u.update).filter((u) => kinds.includes(u.sessionUpdate));

export async function order(t) {
  const c = await ready(t, { clientCapabilities: notices });
  const reply = await c.request("session/new", { cwd: t.project, mcpServers: [] });
  t.same("nothing is sent of a session before the reply that opens it", c.all.slice(0, c.all.indexOf(reply)).filter((m) => m.method === "session/update"), []);
  const context = await c.prompt(reply.result.sessionId, "/context");
  t.same("a command is answered", context.result?.stopReason, "end_turn");
  t.same("without the model", t.backend.requests.length, 0);
}
order.title = "2 nothing of a session before its reply";

export async function turns(t) {
  const c = await ready(t, { clientCapabilities: notices });
  const sessionId = await c.session(t.project);
  t.backend.mode = "silent";
  for (const words of ["first", "second"]) {
    const n = t.backend.requests.length;
    const reply = c.prompt(sessionId, words);
    await t.backend.until((b) => b.requests.length > n);
    await c.notify("session/cancel", { sessionId });
    t.same(`${words} is cancelled`, (await within(5000, reply))?.result?.stopReason, "cancelled");
  }
  t.backend.mode = "answer";
  c.tee.declare(/^out: session\/prompt/, 1);
  t.same("and the third is not", (await c.prompt(sessionId, "third", { type: "_own", a: 1 })).result?.stopReason, "end_turn");
  const live = ofKind(c.take(), "user_message_chunk");
  t.same("prompts without an answer are messages of their own", new Set(live.map((u) => u.messageId)).size, 3);
  await c.end();
  const d = await ready(t, { clientCapabilities: notices });
  await load(d, sessionId, t.project);
  const replay = d.take();
  t.same("in the replay, too", ofKind(replay, "user_message_chunk").map((u) => u.messageId), live.map((u) => u.messageId));
  t.same("and no notice is replayed", ofKind(replay, "notice"), []);
}
turns.title = "4 turns without an answer, notices not replayed";

export async function reasons(t) {
  t.configure({ limits: { max_steps: 2 } });
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  t.backend.script.push({ text: "so far", finish: "length" });
  t.same("an answer that was cut", (await c.prompt(sessionId, "a")).result?.stopReason, "max_tokens");
  t.backend.script.push({ text: "no", finish: "content_filter" });
  t.same("an answer that was refused", (await c.prompt(sessionId, "b")).result?.stopReason, "refusal");
  t.backend.respond = () => [[`c${t.backend.requests.length}`, "glob", { pattern: "*" }]];
  t.same("too many steps", (await c.prompt(sessionId, "c")).result?.stopReason, "max_turn_requests");
  t.backend.respond = () => undefined;
  t.same("an answer that is whole", (await c.prompt(sessionId, "d")).result?.stopReason, "end_turn");
  t.backend.mode = "fail";
  const failed = await c.prompt(sessionId, "e");
  t.ok("a fault is an error, not a stop reason", failed.error?.message.length > 0 && failed.result === undefined, failed);
  t.ok("that names no key", !JSON.stringify(failed).includes("e2e-key"));
  t.backend.mode = "answer";
  t.same("and the next turn works", (await c.prompt(sessionId, "f")).result?.stopReason, "end_turn");
}
reasons.title = "5 stop reasons that are true";

export async function cancelAfterLoad(t) {
  let c = await ready(t);
  const sessionId = await c.session(t.project);
  await c.prompt(sessionId, "before");
  await c.end();
  c = await ready(t);
  await load(c, sessionId, t.project);
  await c.notify("session/cancel", { sessionId });
  t.same("a cancel before the prompt is not for it", (await within(5000, c.prompt(sessionId, "quick")))?.result?.stopReason, "end_turn");
  t.backend.respond = () => hanging;
  const reply = c.prompt(sessionId, "work");
  await t.backend.until((b) => b.open.size === 1);
  await load(c, sessionId, t.project);
  await c.notify("session/cancel", { sessionId });
  t.same("a cancel after a load ends the turn that runs", (await within(5000, reply))?.result?.stopReason, "cancelled");
  t.backend.respond = () => undefined;
  // A prompt that comes before the cancelled one has been answered.
  t.backend.respond = ({ body }) => (textOf(body).includes("next") ? undefined : hanging);
  const first = c.prompt(sessionId, "work");
  await t.backend.until((b) => b.open.size === 1);
  await c.notify("session/cancel", { sessionId });
  const next = c.prompt(sessionId, "next");
  t.same("the first is cancelled", (await within(5000, first))?.result?.stopReason, "cancelled");
  t.same("the next is not", (await within(5000, next))?.result?.stopReason, "end_turn");
}
cancelAfterLoad.title = "6 a cancel hits the right turn";

export async function announced(t) {
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  t.backend.script.push([["same", "read", { path: "none" }]], [["same", "read", { path: "none" }], ["", "glob", { pattern: "*" }]], [["x", "no_such_tool", {}], ["y", "bash", { nonsense: 1 }]], "done");
  t.same("stop reason", (await c.prompt(sessionId, "work")).result?.stopReason, "end_turn");
  const known = new Map();
  for (const u of ofKind(c.take(), "tool_call", "tool_call_update")) {
    if (u.sessionUpdate === "tool_call") t.ok(`${u.toolCallId} is new`, !known.has(u.toolCallId) && u.toolCallId !== "");
    else t.ok(`${u.toolCallId} was announced and is open`, known.has(u.toolCallId) && !["completed", "failed"].includes(known.get(u.toolCallId)), u);
    if (u.status) known.set(u.toolCallId, u.status);
  }
  t.ok("also calls with the same id, with none, and of no tool", known.size >= 5, [...known]);
  t.ok("each ends", [...known.values()].every((s) => ["completed", "failed"].includes(s)), [...known]);
}
announced.title = "8 calls are announced, once, and end";

export async function reload(t) {
  let c = await ready(t, { clientCapabilities: notices });
  const sessionId = await c.session(t.project);
  await c.request("session/set_config_option", { sessionId, configId: "agent", value: "strict" });
  await c.prompt(sessionId, "hello");
  await c.end();
  t.configure({ agents: { rec: { provider: "rec", model: "recorder", vision: true } } });
  c = await ready(t, { clientCapabilities: notices });
  const { result } = await load(c, sessionId, t.project);
  const option = result.configOptions.find((o) => o.id === "agent");
  t.ok("the value is one of those there are", option.options.some((o) => o.value === option.currentValue), option);
  t.same("and a prompt works", (await c.prompt(sessionId, "hello")).result?.stopReason, "end_turn");
  t.ok("the user is told", ofKind(c.take(), "notice").some((n) => /strict/.test(`${n.title} ${n.description}`)));
}
reload.title = "10 a model that is gone";

export async function honoured(t) {
  const c = await ready(t);
  const caps = c.hello.agentCapabilities;
  const sessionId = await c.session(t.project);
  await c.prompt(sessionId, "hello");
  const calls = { list: {}, resume: { sessionId, cwd: t.project }, close: { sessionId }, delete: { sessionId } };
  for (const [name, params] of Object.entries(calls)) {
    const { error } = await c.request(`session/${name}`, params);
    t.same(`session/${name} is ${caps.sessionCapabilities[name] ? "" : "not "}advertised and ${caps.sessionCapabilities[name] ? "" : "not "}served`, error?.code, caps.sessionCapabilities[name] ? undefined : -32601);
  }
  const fork = await c.request("session/fork", { sessionId: await c.session(t.project), cwd: t.project, mcpServers: [] });
  c.tee.tolerate(/session\/fork: not in the schema/);
  t.same("session/fork is served where it is advertised", fork.error?.code === -32601, caps.sessionCapabilities.fork == null);
}
honoured.title = "11 what is advertised is served";

export async function paths(t) {
  mkdirSync(join(t.project, "sub"));
  writeFileSync(join(t.project, "sub", "a.txt"), "one\n");
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  t.backend.script.push(
    [["c1", "read", { path: "sub/a.txt" }]], [["c2", "edit", { path: "sub/a.txt", edits: [{ old: "one", new: "two" }] }]],
    [["c3", "write", { path: "./sub/../b.txt", content: "b\n" }]], [["c4", "bash", { command: "pwd" }]], "done",
  );
  await c.prompt(sessionId, "work");
  const updates = c.take();
  const calls = [...ofKind(updates, "tool_call", "tool_call_update"), ...c.questions.map((q) => q.toolCall)];
  const found = calls.flatMap((u) => [...(u.locations ?? []).map((l) => l.path), ...(u.content ?? []).filter((x) => x.type === "diff").map((d) => d.path)]);
  t.ok("paths are told", found.length > 0);
  t.same("and absolute, below the folder of the session", found.filter((p) => !isAbsolute(p) || !p.startsWith(t.project)), []);
  const lines = calls.flatMap((u) => u.locations ?? []).map((l) => l.line).filter((l) => l != null);
  t.same("lines count from one", lines.filter((l) => l < 1), []);
  t.ok("commands run in the folder of the session, not of the process", textOf(t.backend.requests.at(-1).body).includes(t.project));
  t.same("the file is there", readFileSync(join(t.project, "b.txt"), "utf8"), "b\n");
}
paths.title = "13 paths are absolute";

export async function folders(t) {
  const extra = join(t.root, "extra");
  mkdirSync(extra);
  writeFileSync(join(extra, "secret.txt"), "what is outside\n");
  const look = async (c, sessionId, id) => {
    t.backend.script.push([[id, "read", { path: join(extra, "secret.txt") }]], "done");
    const n = c.questions.length;
    c.answer = () => "reject";
    await c.prompt(sessionId, "look");
    return { asked: c.questions.length > n, seen: JSON.stringify(t.backend.requests.at(-1).body.messages.at(-1)).includes("what is outside") };
  };
  let c = await ready(t);
  const sessionId = await c.session(t.project, { additionalDirectories: [extra] });
  t.same("a folder that was added is read", await look(c, sessionId, "c1"), { asked: false, seen: true });
  await c.end();
  c = await ready(t);
  await load(c, sessionId, t.project);
  t.same("loaded without it, it is not", (await look(c, sessionId, "c2")).seen, false);
  const { sessions } = (await c.request("session/list", { cwd: t.project })).result;
  t.same("nor listed", sessions.find((s) => s.sessionId === sessionId)?.additionalDirectories ?? [], []);
  await load(c, sessionId, t.project, { additionalDirectories: [extra] });
  t.same("loaded with it, it is", await look(c, sessionId, "c3"), { asked: false, seen: true });
}
folders.title = "14 folders are those of the newest request";

export async function output(t) {
  const server = join(t.root, "loud.mjs");
  writeFileSync(server, 'console.log("I am a server that says what it likes"); console.log("{"); console.error("and more"); process.exit(1);\n');
  const c = await ready(t, { clientCapabilities: notices });
  c.noise = /loud|mcp|and more/i;
  const sessionId = await c.session(t.project, { mcpServers: [{ name: "loud", command: process.execPath, args: [server], env: [] }] });
  t.backend.script.push([["c1", "bash", { command: "echo on stdout; echo on stderr >&2; printf '\\033[31mred\\r\\n{\"jsonrpc\":\"2.0\"}\\n'" }]], "done");
  const { result } = await within(30_000, c.prompt(sessionId, "be loud"));
  t.same("stop reason", result?.stopReason, "end_turn");
  t.ok("what is printed goes to the model", textOf(t.backend.requests.at(-1).body).includes("on stdout"));
  t.same("and nothing of it to the protocol", c.tee.rest(), []);
}
output.title = "16 nothing but the protocol on standard output";

export async function results(t) {
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  await c.prompt(sessionId, "hello");
  for (const [m, p] of [["session/set_mode", { sessionId, modeId: "plan" }], ["session/load", { sessionId, cwd: t.project, mcpServers: [] }], ["session/resume", { sessionId, cwd: t.project }],
    ["session/close", { sessionId }], ["session/delete", { sessionId }], ["session/list", {}]]) {
    const { result } = await c.request(m, p);
    t.ok(`${m} gives an object`, result !== null && typeof result === "object" && !Array.isArray(result), result);
  }
  const nulls = [];
  for (const m of c.all) JSON.stringify(m.result ?? m.params ?? {}, (k, v) => { if (v === null) nulls.push(k); return k === "_meta" ? undefined : v; });
  t.same("and nowhere a null", [...new Set(nulls)], []);
}
results.title = "18 objects for results, no null";

export async function images(t) {
  let hits = 0;
  const server = createServer((req, res) => { hits++; res.end("no"); });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${server.address().port}/a.png`;
  try {
    const c = await ready(t);
    const sessionId = await c.session(t.project);
    const send = async (...blocks) => {
      await c.prompt(sessionId, "see", ...blocks);
      const { pictures: sent, body } = t.backend.requests.at(-1);
      return { sent, told: textOf(body) };
    };
    let got = await send({ ...image(shot), mimeType: "image/jpeg" });
    t.same("a picture under the wrong type goes under the right one", [got.sent[0]?.mime, got.sent[0]?.data.equals(shot)], ["image/png", true]);
    got = await send({ ...image(pictures.png(20, 10)), uri: url });
    t.ok("data counts, not the address", got.sent[1]?.data.equals(pictures.png(20, 10)));
    got = await send({ ...image(pictures.png(21, 10)), uri: "zed:///agent/pasted-image-1" });
    t.ok("nor one that only the editor knows", got.sent[2]?.data.equals(pictures.png(21, 10)));
    t.ok("which is not passed on", !got.told.includes("zed:///"));
    await send({ type: "resource_link", uri: url, name: "a.png", mimeType: "image/png" });
    await sleep(100);
    t.same("nothing is fetched unasked", hits, 0);

    const odd = pictures.png(22, 10).toString("base64").replace(/=+$/, "");
    const spelt = { type: "image", mimeType: "image/png", data: odd };
    got = await send(spelt);
    t.ok("base64 without its end is read", got.sent.some((p) => p.data.equals(pictures.png(22, 10))), got.sent.length);
    const live = c.updates.filter((u) => u.update.sessionUpdate === "user_message_chunk").map((u) => u.raw);
    t.ok("and comes back as it was spelt", live.some((l) => l.includes(JSON.stringify(odd))));
    await c.end();
    const d = await ready(t);
    await load(d, sessionId, t.project);
    const replay = d.updates.filter((u) => u.update.sessionUpdate === "user_message_chunk").map((u) => u.raw);
    t.same("a replay is what was sent", replay.slice(0, live.length), live);
    t.same("nothing was fetched", hits, 0);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
images.title = "21 pictures: bytes over types, data over addresses, spelling kept";
