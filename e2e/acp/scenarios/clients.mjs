// Each client sends a picture and shows the answer; what the backend got is the
// picture, byte for byte.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as pictures from "../pictures.mjs";
import { image, notices, text } from "../rig.mjs";
import { within } from "../agent.mjs";

const shot = pictures.png(64, 32);

// checkSent holds that the newest request holds the picture, as it was given, once.
function checkSent(t, what, want = shot) {
  const sent = t.backend.requests.at(-1)?.pictures ?? [];
  t.same(`${what}: one picture arrives`, sent.map((p) => [p.role, p.mime]), [["user", "image/png"]]);
  t.ok(`${what}: with the bytes that were sent`, sent[0]?.data.equals(want), `${sent[0]?.data.length} bytes, want ${want.length}`);
  t.same(`${what}: spelt as base64`, sent[0]?.url, `data:image/png;base64,${want.toString("base64")}`);
}

const said = (updates) => updates.filter((u) => u.sessionUpdate === "agent_message_chunk").map((u) => u.content.text).join("");

export async function official(t) {
  const peer = t.peer();
  await peer.initialize();
  const { sessionId } = await peer.request("session/new", { cwd: t.project, mcpServers: [] });
  const { stopReason } = await peer.request("session/prompt", { sessionId, prompt: [text("what is it"), image(shot)] });
  t.same("stop reason", stopReason, "end_turn");
  checkSent(t, "official");
  t.same("the answer", said(peer.take().map((u) => u.update)), "seen 1");
  t.same("clean end", await peer.end(), { code: 0, signal: null });
}
official.title = "official client 2.4.0, version 1";

export async function old(t) {
  const client = t.old();
  const c = client.connection;
  const hello = await c.initialize({ protocolVersion: 1, clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } } });
  t.same("version", hello.protocolVersion, 1);
  const { sessionId, modes } = await c.newSession({ cwd: t.project, mcpServers: [] });
  t.same("it sees the modes", modes?.currentModeId, "ask");
  const { stopReason } = await c.prompt({ sessionId, prompt: [text("what is it"), image(shot)] });
  t.same("stop reason", stopReason, "end_turn");
  checkSent(t, "old");
  t.same("the answer", said(client.seen), "seen 1");
  await c.setSessionMode({ sessionId, modeId: "plan" });
  t.backend.script.push([["c1", "bash", { command: "rm x" }]], "done");
  await c.prompt({ sessionId, prompt: [text("remove it")] });
  t.same("the old way to set the mode counts: nothing is asked", client.questions.length, 0);
  await c.setSessionMode({ sessionId, modeId: "ask" });
  client.answer = (q) => q.options.find((o) => o.kind === "allow_once").optionId;
  t.backend.script.push([["c2", "bash", { command: "touch made" }]], "done");
  await c.prompt({ sessionId, prompt: [text("make it")] });
  t.same("it is asked", client.questions.length, 1);
  t.ok("and what it allows is done", existsSync(join(t.project, "made")));
  t.same("clean end", await client.end(), { code: 0, signal: null });

  const next = t.old();
  await next.connection.initialize({ protocolVersion: 1, clientCapabilities: {} });
  await next.connection.loadSession({ sessionId, cwd: t.project, mcpServers: [] });
  t.ok("it is shown the history", next.seen.some((u) => u.sessionUpdate === "user_message_chunk" && u.content.type === "image"), next.seen.map((u) => u.sessionUpdate));
  t.same("and the calls have ended", next.seen.filter((u) => u.sessionUpdate === "tool_call").map((u) => u.status), ["failed", "completed"]);
  t.same("clean end", await next.end(), { code: 0, signal: null });
}
old.title = "@zed-industries/agent-client-protocol 0.4.5";

export async function raw(t) {
  const c = t.raw();
  await c.initialize();
  const sessionId = await c.session(t.project);
  const block = image(shot);
  const { result } = await c.prompt(sessionId, "what is it", { ...block, annotations: { priority: 0.5, audience: ["assistant"] }, _meta: { "x/y": [1] } });
  t.same("stop reason", result.stopReason, "end_turn");
  checkSent(t, "raw");
  t.same("the answer", said(c.take().map((u) => u.update)), "seen 1");
  t.same("clean end", await c.end(), { code: 0, signal: null });
}
raw.title = "raw driver";

