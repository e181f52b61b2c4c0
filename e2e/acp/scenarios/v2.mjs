// Version 2 of the protocol, which the configuration switches on.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hanging, resultOf } from "../backend.mjs";
import { Raw, sleep, within } from "../agent.mjs";
import * as pictures from "../pictures.mjs";
import { image, text } from "../rig.mjs";
import { calls, enable, fold, hello, isEnd, isState, isUpdate, messages, open, ready, since, turn, words } from "../second.mjs";

const shot = pictures.png(64, 32);
const program = fileURLToPath(new URL("../mcp-server.mjs", import.meta.url));

function checkSent(t, what) {
  const sent = t.backend.requests.at(-1)?.pictures ?? [];
  t.same(`${what}: one picture arrives`, sent.map((p) => p.url), [`data:image/png;base64,${shot.toString("base64")}`]);
}

export async function official(t) {
  enable(t);
  const peer = t.peer2();
  const h = await peer.initialize();
  t.same("version", h.protocolVersion, 2);
  t.same("it says who it is", h.info.name, "tote");
  const { sessionId, availableCommands } = await peer.request("session/new", { cwd: t.project });
  t.ok("the commands come with the session", availableCommands?.length > 0, availableCommands);
  const { messageId } = await peer.request("session/prompt", { sessionId, prompt: [text("what is it"), image(shot)] });
  const ended = () => peer.seen.some((u) => u.sessionUpdate === "state_update" && u.state === "idle" && u.stopReason === "end_turn");
  for (let i = 0; i < 500 && !ended(); i++) await sleep(10);
  t.ok("the turn ends", ended(), peer.seen.map((u) => u.sessionUpdate));
  checkSent(t, "official");
  t.same("the answer is shown", words(peer.seen, "agent_message"), "seen 1");
  const user = fold(peer.seen).find((m) => m.role === "user_message");
  t.same("the message is shown, under the id of the reply", [user?.id, user?.content.map((b) => b.type)], [messageId, ["text", "image"]]);
  t.same("the client let through all that was sent", peer.seen.length, peer.updates.length);

  peer.answer = (q) => q.options.find((o) => o.kind === "allow_once").optionId;
  t.backend.script.push([["c1", "bash", { command: "echo hello > made" }]], "it is made");
  peer.seen.length = 0;
  await peer.request("session/prompt", { sessionId, prompt: [text("make it")] });
  for (let i = 0; i < 500 && !ended(); i++) await sleep(10);
  t.ok("it is asked and done", peer.questions.length === 1 && existsSync(join(t.project, "made")), peer.questions);
  t.same("the call ends well", calls(peer.seen).map((c) => c.status), ["completed"]);
  const { sessions } = await peer.request("session/list", {});
  t.ok("it is listed", sessions.some((s) => s.sessionId === sessionId));
  t.same("clean end", await peer.end(), { code: 0, signal: null });

  const next = t.peer2();
  await next.initialize();
  await next.request("session/resume", { sessionId, cwd: t.project, replayFrom: { type: "start" } });
  await sleep(50); // the client hands updates on by itself
  t.same("resumed from the start it shows all", fold(next.seen).map((m) => m.role), ["user_message", "agent_message", "user_message", "agent_message"]);
  t.same("with the id of before", fold(next.seen)[0]?.id, messageId);
  await next.request("session/close", { sessionId });
  await next.request("session/delete", { sessionId });
  t.same("clean end", await next.end(), { code: 0, signal: null });
}
official.title = "official client 2.4.0, version 2";

