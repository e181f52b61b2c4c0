// Drives the official client through long scenarios: every kind of attachment, a
// backend that refuses pictures, cancelling, and a repair with tools.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { resultOf, textOf } from "../backend.mjs";
import { sleep } from "../agent.mjs";
import * as pictures from "../pictures.mjs";
import { image, text } from "../rig.mjs";

const testdata = fileURLToPath(new URL("../testdata", import.meta.url));

// chunkOf is the raw JSON of the content block in the line of a chunk.
function chunkOf(line) {
  const at = line.indexOf('"content":') + '"content":'.length;
  return line.slice(at, line.length - 3);
}

const big = pictures.png(3840, 2400);
const small = pictures.png(32, 16);
const turned = readFileSync(join(testdata, "orientation6.jpg"));
const promptIn = (project) => [
  text("Here are two pictures:"),
  image(big, "image/png"),
  text("and"),
  image(turned, "image/jpeg"),
  image(pictures.svg, "image/svg+xml"),
  image(small.subarray(0, small.length - 40), "image/png"),
  { type: "audio", mimeType: "audio/wav", data: pictures.wav().toString("base64") },
  { type: "resource_link", uri: pathToFileURL(join(project, "linked.txt")).href, name: "linked.txt", mimeType: "text/plain", size: 17 },
  { type: "resource", resource: { uri: "file:///embedded.go", mimeType: "text/x-go", text: "package embedded\n" } },
  { type: "resource", resource: { uri: "file:///paper.pdf", mimeType: "application/pdf", blob: pictures.pdf.toString("base64") } },
  { type: "video", mimeType: "video/mp4", data: "AAAAIGZ0eXA=", extra: [1.5, null, { a: "ü" }] },
];
const kindOf = (b) => b.type;

function checkPictures(t, what, sent) {
  t.same(`${what}: pictures in order`, sent.map((p) => pictures.measure(p.data).mime.replace(/.*/, "picture")), ["picture", "picture"]);
  for (const [i, p] of sent.entries()) {
    const m = pictures.measure(p.data);
    t.ok(`${what}: picture ${i} is at most 2000 px`, Math.max(m.width, m.height) <= 2000, m);
    t.ok(`${what}: picture ${i} is at most 500 KB`, p.data.length <= 500_000, `${p.data.length} bytes`);
    t.same(`${what}: picture ${i} has the type it says`, p.mime, m.mime);
    t.same(`${what}: picture ${i} is upright`, m.orientation, 1);
    t.same(`${what}: picture ${i} stands in the user's message`, p.role, "user");
  }
  const [first, second] = sent.map((p) => pictures.measure(p.data));
  t.ok(`${what}: the first is the landscape`, first && Math.abs(first.width / first.height - 1.6) < 0.02, first);
  t.same(`${what}: the second was turned`, second && [second.width, second.height], [40, 60]);
}

// checkOrder holds that text and pictures stand in the order of the prompt.
function checkOrder(t, body) {
  const user = body.messages.findLast((m) => m.role === "user");
  const marks = [];
  for (const p of user.content) {
    if (p.type === "image_url") marks.push("picture");
    for (const [words, mark] of [["Here are two pictures:", "first text"], ["and", "second text"]]) if (p.text === words) marks.push(mark);
  }
  t.same("order of text and pictures", marks, ["first text", "picture", "second text", "picture"]);
}

