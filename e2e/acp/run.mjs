// Drives the program named by TOTE_BIN as an editor does: the official client over
// standard input and output, against a backend on the loopback that keeps what it
// is sent. Nothing is built and nothing but the loopback is reached.
import { mkdtempSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync, existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { resultOf, startBackend, textOf } from "./backend.mjs";
import { Peer, chunkOf, here } from "./peer.mjs";
import * as pictures from "./pictures.mjs";

const bin = process.env.TOTE_BIN;
if (!bin) { console.error("set TOTE_BIN to the program"); process.exit(2); }

let passed = 0, failed = 0;
function ok(what, good, detail = "") {
  if (good) { passed++; if (process.env.VERBOSE) console.log(`ok   ${what}`); return; }
  failed++;
  console.log(`FAIL ${what}${detail === "" ? "" : `: ${typeof detail === "string" ? detail : JSON.stringify(detail)}`}`);
}
const same = (what, got, want) => ok(what, JSON.stringify(got) === JSON.stringify(want), `got ${JSON.stringify(got)?.slice(0, 500)}, want ${JSON.stringify(want)?.slice(0, 500)}`);

const root = realpathSync(mkdtempSync(join(tmpdir(), "tote-e2e-")));
const home = join(root, "home"), project = join(root, "project");
mkdirSync(join(home, "config"), { recursive: true, mode: 0o700 });
mkdirSync(project);
writeFileSync(join(project, "linked.txt"), "the linked words\n");

const backend = await startBackend();
writeFileSync(join(home, "config", "config.json"), JSON.stringify({
  providers: { rec: { kind: "openai-chat", base_url: backend.url, api_key: "e2e-key" } },
  agents: {
    rec: { provider: "rec", model: "recorder", vision: true },
    strict: { provider: "rec", model: "refuser", vision: true },
  },
  default_agent: "rec",
}));
const env = { ...process.env, TOTE_HOME: home, NO_COLOR: "1" };
const notices = { session: { notices: {} } };
const deadline = setTimeout(() => { console.log("FAIL the scenario did not end in time"); process.exit(1); }, 180_000);
deadline.unref();

const block = {
  image: (data, mimeType) => ({ type: "image", mimeType, data: data.toString("base64") }),
  text: (text) => ({ type: "text", text }),
};
const big = pictures.png(3840, 2400);
const small = pictures.png(32, 16);
const turned = readFileSync(join(here, "testdata", "orientation6.jpg"));
const prompt = [
  block.text("Here are two pictures:"),
  block.image(big, "image/png"),
  block.text("and"),
  block.image(turned, "image/jpeg"),
  block.image(pictures.svg, "image/svg+xml"),
  block.image(small.subarray(0, small.length - 40), "image/png"),
  { type: "audio", mimeType: "audio/wav", data: pictures.wav().toString("base64") },
  { type: "resource_link", uri: pathToFileURL(join(project, "linked.txt")).href, name: "linked.txt", mimeType: "text/plain", size: 17 },
  { type: "resource", resource: { uri: "file:///embedded.go", mimeType: "text/x-go", text: "package embedded\n" } },
  { type: "resource", resource: { uri: "file:///paper.pdf", mimeType: "application/pdf", blob: pictures.pdf.toString("base64") } },
  { type: "video", mimeType: "video/mp4", data: "AAAAIGZ0eXA=", extra: [1.5, null, { a: "ü" }] },
];
const kindOf = (b) => b.type;

// checkSchema holds that both directions followed the published schema; the one
// exception is the block of an unknown kind, which this test sends on purpose.
function checkSchema(peer, unknownPrompts) {
  const own = peer.faults.filter((f) => f.startsWith("out: session/prompt"));
  same("the schema rejects the unknown kind and no other block", own.length, unknownPrompts);
  same("schema", peer.faults.filter((f) => !own.includes(f)), []);
}

function checkPictures(what, sent) {
  same(`${what}: pictures in order`, sent.map((p) => pictures.measure(p.data).mime.replace(/.*/, "picture")), ["picture", "picture"]);
  for (const [i, p] of sent.entries()) {
    const m = pictures.measure(p.data);
    ok(`${what}: picture ${i} is at most 2000 px`, Math.max(m.width, m.height) <= 2000, m);
    ok(`${what}: picture ${i} is at most 500 KB`, p.data.length <= 500_000, `${p.data.length} bytes`);
    same(`${what}: picture ${i} has the type it says`, p.mime, m.mime);
    same(`${what}: picture ${i} is upright`, m.orientation, 1);
    same(`${what}: picture ${i} stands in the user's message`, p.role, "user");
  }
  const [first, second] = sent.map((p) => pictures.measure(p.data));
  ok(`${what}: the first is the landscape`, first && Math.abs(first.width / first.height - 1.6) < 0.02, first);
  same(`${what}: the second was turned`, second && [second.width, second.height], [40, 60]);
}

// checkOrder holds that text and pictures stand in the order of the prompt.
function checkOrder(body) {
  const user = body.messages.filter((m) => m.role === "user").at(-1);
  const marks = [];
  for (const p of user.content) {
    if (p.type === "image_url") marks.push("picture");
    for (const [words, mark] of [["Here are two pictures:", "first text"], ["and", "second text"]]) if (p.text === words) marks.push(mark);
  }
  same("order of text and pictures", marks, ["first text", "picture", "second text", "picture"]);
}

function checkReceipts(result, updates, body) {
  const receipts = result._meta?.["tote/receipts"] ?? [];
  ok("a receipt for each block", receipts.length >= prompt.length, receipts.map((r) => r.label));
  const early = updates.findIndex((u) => u.update._meta?.["tote/receipts"]);
  const token = updates.findIndex((u) => u.update.sessionUpdate === "agent_message_chunk");
  ok("receipts come before the first token", early >= 0 && early < token, { early, token });
  const said = updates.filter((u) => u.update.sessionUpdate === "notice").map((u) => `${u.update.title} ${u.update.description}`).join("\n");
  const text = textOf(body);
  for (const r of receipts) {
    if (r.kind !== "text") ok(`${r.label} is named to the model`, text.includes(`[${r.label}`), text.slice(0, 2000));
    const whole = ["inline", "shrunk", "converted"].includes(r.disposition);
    if (!whole) ok(`a notice for ${r.label} (${r.disposition})`, said.includes(r.label), said);
  }
  const kinds = receipts.map((r) => r.kind);
  for (const kind of ["text", "image", "resource", "audio", "link", "document", "opaque"]) ok(`a receipt of kind ${kind}`, kinds.includes(kind), kinds);
  const by = (kind) => receipts.filter((r) => r.kind === kind);
  same("pictures", by("image").map((r) => r.disposition).slice(0, 2).every((d) => ["inline", "shrunk", "converted"].includes(d)), true);
  ok("the truncated picture is not sent", !["inline", "shrunk", "converted"].includes(by("image")[2]?.disposition), by("image")[2]);
  for (const words of ["<svg", "the linked words", "package embedded", "hello paper"]) ok(`${words} reaches the model`, text.includes(words));
  return receipts;
}

// rawEcho are the raw blocks that came back, each as the client had sent it.
function rawEcho(updates) {
  return updates.filter((u) => u.update.sessionUpdate === "user_message_chunk").map((u) => {
    const raw = chunkOf(u.raw);
    const kept = /^\{"type":"text","text":"(?:[^"\\]|\\.)*","_meta":\{"tote\/block":(.*)\}\}$/s.exec(raw);
    return kept ? kept[1] : raw;
  });
}