export async function negotiation(t) {
  enable(t);
  for (const [asked, want] of [[1, 1], [2, 2], [3, 2], [7, 2], [65535, 2]]) {
    const c = t.start(new Raw(t.bin, t.env, { version: want }));
    c.tee.tolerate(/^out: initialize/);
    const { result } = await hello(c, asked);
    t.same(`${asked} is answered with ${want}`, result?.protocolVersion, want);
    const made = await c.request("session/new", { cwd: t.project, mcpServers: [] });
    t.ok(`and serves`, made.result?.sessionId !== undefined, made.error);
    await c.end();
  }
  const c = t.start(new Raw(t.bin, t.env, { version: 2 }));
  const { error } = await hello(c, 0);
  t.same("0 is refused", [error?.code, error?.data?.requested], [-32022, 0]);
  t.same("with what there is", [...(error?.data?.supported ?? [])].sort(), [1, 2]);
  t.same("and may be asked again", (await hello(c, 2)).result?.protocolVersion, 2);
  t.same("also when it was answered", (await hello(c, 2)).result?.protocolVersion, 2);
  await open(c, t.project);
  t.same("but not after another request", (await hello(c, 2)).error?.code, -32600);

  // An editor of version 1 sees nothing of it.
  const old = t.peer();
  await old.initialize();
  const { sessionId } = await old.request("session/new", { cwd: t.project, mcpServers: [] });
  t.same("version 1 is served beside it", (await old.request("session/prompt", { sessionId, prompt: [text("hello"), image(shot)] })).stopReason, "end_turn");
  checkSent(t, "version 1");
  await old.end();
  t.configure({});
  const off = t.raw();
  off.tee.tolerate(/^out: initialize/);
  t.same("switched off, 2 is answered with 1", (await hello(off, 2)).result?.protocolVersion, 1);
}
negotiation.title = "negotiation";

export async function echo(t) {
  enable(t);
  const c = await ready(t);
  c.tee.tolerate(/^out: session\/prompt/); // a kind without an underscore
  const sessionId = await open(c, t.project);
  const blocks = [
    text("see"), { ...image(shot), annotations: { audience: ["user", "_robot"], priority: 0.5 }, _meta: { "x/y": [1.5, null] } },
    { type: "resource", resource: { uri: "file:///a.go", mimeType: "text/x-go", text: "package a\n" } },
    { type: "resource_link", uri: "file:///nowhere/b.txt", name: "b.txt", icons: [{ src: "https://example.com/i.png" }] },
    { type: "audio", mimeType: "audio/wav", data: pictures.wav().toString("base64") },
    { type: "_sketch", strokes: [[0, 1.5], [2, 3]] }, { type: "video", mimeType: "video/mp4", data: "AAAA", extra: { a: "ü" } },
  ];
  const from = c.tee.lines.in.length;
  const one = await turn(c, sessionId, ...blocks);
  t.same("kinds that nobody knows are no reason to refuse", one.stopReason, "end_turn");
  const line = c.tee.lines.in.slice(from).find((l) => l.includes('"user_message"'));
  t.ok("every block comes back byte for byte", line?.includes(blocks.map((b) => JSON.stringify(b)).join(",")), line?.slice(0, 600));
  t.same("under the id of the reply", fold(one.updates).filter((m) => m.role === "user_message").map((m) => m.id), [one.messageId]);
  checkSent(t, "echo");
  const before = one.all.findIndex((m) => m.params?.update?.sessionUpdate?.startsWith("agent_message"));
  t.ok("before any word of the agent", one.all.findIndex((m) => m.params?.update?.sessionUpdate?.startsWith("user_message")) < before);

  const d = await ready(t);
  const { result } = await d.request("session/resume", { sessionId, cwd: t.project, replayFrom: { type: "start" } });
  t.ok("it is resumed", result !== undefined);
  t.same("and shows the same message", d.tee.lines.in.find((l) => l.includes('"user_message"')), line);

  // An empty prompt may be refused, and a block without a type has to be.
  for (const [what, prompt] of [["a block without a type", [{ text: "a" }]], ["words", "hello"]]) {
    t.same(`${what} is refused`, (await c.request("session/prompt", { sessionId, prompt })).error?.code, -32602);
  }
}
echo.title = "the user's message comes back";