// acpx runs the command line client in a home of its own, which starts the agent
// through the tap.
async function acpx(t, log, ...args) {
  const cli = join(fileURLToPath(new URL("../node_modules/acpx/dist/cli.js", import.meta.url)));
  const tap = fileURLToPath(new URL("../tap.mjs", import.meta.url));
  const agent = [process.execPath, tap, log, t.bin, "acp"].map((s) => JSON.stringify(s)).join(" ");
  const child = spawn(process.execPath, [cli, "--agent", agent, "--cwd", t.project, "--approve-all", "--timeout", "90", ...args], {
    env: { ...t.env, HOME: t.root }, cwd: t.project, stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "", stderr = "";
  child.stdout.on("data", (b) => { stdout += b; });
  child.stderr.on("data", (b) => { stderr += b; });
  const code = await within(100_000, new Promise((done) => child.on("close", done)));
  if (code === undefined) child.kill("SIGKILL");
  return { code, stdout, stderr };
}

// checkLog judges what the tap saw.
function checkLog(t, what, log) {
  const notes = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").map((l) => JSON.parse(l)) : [];
  t.same(`${what}: protocol`, notes.filter((n) => n.fault).map((n) => n.fault), []);
  t.tapped += notes.filter((n) => n.way).length;
  t.ok(`${what}: both sides spoke`, ["in", "out"].every((way) => notes.some((n) => n.way === way)));
  return notes.filter((n) => n.way).map((n) => ({ way: n.way, line: n.line }));
}

export async function acpxExec(t) {
  const log = join(t.root, "acpx.log"), file = join(t.root, "blocks.json");
  writeFileSync(file, JSON.stringify([
    text("what is it"), image(shot),
    { type: "audio", mimeType: "audio/wav", data: pictures.wav().toString("base64") },
    { type: "resource", resource: { uri: "file:///embedded.go", mimeType: "text/x-go", text: "package embedded\n" } },
  ]));
  const { code, stdout, stderr } = await acpx(t, log, "exec", "-f", file);
  t.same("exit", code, 0);
  t.ok("the answer is shown", stdout.includes("seen 1"), { stdout, stderr });
  checkSent(t, "acpx");
  const lines = checkLog(t, "exec", log);
  t.ok("it asked for version 1", lines[0]?.line.includes('"protocolVersion":1'), lines[0]);

  t.backend.script.push([["c1", "bash", { command: "touch made" }]], "it is made");
  const work = await acpx(t, log, "exec", "make it");
  t.same("exit after a call", work.code, 0);
  t.ok("the call was allowed and done", existsSync(join(t.project, "made")), work.stdout);
  t.ok("and the answer shown", work.stdout.includes("it is made"), work);
  checkLog(t, "exec with a call", log);
}
acpxExec.title = "acpx 0.19.1, exec";
acpxExec.limit = 240_000; // it starts several programs for each command

export async function acpxSession(t) {
  const log = join(t.root, "acpx.log"), file = join(t.root, "blocks.json");
  mkdirSync(join(t.root, ".acpx"), { recursive: true });
  writeFileSync(file, JSON.stringify([text("what is it"), image(shot)]));
  const made = await acpx(t, log, "--ttl", "15", "sessions", "new");
  t.same("a session is made", made.code, 0);
  const first = await acpx(t, log, "--ttl", "15", "prompt", "-f", file);
  t.ok("the first prompt is answered", first.code === 0 && first.stdout.includes("seen 1"), first);
  checkSent(t, "acpx session");
  const second = await acpx(t, log, "--ttl", "15", "prompt", "and now");
  t.ok("the second is", second.code === 0 && second.stdout.includes("seen 1"), second);
  checkSent(t, "the picture is still in the conversation");
  const closed = await acpx(t, log, "sessions", "close");
  t.same("and closed", closed.code, 0);
  checkLog(t, "session", log);
}
acpxSession.title = "acpx 0.19.1, a session over several runs";
acpxSession.limit = 240_000;

// A client that says who it is and is known to draw the message twice is not sent it back.
export async function echoes(t) {
  const echo = async (clientInfo, capabilities = {}) => {
    const c = t.raw();
    await c.initialize({ clientInfo, clientCapabilities: capabilities });
    const { result } = await c.prompt(await c.session(t.project), "hello", image(shot));
    t.same(`${clientInfo.name}: stop reason`, result.stopReason, "end_turn");
    checkSent(t, clientInfo.name);
    const kinds = c.take().map((u) => u.update.sessionUpdate);
    await c.end();
    return kinds;
  };
  const count = (kinds) => kinds.filter((k) => k === "user_message_chunk").length;
  t.same("an unknown client gets its blocks back", count(await echo({ name: "some-editor", version: "1" }, notices)), 2);
  const kinds = await echo({ name: "zed", version: "1" });
  t.same("zed does not", count(kinds), 0);
  t.ok("nor a notice that it did not ask for", !kinds.includes("notice"), kinds);
  t.configure({ acp: { echo: "on" } });
  t.same("unless the configuration says so", count(await echo({ name: "zed", version: "1" })), 2);
  t.configure({ acp: { echo: "off" } });
  t.same("or that nobody does", count(await echo({ name: "some-editor", version: "1" })), 0);
}
echoes.title = "echo by client";