async function prompts(peer, sessionId, blocks) {
  peer.take();
  const result = await peer.request("session/prompt", { sessionId, prompt: blocks });
  return { result, updates: peer.take() };
}

async function everyKind() {
  let peer = new Peer(bin, env, notices);
  const hello = await peer.initialize();
  same("version", hello.protocolVersion, 1);
  same("kinds of prompt", hello.agentCapabilities.promptCapabilities, { image: true, audio: true, embeddedContext: true });
  const { sessionId, configOptions } = await peer.request("session/new", { cwd: project, mcpServers: [] });
  ok("the model's sight is in the options", JSON.stringify(configOptions).includes("pictures: yes"), configOptions);

  const live = await prompts(peer, sessionId, prompt);
  same("stop reason", live.result.stopReason, "end_turn");
  same("one request", backend.requests.length, 1);
  const first = backend.requests[0];
  checkPictures("first prompt", first.pictures);
  checkOrder(first.body);
  const receipts = checkReceipts(live.result, live.updates, first.body);
  const echo = rawEcho(live.updates);
  same("blocks that came back", echo.length, prompt.length);
  for (const [i, b] of prompt.entries()) ok(`block ${i} (${kindOf(b)}) comes back byte for byte`, echo[i] === JSON.stringify(b), echo[i]?.slice(0, 200));
  same("no unknown kind reaches the client raw", live.updates.some((u) => u.update.content?.type === "video"), false);

  const next = await prompts(peer, sessionId, [block.text("And now only words.")]);
  same("next prompt", next.result.stopReason, "end_turn");
  same("next prompt sends the pictures again", backend.requests.at(-1).pictures.map((p) => p.url), first.pictures.map((p) => p.url));
  checkSchema(peer, 1);
  same("nothing on standard error", peer.stderr, "");

  await peer.kill();
  peer = new Peer(bin, env, notices);
  await peer.initialize();
  await peer.request("session/load", { sessionId, cwd: project, mcpServers: [] });
  const replay = peer.take();
  const lines = (us) => us.filter((u) => u.update.sessionUpdate === "user_message_chunk").map((u) => u.raw);
  const want = [...lines(live.updates), ...lines(next.updates)];
  const got = lines(replay);
  same("replayed blocks", got.length, want.length);
  for (const [i, raw] of want.entries()) ok(`line ${i} is replayed byte for byte`, got[i] === raw, got[i]?.slice(0, 200));
  const answers = (us) => us.filter((u) => u.update.sessionUpdate === "agent_message_chunk").map((u) => [u.update.messageId, u.update.content.text]);
  const joined = (us) => answers(us).reduce((m, [id, t]) => m.set(id, (m.get(id) ?? "") + t), new Map());
  same("answers", [...joined(replay)], [...joined([...live.updates, ...next.updates])]);

  const after = await prompts(peer, sessionId, [block.text("Look again.")]);
  same("after the crash", after.result.stopReason, "end_turn");
  same("the same pictures again", backend.requests.at(-1).pictures.map((p) => p.url), first.pictures.map((p) => p.url));
  const text = textOf(backend.requests.at(-1).body);
  const staged = receipts.filter((r) => r.disposition === "path");
  ok("something goes by path", staged.length > 0, receipts.map((r) => [r.label, r.disposition]));
  const replayed = join(home, "scratch", sessionId, "replayed");
  for (const r of staged) {
    const file = join(replayed, r.label);
    ok(`${r.label} is staged under replayed`, existsSync(file), existsSync(replayed) ? readdirSync(replayed) : "no folder");
    const named = text.split(`[${r.label}`)[1]?.match(/Its file: @([^\]]*)\]/)?.[1] ?? "";
    same(`the model is told of the file for ${r.label}`, named, file);
    ok(`${r.label} lies also where it was named before`, existsSync(join(home, "scratch", sessionId, r.label)));
  }
  const audio = staged.find((r) => r.kind === "audio");
  if (audio) ok("the staged sound is the sound", readFileSync(join(replayed, audio.label)).equals(pictures.wav()));

  const { sessions } = await peer.request("session/list", { cwd: project });
  ok("the session is listed with a title", sessions.some((s) => s.sessionId === sessionId && s.title?.startsWith("Here are two pictures")), sessions);
  checkSchema(peer, 0);
  same("clean end", await peer.end(), { code: 0, signal: null });
  return sessionId;
}