// A message that is too long for a client's reader comes in parts.
export async function large(t) {
  enable(t);
  const c = await ready(t);
  const sessionId = await open(c, t.project);
  const noise = (n, seed) => { const b = pictures.png(8, 8); const out = Buffer.alloc(n, seed); b.copy(out); return out; };
  const blocks = [text("three"), image(noise(8 << 20, 1)), image(noise(8 << 20, 2)), image(noise(8 << 20, 3))];
  const one = await turn(c, sessionId, ...blocks);
  t.same("32 MiB of pictures in one prompt", one.stopReason, "end_turn");
  const own = one.updates.filter((u) => u.sessionUpdate.startsWith("user_message"));
  t.same("come back in parts", own.map((u) => u.sessionUpdate), ["user_message", ...blocks.map(() => "user_message_chunk")]);
  t.same("after an empty message", own[0]?.content, []);
  t.ok("each as it was", own.slice(1).every((u, i) => JSON.stringify(u.content) === JSON.stringify(blocks[i])));
  const two = await turn(c, sessionId, text("one"), image(noise(23 << 20, 4)));
  const big = fold(two.updates).find((m) => m.role === "user_message");
  t.same("a block that fits no line", two.stopReason, "end_turn");
  t.ok("has something in its place", big?.content.length === 2 && ["text", "resource_link"].includes(big.content[1].type), big?.content.map((b) => b.type));
  const longest = Math.max(...c.tee.lines.in.map((l) => Buffer.byteLength(l)));
  t.ok("no line is longer than 30 MiB", longest < 30 << 20, longest);
  c.tee.lines.in.length = 0;

  const d = await ready(t);
  await d.request("session/resume", { sessionId, cwd: t.project, replayFrom: { type: "start" } });
  const replay = d.take().map((u) => u.update);
  const parts = replay.filter((u) => u.messageId === one.messageId);
  t.same("the replay comes in the same parts", parts.map((u) => u.sessionUpdate), own.map((u) => u.sessionUpdate));
  t.ok("which are the same", parts.every((u, i) => JSON.stringify(u.content) === JSON.stringify(own[i].content)));
  t.ok("in lines below 30 MiB", d.tee.lines.in.every((l) => l.length < 30 << 20));
}
large.title = "large messages in parts";

export async function states(t) {
  enable(t);
  const c = await ready(t);
  c.manual = true;
  const sessionId = await open(c, t.project);
  t.backend.script.push([["c1", "bash", { command: "touch made" }]], "done");
  const from = c.all.length;
  const { result } = await c.prompt(sessionId, "make it");
  t.ok("the reply does not wait for the turn", result?.messageId !== undefined);
  const q = await c.until((m) => m.method === "session/request_permission", 5000, from);
  await c.until((m) => isState(m, sessionId, "requires_action"), 1000, from);
  t.ok("while it asks the session requires action", c.all.slice(from).some((m) => isState(m, sessionId, "requires_action")));
  const { title, subject, options } = q.params;
  t.ok("a question has a title and options", title !== "" && options.length > 0, q.params);
  t.ok("and says what it is about", ["tool_call", "command"].includes(subject?.type), subject);
  const known = calls(since(c, sessionId, from).updates).map((x) => x.toolCallId);
  const about = subject?.toolCall?.toolCallId ?? subject?.toolCallId;
  t.ok("which is a call that was told before", known.includes(about), { about, known });
  await c.send({ jsonrpc: "2.0", id: q.id, result: { outcome: { outcome: "selected", optionId: options.find((o) => o.kind === "allow_once").optionId } } });
  await c.until((m) => isEnd(m, sessionId), 5000, from);
  const seen = since(c, sessionId, from).updates.filter((u) => u.sessionUpdate === "state_update").map((u) => u.state);
  t.same("states", seen.filter((s, i) => s !== seen[i - 1]), ["running", "requires_action", "running", "idle"]);
  t.ok("it is done", existsSync(join(t.project, "made")));

  // Answers that nobody knows allow nothing.
  for (const [i, answer] of [{ result: { outcome: { outcome: "_approved", optionId: "allow" } } }, { result: { outcome: { outcome: "cancelled" } } }, { error: { code: -32603, message: "no" } }].entries()) {
    t.backend.script.push([[`d${i}`, "bash", { command: `touch never-${i}` }]], "done");
    const at = c.all.length;
    await c.prompt(sessionId, "again");
    const question = await c.until((m) => m.method === "session/request_permission", 5000, at);
    await c.send({ jsonrpc: "2.0", id: question?.id, ...answer });
    t.ok(`${JSON.stringify(answer).slice(0, 60)}: the turn ends`, (await c.until((m) => isEnd(m, sessionId), 5000, at)) !== undefined);
    t.ok(`${JSON.stringify(answer).slice(0, 60)}: allows nothing`, !existsSync(join(t.project, `never-${i}`)));
    t.backend.script.length = 0;
  }

  // A turn that fails ends in a state, too.
  t.backend.mode = "fail";
  const failed = await turn(c, sessionId, "fail");
  t.ok("a turn that fails is idle with an error", failed.stopReason === "error" && failed.idle?.error?.message !== undefined, failed.error ?? failed.idle);
  t.backend.mode = "answer";
  t.same("and the next works", (await turn(c, sessionId, "go on")).stopReason, "end_turn");
}
states.title = "states, questions, faults";