function checkReceipts(t, prompt, result, updates, body) {
  const receipts = result._meta?.["tote/receipts"] ?? [];
  t.ok("a receipt for each block", receipts.length >= prompt.length, receipts.map((r) => r.label));
  const early = updates.findIndex((u) => u.update._meta?.["tote/receipts"]);
  const token = updates.findIndex((u) => u.update.sessionUpdate === "agent_message_chunk");
  t.ok("receipts come before the first token", early >= 0 && early < token, { early, token });
  const said = updates.filter((u) => u.update.sessionUpdate === "notice").map((u) => `${u.update.title} ${u.update.description}`).join("\n");
  const words = textOf(body);
  for (const r of receipts) {
    if (r.kind !== "text") t.ok(`${r.label} is named to the model`, words.includes(`[${r.label}`), words.slice(0, 2000));
    const whole = ["inline", "shrunk", "converted"].includes(r.disposition);
    if (!whole) t.ok(`a notice for ${r.label} (${r.disposition})`, said.includes(r.label), said);
  }
  const kinds = receipts.map((r) => r.kind);
  for (const kind of ["text", "image", "resource", "audio", "link", "document", "opaque"]) t.ok(`a receipt of kind ${kind}`, kinds.includes(kind), kinds);
  const by = (kind) => receipts.filter((r) => r.kind === kind);
  t.same("pictures", by("image").map((r) => r.disposition).slice(0, 2).every((d) => ["inline", "shrunk", "converted"].includes(d)), true);
  t.ok("the truncated picture is not sent", !["inline", "shrunk", "converted"].includes(by("image")[2]?.disposition), by("image")[2]);
  for (const w of ["<svg", "the linked words", "package embedded", "hello paper"]) t.ok(`${w} reaches the model`, words.includes(w));
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

export async function everyKind(t) {
  writeFileSync(join(t.project, "linked.txt"), "the linked words\n");
  const prompt = promptIn(t.project);
  let peer = t.peer();
  peer.tee.declare(/^out: session\/prompt: /, 1); // the block of an unknown kind
  const hello = await peer.initialize();
  t.same("version", hello.protocolVersion, 1);
  t.same("kinds of prompt", hello.agentCapabilities.promptCapabilities, { image: true, audio: true, embeddedContext: true });
  const { sessionId, configOptions } = await peer.request("session/new", { cwd: t.project, mcpServers: [] });
  t.ok("the model's sight is in the options", JSON.stringify(configOptions).includes("pictures: yes"), configOptions);

  const live = await prompts(peer, sessionId, prompt);
  t.same("stop reason", live.result.stopReason, "end_turn");
  t.same("one request", t.backend.requests.length, 1);
  const first = t.backend.requests[0];
  checkPictures(t, "first prompt", first.pictures);
  checkOrder(t, first.body);
  const receipts = checkReceipts(t, prompt, live.result, live.updates, first.body);
  const echo = rawEcho(live.updates);
  t.same("blocks that came back", echo.length, prompt.length);
  for (const [i, b] of prompt.entries()) t.ok(`block ${i} (${kindOf(b)}) comes back byte for byte`, echo[i] === JSON.stringify(b), echo[i]?.slice(0, 200));
  t.same("no unknown kind reaches the client raw", live.updates.some((u) => u.update.content?.type === "video"), false);

  const next = await prompts(peer, sessionId, [text("And now only words.")]);
  t.same("next prompt", next.result.stopReason, "end_turn");
  t.same("next prompt sends the pictures again", t.backend.requests.at(-1).pictures.map((p) => p.url), first.pictures.map((p) => p.url));

  await peer.kill();
  peer = t.peer();
  await peer.initialize();
  await peer.request("session/load", { sessionId, cwd: t.project, mcpServers: [] });
  const replay = peer.take();
  const lines = (us) => us.filter((u) => u.update.sessionUpdate === "user_message_chunk").map((u) => u.raw);
  const want = [...lines(live.updates), ...lines(next.updates)];
  const got = lines(replay);
  t.same("replayed blocks", got.length, want.length);
  for (const [i, raw] of want.entries()) t.ok(`line ${i} is replayed byte for byte`, got[i] === raw, got[i]?.slice(0, 200));
  const answers = (us) => us.filter((u) => u.update.sessionUpdate === "agent_message_chunk").map((u) => [u.update.messageId, u.update.content.text]);
  const joined = (us) => answers(us).reduce((m, [id, t]) => m.set(id, (m.get(id) ?? "") + t), new Map());
  t.same("answers", [...joined(replay)], [...joined([...live.updates, ...next.updates])]);

  const after = await prompts(peer, sessionId, [text("Look again.")]);
  t.same("after the crash", after.result.stopReason, "end_turn");
  t.same("the same pictures again", t.backend.requests.at(-1).pictures.map((p) => p.url), first.pictures.map((p) => p.url));
  const told = textOf(t.backend.requests.at(-1).body);
  const staged = receipts.filter((r) => r.disposition === "path");
  t.ok("something goes by path", staged.length > 0, receipts.map((r) => [r.label, r.disposition]));
  const replayed = join(t.home, "scratch", sessionId, "replayed");
  for (const r of staged) {
    const file = join(replayed, r.label);
    t.ok(`${r.label} is staged under replayed`, existsSync(file), existsSync(replayed) ? readdirSync(replayed) : "no folder");
    const named = told.split(`[${r.label}`)[1]?.match(/Its file: @([^\]]*)\]/)?.[1] ?? "";
    t.same(`the model is told of the file for ${r.label}`, named, file);
    t.ok(`${r.label} lies also where it was named before`, existsSync(join(t.home, "scratch", sessionId, r.label)));
  }
  const audio = staged.find((r) => r.kind === "audio");
  if (audio) t.ok("the staged sound is the sound", readFileSync(join(replayed, audio.label)).equals(pictures.wav()));

  const { sessions } = await peer.request("session/list", { cwd: t.project });
  t.ok("the session is listed with a title", sessions.some((s) => s.sessionId === sessionId && s.title?.startsWith("Here are two pictures")), sessions);
  t.same("clean end", await peer.end(), { code: 0, signal: null });
  return sessionId;
}