async function refusing() {
  const peer = new Peer(bin, env, {});
  await peer.initialize();
  const { sessionId } = await peer.request("session/new", { cwd: project, mcpServers: [] });
  const { configOptions } = await peer.request("session/set_config_option", { sessionId, configId: "agent", value: "strict" });
  same("the agent was chosen", configOptions.find((o) => o.id === "agent").currentValue, "strict");
  backend.mode = "refuse";
  const one = await prompts(peer, sessionId, [block.text("see"), block.image(small, "image/png")]);
  same("a refused picture does not end the turn", one.result.stopReason, "end_turn");
  ok("the user is told without notices", one.updates.some((u) => u.update.sessionUpdate === "agent_message_chunk" && /\[tote\].*image-1/s.test(u.update.content.text)), one.updates.map((u) => u.update.content?.text));
  same("no notice goes to a client that takes none", one.updates.some((u) => u.update.sessionUpdate === "notice"), false);
  const count = backend.requests.length;
  const two = await prompts(peer, sessionId, [block.text("and words?")]);
  same("the next turn works", two.result.stopReason, "end_turn");
  same("and asks once", backend.requests.length, count + 1);
  backend.mode = "answer";
  checkSchema(peer, 0);
  same("clean end", await peer.end(), { code: 0, signal: null });
}