export async function cancelling(t) {
  enable(t);
  const c = await ready(t);
  c.manual = true;
  const sessionId = await open(c, t.project);
  t.backend.respond = () => hanging;
  let from = c.all.length;
  const first = await c.prompt(sessionId, "work");
  t.ok("inserted", first.result?.messageId !== undefined, first);
  t.ok("it runs", await t.backend.until((b) => b.open.size === 1));
  const held = c.prompt(sessionId, "more");
  t.same("a prompt that waits is not answered", await within(200, held), undefined);
  await c.notify("session/cancel", { sessionId });
  await c.until((m) => isEnd(m, sessionId), 5000, from);
  t.same("cancelled", since(c, sessionId, from).stopReason, "cancelled");
  t.same("what was held is answered so", (await within(3000, held))?.error?.code, -32800);
  const at = c.all.length;
  await sleep(150);
  t.same("nothing follows", c.all.slice(at).filter((m) => isUpdate(m, sessionId)), []);

  t.backend.respond = () => undefined;
  t.backend.script.push([["c1", "bash", { command: "touch never" }]]);
  from = c.all.length;
  await c.prompt(sessionId, "make it");
  const q = await c.until((m) => m.method === "session/request_permission", 5000, from);
  await c.notify("session/cancel", { sessionId });
  const end = await c.until((m) => isEnd(m, sessionId), 5000, from);
  t.same("a question that nobody answers does not hold it", end?.params.update.stopReason, "cancelled");
  await c.until((m) => m.method === "$/cancel_request" && m.params.requestId === q.id, 1000, from);
  t.ok("and is called back", c.all.slice(from).some((m) => m.method === "$/cancel_request" && m.params.requestId === q.id));
  t.same("the call is cancelled", calls(since(c, sessionId, from).updates).map((x) => x.status), ["cancelled"]);
  t.ok("and not done", !existsSync(join(t.project, "never")));
  await c.send({ jsonrpc: "2.0", id: q.id, error: { code: -32800, message: "cancelled" } });
  t.same("the session works on", (await turn(c, sessionId, "go on")).stopReason, "end_turn");

  // Close ends it: the state first, then the reply, then nothing.
  t.backend.respond = () => hanging;
  from = c.all.length;
  await c.prompt(sessionId, "work");
  t.ok("it runs", await t.backend.until((b) => b.open.size === 1));
  const closed = await c.request("session/close", { sessionId });
  t.same("close while busy", closed.result, {});
  const order = c.all.slice(from).filter((m) => isEnd(m, sessionId) || m === closed);
  t.same("the state comes first", order.map((m) => m.params?.update.stopReason ?? "reply"), ["cancelled", "reply"]);
  const after = c.all.length;
  await sleep(150);
  t.same("nothing follows the reply", c.all.slice(after), []);
}
cancelling.title = "cancel, held prompts, close";