export async function refusing(t) {
  const peer = t.peer({});
  await peer.initialize();
  const { sessionId } = await peer.request("session/new", { cwd: t.project, mcpServers: [] });
  const { configOptions } = await peer.request("session/set_config_option", { sessionId, configId: "agent", value: "strict" });
  t.same("the agent was chosen", configOptions.find((o) => o.id === "agent").currentValue, "strict");
  t.backend.mode = "refuse";
  const one = await prompts(peer, sessionId, [text("see"), image(small, "image/png")]);
  t.same("a refused picture does not end the turn", one.result.stopReason, "end_turn");
  t.ok("the user is told without notices", one.updates.some((u) => u.update.sessionUpdate === "agent_message_chunk" && /\[tote\].*image-1/s.test(u.update.content.text)), one.updates.map((u) => u.update.content?.text));
  t.same("no notice goes to a client that takes none", one.updates.some((u) => u.update.sessionUpdate === "notice"), false);
  const count = t.backend.requests.length;
  const two = await prompts(peer, sessionId, [text("and words?")]);
  t.same("the next turn works", two.result.stopReason, "end_turn");
  t.same("and asks once", t.backend.requests.length, count + 1);
  t.backend.mode = "answer";
  t.same("clean end", await peer.end(), { code: 0, signal: null });
}

export async function cancelling(t) {
  const peer = t.peer();
  await peer.initialize();
  const { sessionId } = await peer.request("session/new", { cwd: t.project, mcpServers: [] });
  t.backend.mode = "hang";
  const running = peer.request("session/prompt", { sessionId, prompt: [text("wait")] });
  while (t.backend.open.size === 0) await sleep(10);
  const queued = peer.request("session/prompt", { sessionId, prompt: [text("wait too")] });
  await peer.notify("session/cancel", { sessionId });
  t.same("the running turn is cancelled", (await running).stopReason, "cancelled");
  t.same("and the one that waits", (await queued).stopReason, "cancelled");
  t.backend.mode = "answer";
  t.same("the session goes on", (await prompts(peer, sessionId, [text("go on")])).result.stopReason, "end_turn");
  await peer.request("session/close", { sessionId });
  await peer.request("session/delete", { sessionId });
  await peer.request("session/delete", { sessionId });
  const { sessions } = await peer.request("session/list", {});
  t.ok("a deleted session is not listed", !sessions.some((s) => s.sessionId === sessionId), sessions);
  const gone = await peer.request("session/load", { sessionId, cwd: t.project, mcpServers: [] }).then(() => null, (e) => e.code);
  t.same("nor loaded", gone, -32002);

  t.backend.mode = "hang";
  const { sessionId: last } = await peer.request("session/new", { cwd: t.project, mcpServers: [] });
  peer.request("session/prompt", { sessionId: last, prompt: [text("cut off")] }).catch(() => {}); // its reply may be lost
  while (t.backend.open.size === 0) await sleep(10);
  t.same("clean end in the middle of a turn", await peer.end(), { code: 0, signal: null });
  t.backend.mode = "answer";
}

// checkCalls holds that every call was announced before anything else was said of
// it, asked about or not, and has one end with nothing behind it.
function checkCalls(t, peer, updates) {
  const state = new Map();
  const ended = (u) => u.status === "completed" || u.status === "failed";
  for (const { update: u } of updates) {
    if (u.sessionUpdate === "tool_call") {
      t.ok(`${u.title} is announced once`, !state.has(u.toolCallId));
      state.set(u.toolCallId, ended(u) ? u.status : "open");
    } else if (u.sessionUpdate === "tool_call_update") {
      t.same(`an update of an open call ${u.toolCallId}`, state.get(u.toolCallId), "open");
      if (ended(u)) state.set(u.toolCallId, u.status);
    }
  }
  for (const q of peer.questions) t.ok(`the question about ${q.toolCall.title} is about a call`, state.has(q.toolCall.toolCallId), q);
  return [...state.values()];
}