async function cancelling() {
  const peer = new Peer(bin, env, notices);
  await peer.initialize();
  const { sessionId } = await peer.request("session/new", { cwd: project, mcpServers: [] });
  backend.mode = "hang";
  const running = peer.request("session/prompt", { sessionId, prompt: [block.text("wait")] });
  while (backend.open.size === 0) await new Promise((r) => setTimeout(r, 10));
  const queued = peer.request("session/prompt", { sessionId, prompt: [block.text("wait too")] });
  await peer.notify("session/cancel", { sessionId });
  same("the running turn is cancelled", (await running).stopReason, "cancelled");
  same("and the one that waits", (await queued).stopReason, "cancelled");
  backend.mode = "answer";
  same("the session goes on", (await prompts(peer, sessionId, [block.text("go on")])).result.stopReason, "end_turn");
  await peer.request("session/close", { sessionId });
  await peer.request("session/delete", { sessionId });
  await peer.request("session/delete", { sessionId });
  const { sessions } = await peer.request("session/list", {});
  ok("a deleted session is not listed", !sessions.some((s) => s.sessionId === sessionId), sessions);
  const gone = await peer.request("session/load", { sessionId, cwd: project, mcpServers: [] }).then(() => null, (e) => e.code);
  same("nor loaded", gone, -32002);

  backend.mode = "hang";
  const { sessionId: last } = await peer.request("session/new", { cwd: project, mcpServers: [] });
  peer.request("session/prompt", { sessionId: last, prompt: [block.text("cut off")] }).catch(() => {}); // its reply may be lost
  while (backend.open.size === 0) await new Promise((r) => setTimeout(r, 10));
  same("clean end in the middle of a turn", await peer.end(), { code: 0, signal: null });
  backend.mode = "answer";
  checkSchema(peer, 0);
}

// checkCalls holds that every call was announced before anything else was said of
// it, asked about or not, and has one end with nothing behind it.
function checkCalls(peer, updates) {
  const state = new Map();
  const ended = (u) => u.status === "completed" || u.status === "failed";
  for (const { update: u } of updates) {
    if (u.sessionUpdate === "tool_call") {
      ok(`${u.title} is announced once`, !state.has(u.toolCallId));
      state.set(u.toolCallId, ended(u) ? u.status : "open");
    } else if (u.sessionUpdate === "tool_call_update") {
      same(`an update of an open call ${u.toolCallId}`, state.get(u.toolCallId), "open");
      if (ended(u)) state.set(u.toolCallId, u.status);
    }
  }
  for (const q of peer.questions) ok(`the question about ${q.toolCall.title} is about a call`, state.has(q.toolCall.toolCallId), q);
  return [...state.values()];
}