export async function resuming(t) {
  enable(t);
  let c = await ready(t);
  const sessionId = await open(c, t.project);
  const one = await turn(c, sessionId, "look", image(shot));
  t.backend.script.push([["c1", "glob", { pattern: "*" }]], "there you are");
  const two = await turn(c, sessionId, "list them");
  // The parts of a text may be others in a replay, the text is the same.
  const shape = (us) => fold(us).map((m) => [m.id, m.role, m.content.map((b) => b.text ?? b.data).join("")]);
  const live = shape([...one.updates, ...two.updates]);
  await c.kill();

  c = await ready(t);
  let from = c.all.length;
  const plain = await c.request("session/resume", { sessionId, cwd: t.project });
  t.ok("it is resumed", plain.result !== undefined, plain.error);
  const now = c.all.slice(from, c.all.indexOf(plain));
  t.same("without a cursor nothing is shown", now.filter((m) => messages.includes(m.params?.update?.sessionUpdate)).length, 0);
  t.same("but the state, before the reply", now.filter((m) => isState(m, sessionId)).map((m) => m.params.update.state), ["idle"]);
  from = c.all.length;
  const again = await c.request("session/resume", { sessionId, cwd: t.project, replayFrom: { type: "start" } });
  const shown = c.all.slice(from, c.all.indexOf(again));
  t.same("from the start all messages are", shape(shown.filter((m) => isUpdate(m, sessionId)).map((m) => m.params.update)), live);
  t.ok("the state is the last before the reply", isState(shown.at(-1) ?? {}, sessionId, "idle"), shown.at(-1));
  t.same("the call has ended", calls(shown.filter((m) => isUpdate(m, sessionId)).map((m) => m.params.update)).map((x) => x.status), ["completed"]);
  t.same("no notice is replayed", shown.filter((m) => m.params?.update?.sessionUpdate === "notice").length, 0);
  for (const replayFrom of [{ type: "_elsewhere" }, { type: "message" }, "start"]) {
    c.tee.tolerate(/^out: session\/resume/);
    t.same(`the cursor ${JSON.stringify(replayFrom)} is refused`, (await c.request("session/resume", { sessionId, cwd: t.project, replayFrom })).error?.code, -32602);
  }
  const lost = await c.request("session/resume", { sessionId: "nobody", cwd: t.project });
  t.same("an unknown session", [lost.error?.code, lost.error?.data?.sessionId], [-32002, "nobody"]);

  // While a turn runs.
  t.backend.respond = () => hanging;
  from = c.all.length;
  const { result } = await c.prompt(sessionId, "work");
  t.ok("it runs", await t.backend.until((b) => b.open.size === 1));
  await c.until((m) => words(since(c, sessionId, from).updates, "agent_message") === "seen ", 3000, from);
  from = c.all.length;
  const busy = await within(3000, c.request("session/resume", { sessionId, cwd: t.project, replayFrom: { type: "start" } }));
  t.ok("resumed while busy", busy?.result !== undefined, busy);
  const during = since(c, sessionId, from).updates;
  t.ok("it shows what is being said", fold(during).some((m) => m.id === result.messageId) && words(during, "agent_message").endsWith("seen "), fold(during));
  t.same("and is running", during.findLast((u) => u.sessionUpdate === "state_update")?.state, "running");
  t.backend.finish("after all");
  await c.until((m) => isEnd(m, sessionId), 5000, from);
  t.ok("the rest follows", words(since(c, sessionId, from).updates, "agent_message").endsWith("seen after all"), words(since(c, sessionId, from).updates, "agent_message"));
}
resuming.title = "resume, replay and its cursor";

export async function tools(t) {
  enable(t);
  writeFileSync(join(t.project, "a.txt"), "one\n");
  const c = await ready(t);
  const sessionId = await open(c, t.project, { mcpServers: [{ type: "stdio", name: "eyes", command: process.execPath, args: [program] }] });
  t.backend.script.push(
    [["c1", "todo", { steps: [{ text: "do it", status: "in_progress" }] }]], [["c2", "read", { path: "a.txt" }]],
    [["c3", "edit", { path: "a.txt", edits: [{ old: "one", new: "two" }] }]], [["c4", "bash", { command: "echo hällo; echo made >&2" }]],
    [["c5", "mcp__eyes__screenshot", {}]], [["c6", "read", { path: "none.txt" }]], "done",
  );
  const one = await turn(c, sessionId, "work");
  t.same("stop reason", one.stopReason, "end_turn");
  const all = calls(one.updates);
  t.same("every call has an end", all.filter((x) => !["completed", "failed"].includes(x.status)).map((x) => x.title), []);
  t.ok("and was told before it ran", all.every((x) => x.seen[0] === "pending" || x.seen[0] === "in_progress"), all.map((x) => x.seen));
  t.ok("each with a title from the first", one.updates.filter((u, i) => u.sessionUpdate === "tool_call_update" && one.updates.findIndex((v) => v.toolCallId === u.toolCallId) === i).every((u) => u.title));
  const diffs = all.flatMap((x) => x.content ?? []).filter((x) => x.type === "diff");
  t.ok("the edit is shown as a diff of the file", diffs.some((d) => d.changes?.some((ch) => ch.path === join(t.project, "a.txt"))), diffs);
  t.same("the file is changed", readFileSync(join(t.project, "a.txt"), "utf8"), "two\n");
  const shown = all.flatMap((x) => x.content ?? []).filter((x) => x.type === "content" && x.content.type === "image");
  t.ok("a picture of a tool is a picture", shown.length === 1 && t.backend.requests.at(-1).pictures.some((p) => p.data.toString("base64") === shown[0].content.data), shown.length);
  t.ok("the plan is shown", one.updates.some((u) => u.sessionUpdate === "plan_update" && u.plan.planId && u.plan.entries.length === 1), one.updates.filter((u) => u.sessionUpdate === "plan_update"));
  const ids = all.flatMap((x) => x.content ?? []).filter((x) => x.type === "terminal").map((x) => x.terminalId);
  const told = one.updates.filter((u) => ["terminal_update", "terminal_output_chunk"].includes(u.sessionUpdate));
  if (ids.length > 0) {
    const bytes = Buffer.concat(told.filter((u) => ids.includes(u.terminalId)).flatMap((u) => [u.data, u.output?.data].filter(Boolean)).map((d) => Buffer.from(d, "base64")));
    t.ok("a terminal shows what was printed", bytes.toString("utf8").includes("hällo") && bytes.toString("utf8").includes("made"), bytes.toString("utf8"));
    t.ok("and how it ended", told.some((u) => u.exitStatus), told);
  } else {
    t.ok("what a command printed is shown", JSON.stringify(all).includes("hällo"), all);
  }
  t.ok("the model has it all", resultOf(t.backend.requests.at(-1).body, "c4")?.includes("hällo"));
  t.ok("usage is told", one.updates.some((u) => u.sessionUpdate === "usage_update" && u.used > 0 && u.size > 0) || !one.updates.some((u) => u.sessionUpdate === "usage_update"));
}
tools.title = "tools, diffs, terminals, servers of the client";