// repairing has a scripted model mend a program whose picture shows the fault.
export async function repairing(t) {
  const repo = join(t.root, "repo"), file = join(repo, "bar.mjs");
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
  t.backend.script.push(...calls, "The bar is whole again.");
  const peer = t.peer();
  peer.answer = ({ toolCall, options }) => {
    if (toolCall.title.includes("rm -r")) return "reject";
    return toolCall.title === "Run the check" && options.some((o) => o.optionId === "allow_always") ? "allow_always" : "allow";
  };
  const hello = await peer.initialize();
  t.same("transports of MCP servers", hello.agentCapabilities.mcpCapabilities, { http: true, sse: true });
  const { sessionId } = await peer.request("session/new", { cwd: repo, mcpServers: [] });
  const turn = await prompts(peer, sessionId, [text("The bar has a gap, see fault.png. Mend it.")]);
  t.same("repair: stop reason", turn.result.stopReason, "end_turn");
  t.same("repair: asked", peer.questions.map((q) => q.toolCall.title), ["Edit bar.mjs", "Run the check", "rm -r /nowhere/of/this/name", "Edit bar.mjs"]);
  for (const q of peer.questions) t.ok(`repair: ${q.toolCall.title} can be allowed once or not`, ["allow_once", "reject_once"].every((k) => q.options.some((o) => o.kind === k)), q.options);
  t.same("repair: ends", checkCalls(t, peer, turn.updates).flatMap((s, i) => (s === "completed" ? [] : [`c${i + 1} ${s}`])), ["c5 failed", "c7 failed", "c10 failed"]);
  const { body, pictures: sent } = t.backend.requests.at(-1);
  for (const [id, words] of [["c2", "export const filled"], ["c3", "bar.mjs"], ["c4", "check.mjs"], ["c5", "bar.mjs"], ["c6", "edited"], ["c7", "is wrong"], ["c10", "did not permit"], ["c11", "edited"], ["c12", "all is well"]]) {
    t.ok(`repair: ${id} tells the model ${words}`, resultOf(body, id)?.includes(words), resultOf(body, id));
  }
  t.ok("repair: the rules of the project are in the request", textOf(body).includes("Every change keeps the check green."));
  t.ok("repair: the picture arrives as it is", sent[0]?.data.equals(shot), sent.map((p) => p.data.length));
  t.same("repair: the enlarged part", sent[1] && [pictures.measure(sent[1].data).width, pictures.measure(sent[1].data).height], [64, 32]);
  t.ok("repair: no payload stands in text", !textOf(body).includes(shot.toString("base64").slice(0, 60)));
  const shown = JSON.stringify(turn.updates.map((u) => u.update.content ?? null));
  for (const words of ['"type":"diff"', "export const filled = (n) => Math.min(n, width);", "is wrong", "all is well", '"type":"image"']) t.ok(`repair: the user sees ${words}`, shown.includes(words));
  const plans = turn.updates.filter((u) => u.update.sessionUpdate === "plan").map((u) => u.update.entries.map((e) => e.status));
  t.same("repair: the plan", plans, [["in_progress", "pending"], ["completed", "completed"]]);
  t.same("repair: the file", readFileSync(file, "utf8"), source.replace("Math.min(n, width - 1)", "Math.min(n, width)").replace("Math.max(width - 1 - n, 0)", "Math.max(width - n, 0)"));

  peer.questions.length = 0;
  t.backend.script.push([["d1", "bash", check]], "done");
  const { sessionId: other } = await peer.request("session/new", { cwd: repo, mcpServers: [] });
  const second = await prompts(peer, other, [text("check it")]);
  t.same("what is allowed for good is not asked in another session", peer.questions.length, 0);
  t.same("and done", checkCalls(t, peer, second.updates), ["completed"]);
  const undo = await prompts(peer, sessionId, [text("/undo")]);
  t.same("/undo: stop reason", undo.result.stopReason, "end_turn");
  t.same("/undo: the file is as it was", readFileSync(file, "utf8"), source);
  const again = t.peer();
  await again.initialize();
  await again.request("session/load", { sessionId: other, cwd: repo, mcpServers: [] });
  t.same("the replay brings its calls to an end", checkCalls(t, again, again.take()), ["completed"]);
  t.same("clean end", await again.end(), { code: 0, signal: null });
  t.same("clean end", await peer.end(), { code: 0, signal: null });
}