// repairing has a scripted model mend a program whose picture shows the fault.
async function repairing() {
  const repo = join(root, "repo"), file = join(repo, "bar.mjs");
  mkdirSync(repo);
  writeFileSync(join(repo, "AGENTS.md"), "Every change keeps the check green.\n");
  const source = 'const width = 10;\nexport const filled = (n) => Math.min(n, width - 1);\nexport const empty = (n) => Math.max(width - 1 - n, 0);\n';
  writeFileSync(file, source);
  writeFileSync(join(repo, "check.mjs"), 'import { filled, empty } from "./bar.mjs";\n' +
    'for (const n of [0, 5, 10]) if (filled(n) + empty(n) !== 10) { console.log(`${n} is wrong`); process.exit(1); }\nconsole.log("all is well");\n');
  const shot = pictures.png(64, 32);
  writeFileSync(join(repo, "fault.png"), shot);
  const check = { command: "node check.mjs", description: "Run the check" };
  const steps = (...states) => ({ steps: ["find the fault", "mend it"].map((text, i) => ({ text, status: states[i] })) });
  const edit = (was, now) => ({ path: "bar.mjs", edits: [{ old: was, new: now }] });
  const calls = [
    [["c1", "todo", steps("in_progress", "pending")]],
    [["c2", "read", { path: "bar.mjs" }], ["c3", "grep", { pattern: "width" }], ["c4", "glob", { pattern: "*.mjs" }]],
    [["c5", "edit", edit("width - 1", "width")]],
    [["c6", "edit", edit("Math.min(n, width - 1)", "Math.min(n, width)")]],
    [["c7", "bash", check]],
    [["c8", "read", { path: "fault.png" }]],
    [["c9", "view_image", { handle: "image-1.png", region: { x: 8, y: 4, w: 16, h: 8 }, zoom: 4 }]],
    [["c10", "bash", { command: "rm -r /nowhere/of/this/name" }]],
    [["c11", "edit", edit("Math.max(width - 1 - n, 0)", "Math.max(width - n, 0)")]],
    [["c12", "bash", check]],
    [["c13", "todo", steps("completed", "completed")]],
  ];
  backend.script.push(...calls, "The bar is whole again.");
  const peer = new Peer(bin, env, notices);
  peer.answer = ({ toolCall, options }) => {
    if (toolCall.title.includes("rm -r")) return "reject";
    return toolCall.title === "Run the check" && options.some((o) => o.optionId === "allow_always") ? "allow_always" : "allow";
  };
  const hello = await peer.initialize();
  same("transports of MCP servers", hello.agentCapabilities.mcpCapabilities, { http: true, sse: true });
  const { sessionId } = await peer.request("session/new", { cwd: repo, mcpServers: [] });
  const turn = await prompts(peer, sessionId, [block.text("The bar has a gap, see fault.png. Mend it.")]);
  same("repair: stop reason", turn.result.stopReason, "end_turn");
  same("repair: asked", peer.questions.map((q) => q.toolCall.title), ["Edit bar.mjs", "Edit bar.mjs", "Run the check", "rm -r /nowhere/of/this/name", "Edit bar.mjs"]);
  for (const q of peer.questions) ok(`repair: ${q.toolCall.title} can be allowed once or not`, ["allow_once", "reject_once"].every((k) => q.options.some((o) => o.kind === k)), q.options);
  same("repair: ends", checkCalls(peer, turn.updates).flatMap((s, i) => (s === "completed" ? [] : [`c${i + 1} ${s}`])), ["c5 failed", "c7 failed", "c10 failed"]);
  const { body, pictures: sent } = backend.requests.at(-1);
  for (const [id, words] of [["c2", "export const filled"], ["c3", "bar.mjs"], ["c4", "check.mjs"], ["c5", "bar.mjs"], ["c6", "edited"], ["c7", "is wrong"], ["c10", "did not permit"], ["c11", "edited"], ["c12", "all is well"]]) {
    ok(`repair: ${id} tells the model ${words}`, resultOf(body, id)?.includes(words), resultOf(body, id));
  }
  ok("repair: the rules of the project are in the request", textOf(body).includes("Every change keeps the check green."));
  ok("repair: the picture arrives as it is", sent[0]?.data.equals(shot), sent.map((p) => p.data.length));
  same("repair: the enlarged part", sent[1] && [pictures.measure(sent[1].data).width, pictures.measure(sent[1].data).height], [64, 32]);
  ok("repair: no payload stands in text", !textOf(body).includes(shot.toString("base64").slice(0, 60)));
  const shown = JSON.stringify(turn.updates.map((u) => u.update.content ?? null));
  for (const words of ["+export const filled = (n) => Math.min(n, width);", "is wrong", "all is well", '"type":"image"']) ok(`repair: the user sees ${words}`, shown.includes(words));
  const plans = turn.updates.filter((u) => u.update.sessionUpdate === "plan").map((u) => u.update.entries.map((e) => e.status));
  same("repair: the plan", plans, [["in_progress", "pending"], ["completed", "completed"]]);
  same("repair: the file", readFileSync(file, "utf8"), source.replace("Math.min(n, width - 1)", "Math.min(n, width)").replace("Math.max(width - 1 - n, 0)", "Math.max(width - n, 0)"));
  checkSchema(peer, 0);

  peer.questions.length = 0;
  backend.script.push([["d1", "bash", check]], "done");
  const { sessionId: other } = await peer.request("session/new", { cwd: repo, mcpServers: [] });
  const second = await prompts(peer, other, [block.text("check it")]);
  same("what is allowed for good is not asked in another session", peer.questions.length, 0);
  same("and done", checkCalls(peer, second.updates), ["completed"]);
  const undo = await prompts(peer, sessionId, [block.text("/undo")]);
  same("/undo: stop reason", undo.result.stopReason, "end_turn");
  same("/undo: the file is as it was", readFileSync(file, "utf8"), source);
  const again = new Peer(bin, env, notices);
  await again.initialize();
  await again.request("session/load", { sessionId: other, cwd: repo, mcpServers: [] });
  same("the replay brings its calls to an end", checkCalls(again, again.take()), ["completed"]);
  checkSchema(again, 0);
  same("clean end", await again.end(), { code: 0, signal: null });
  checkSchema(peer, 0);
  same("nothing on standard error", peer.stderr, "");
  same("clean end", await peer.end(), { code: 0, signal: null });
}

let ended = false;
try {
  await everyKind();
  await refusing();
  await cancelling();
  await repairing();
  ended = true;
} catch (e) {
  failed++;
  console.log(`FAIL the scenario broke off: ${e?.stack ?? e} ${JSON.stringify(e?.data ?? null)}`);
} finally {
  backend.close();
  if (ended && failed === 0 && !process.env.KEEP) rmSync(root, { recursive: true, force: true });
  else console.log(`the files are in ${root}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