export async function shapes(t) {
  enable(t);
  const c = await ready(t);
  c.tee.tolerate(/^out: /);
  c.noise = /unreadable message/;
  for (const id of ["null", "1.5", "{}", "true"]) {
    const from = c.all.length;
    await c.write(`{"jsonrpc":"2.0","id":${id},"method":"session/list","params":{}}\n`);
    const m = await c.until(() => true, 20_000, from);
    t.same(`the id ${id} is refused`, [m?.error?.code, m?.id], [-32600, null]);
  }
  for (const id of [7, "ü", -1]) t.ok(`the id ${id} is taken`, (await c.request("session/list", {}, id)).result !== undefined);
  for (const method of ["session/load", "session/set_mode", "authenticate", "logout", "fs/read_text_file", "terminal/create"]) {
    t.same(`${method} is gone`, (await c.request(method, { sessionId: "x", cwd: t.project, mcpServers: [], modeId: "x", methodId: "x" })).error?.code, -32601);
  }
  t.ok("without a way to log in there is no login", [-32601, -32602].includes((await c.request("auth/login", { methodId: "x" })).error?.code));
  t.same("a server without a type is refused", (await c.request("session/new", { cwd: t.project, mcpServers: [{ name: "a", command: "/bin/true" }] })).error?.code, -32602);
  t.ok("a call that cannot be cancelled", [-32601, -32602].includes((await c.request("tool_call/cancel", { sessionId: await open(c, t.project), toolCallId: "x" })).error?.code));
  const h = c.hello.capabilities;
  t.ok("what it can do is said with objects", h.session?.prompt?.image && typeof h.session.prompt.image === "object" && typeof h.session.prompt.audio === "object" && typeof h.session.prompt.embeddedContext === "object", h);
  t.ok("stdio and http servers", typeof h.session.mcp?.stdio === "object" && typeof h.session.mcp?.http === "object", h.session.mcp);
  const { result } = await c.request("session/new", { cwd: t.project });
  for (const o of result.configOptions) {
    const values = o.options.flatMap((x) => x.options ?? [x]).map((x) => x.value);
    t.ok(`${o.configId} has one of its values`, values.includes(o.currentValue), o);
    const value = values.find((v) => v !== o.currentValue);
    if (value === undefined) continue;
    const set = await c.request("session/set_config_option", { sessionId: result.sessionId, configId: o.configId, type: "id", value });
    t.same(`${o.configId} can be set`, set.result?.configOptions.find((x) => x.configId === o.configId)?.currentValue, value);
    t.ok("and all are told", result.configOptions.every((x) => set.result?.configOptions.some((y) => y.configId === x.configId)));
  }
  t.ok("the modes are an option", result.configOptions.some((o) => o.category === "mode"));
}
shapes.title = "ids, methods, capabilities, options";
