// What happens beside a turn that runs: more prompts, loads, ends, crashes, questions
// that nobody answers, storms of cancelling, and a hundred sessions at once.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { hanging, lastOf } from "../backend.mjs";
import { sleep, within } from "../agent.mjs";
import * as pictures from "../pictures.mjs";
import { image, text } from "../rig.mjs";

const shot = pictures.png(48, 24);

async function ready(t, params) {
  const c = t.raw();
  await c.initialize(params);
  return c;
}

const open = (cwd) => ({ cwd, mcpServers: [] });
const words = (us, kind) => us.filter((u) => u.update.sessionUpdate === kind).map((u) => u.update.content.text ?? u.update.content.type).join("");
const answers = (us) => words(us, "agent_message_chunk");

// hang starts a prompt that does not end by itself, and returns its reply to come.
async function hang(t, c, sessionId, ...blocks) {
  const before = t.backend.open.size;
  const reply = c.prompt(sessionId, ...blocks);
  t.ok("the turn runs", await t.backend.until((b) => b.open.size > before));
  return { reply };
}

export async function prompts(t) {
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  t.backend.respond = ({ body }) => (lastOf(body).includes("first") ? hanging : undefined);
  const { reply: one } = await hang(t, c, sessionId, "first");
  const two = c.prompt(sessionId, "second", image(shot));
  const three = c.prompt(sessionId, "third");
  await sleep(100);
  t.same("what comes while it is busy waits", t.backend.requests.length, 1);
  t.backend.finish();
  const all = await within(10_000, Promise.all([one, two, three]));
  t.same("each is answered", all?.map((m) => m.result?.stopReason), ["end_turn", "end_turn", "end_turn"]);
  t.same("and sent in order, whole", t.backend.requests.map((r) => [/third|second|first/.exec(lastOf(r.body))[0], r.pictures.length]), [["first", 0], ["second", 1], ["third", 1]]);
  const order = c.all.filter((m) => m.result?.stopReason || m.params?.update?.sessionUpdate === "user_message_chunk").map((m) => (m.result ? "reply" : m.params.update.content.text ?? "picture"));
  t.same("nothing of a turn comes before the reply of the one before", order, ["first", "reply", "second", "picture", "reply", "third", "reply"]);
}
prompts.title = "prompt while busy";

export async function beside(t) {
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  t.backend.respond = ({ body }) => (lastOf(body).includes("slow") ? hanging : undefined);
  await c.prompt(sessionId, "quick");
  const { reply: slow } = await hang(t, c, sessionId, "slow", image(shot));
  await c.until((m) => m.params?.update?.content?.text === "seen ");
  await sleep(50);
  c.take();
  const load = await within(3000, c.request("session/load", { sessionId, ...open(t.project) }));
  t.ok("load while busy does not wait", load?.result !== undefined, load);
  const replay = c.take();
  t.same("it shows the prompts", words(replay, "user_message_chunk"), "quickslowimage");
  t.ok("and what has been said", answers(replay).endsWith("seen "), answers(replay));
  const moved = await within(3000, c.request("session/load", { sessionId, ...open(t.root) }));
  t.ok("other folders are refused while it is busy", moved?.error !== undefined, moved);
  const mode = await within(3000, c.request("session/set_mode", { sessionId, modeId: "plan" }));
  t.same("the mode can be set", mode?.result, {});
  t.ok("and sessions be listed", (await within(3000, c.request("session/list", {})))?.result !== undefined);
  t.ok("and opened and used", (await within(5000, c.prompt(await c.session(t.project), "quick too")))?.result?.stopReason === "end_turn");
  c.take();
  t.backend.finish("after all");
  t.same("the turn goes on to its end", (await within(5000, slow))?.result?.stopReason, "end_turn");
  t.ok("and its rest was told", answers(c.take()).includes("after all"));
}
beside.title = "load, modes and other sessions while busy";

export async function gone(t) {
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  t.backend.respond = () => hanging;
  const { reply: running } = await hang(t, c, sessionId, "work");
  const deleted = await within(5000, c.request("session/delete", { sessionId }));
  t.same("delete while busy", deleted?.result, {});
  t.same("answers the prompt cancelled", (await within(3000, running))?.result?.stopReason, "cancelled");
  t.ok("ends the request to the model", await t.backend.until((b) => b.open.size === 0));
  t.same("it cannot be loaded", (await c.request("session/load", { sessionId, ...open(t.project) })).error?.code, -32002);
  t.ok("nor is it listed", !(await c.request("session/list", {})).result.sessions.some((s) => s.sessionId === sessionId));
  t.same("nor prompted", (await c.prompt(sessionId, "hello")).error?.code, -32002);

  const other = await c.session(t.project);
  const { reply: first } = await hang(t, c, other, "work");
  const second = c.prompt(other, "more");
  const closed = await within(5000, c.request("session/close", { sessionId: other }));
  t.same("close while busy", closed?.result, {});
  t.same("answers what ran and what waited", (await within(3000, Promise.all([first, second])))?.map((m) => m.result?.stopReason), ["cancelled", "cancelled"]);
  t.backend.respond = () => undefined;
  t.ok("it can be loaded again", (await c.request("session/load", { sessionId: other, ...open(t.project) })).result !== undefined);
  t.same("and works", (await within(5000, c.prompt(other, "go on")))?.result?.stopReason, "end_turn");
}
gone.title = "delete and close while busy";

export async function killed(t) {
  let c = await ready(t);
  const sessionId = await c.session(t.project);
  await c.prompt(sessionId, "before", image(shot));
  t.backend.script.push([["c1", "bash", { command: "echo made > made" }]]);
  t.backend.respond = ({ body }) => (body.messages.at(-1).role === "tool" ? hanging : undefined);
  const running = c.prompt(sessionId, "and now", image(shot));
  t.ok("it works", await t.backend.until((b) => b.open.size > 0));
  const live = c.take();
  await c.kill();
  t.ok("its client hears nothing", (await running).gone);
  t.backend.respond = () => undefined;

  c = await ready(t);
  t.ok("after kill -9 it can be loaded", (await c.request("session/load", { sessionId, ...open(t.project) })).result !== undefined);
  const replay = c.take();
  const users = (us) => us.filter((u) => u.update.sessionUpdate === "user_message_chunk").map((u) => u.raw);
  t.same("with both prompts, byte for byte", users(replay), users(live));
  t.ok("and the first answer", answers(replay).includes("seen 1"), answers(replay));
  const calls = replay.filter((u) => ["tool_call", "tool_call_update"].includes(u.update.sessionUpdate));
  t.ok("and the call, ended", calls.length > 0 && ["completed", "failed"].includes(calls.at(-1).update.status), calls.map((u) => u.update));
  t.same("it works on", (await within(5000, c.prompt(sessionId, "go on")))?.result?.stopReason, "end_turn");
  t.same("with both pictures", t.backend.requests.at(-1).pictures.filter((p) => p.data.equals(shot)).length, t.backend.requests.at(-1).pictures.length);
  t.ok("of which there is one at least", t.backend.requests.at(-1).pictures.length > 0);
}
killed.title = "kill -9 in the middle of a turn";

export async function ended(t) {
  let c = await ready(t);
  const ids = await Promise.all([1, 2, 3].map(() => c.session(t.project)));
  t.backend.respond = ({ body }) => (lastOf(body).includes("work") ? hanging : undefined);
  const running = ids.map((id, i) => c.prompt(id, `work ${i}`, image(shot)));
  t.ok("three turns run", await t.backend.until((b) => b.open.size === 3));
  await c.until(() => c.updates.filter((u) => u.update.sessionUpdate === "agent_message_chunk").length >= 3);
  t.same("it ends with the input", await c.end(), { code: 0, signal: null });
  const replies = await Promise.all(running);
  t.ok("each prompt was answered or its client was gone", replies.every((m) => m.gone || m.result?.stopReason === "cancelled"), replies);
  t.ok("nothing is left with the model", await t.backend.until((b) => b.open.size === 0, 3000));

  c = await ready(t);
  for (const [i, sessionId] of ids.entries()) {
    t.ok(`session ${i} can be loaded`, (await c.request("session/load", { sessionId, ...open(t.project) })).result !== undefined);
    const replay = c.take().filter((u) => u.sessionId === sessionId);
    t.same(`session ${i} has its prompt`, words(replay, "user_message_chunk"), `work ${i}image`);
    t.ok(`session ${i} has what had been said`, answers(replay).includes("seen "), answers(replay));
    t.same(`session ${i} works on`, (await within(5000, c.prompt(sessionId, "go on")))?.result?.stopReason, "end_turn");
  }
}
ended.title = "the input ends in the middle of turns";

export async function hundred(t) {
  const c = await ready(t);
  const n = 100;
  t.backend.respond = ({ body }) => `echo of ${/marker-\d+/.exec(lastOf(body))?.[0]}.`;
  const alone = performance.now();
  await c.prompt(await c.session(t.project), "marker-999");
  const one = performance.now() - alone;
  const began = performance.now();
  const ids = await Promise.all(Array.from({ length: n }, () => c.session(t.project)));
  t.same("their ids are distinct", new Set(ids).size, n);
  c.take();
  const sizes = ids.map((_, i) => pictures.png(8 + (i % 50), 8 + Math.floor(i / 50)));
  const replies = await within(30_000, Promise.all(ids.map((id, i) => c.prompt(id, `marker-${i}.`, image(sizes[i])))));
  t.ok("all are answered", replies?.every((m) => m.result?.stopReason === "end_turn"), replies?.filter((m) => m.error));
  const took = performance.now() - began;
  const by = new Map(ids.map((id) => [id, []]));
  for (const u of c.take()) by.get(u.sessionId)?.push(u);
  const mixed = ids.filter((id, i) => answers(by.get(id)) !== `echo of marker-${i}.` || words(by.get(id), "user_message_chunk") !== `marker-${i}.image`);
  t.same("each session hears its own answer and nothing else", mixed.map((id) => answers(by.get(id))), []);
  const wrong = t.backend.requests.slice(1).filter((r) => {
    const i = Number(/marker-(\d+)/.exec(lastOf(r.body))[1]);
    return r.pictures.length !== 1 || !r.pictures[0].data.equals(sizes[i]);
  });
  t.same("and sends its own picture", wrong.length, 0);
  t.ok("they do not slow each other", took < Math.max(one, 20) * n, { one, took });
  t.say(`one prompt took ${Math.round(one)} ms, ${n} sessions with a picture each ${Math.round(took)} ms, memory at its peak ${c.peak()} MiB`);

  // One is cancelled, the others go on.
  t.backend.respond = () => hanging;
  const turns = ids.map((id) => c.prompt(id, "wait"));
  t.ok("a hundred turns run at once", await t.backend.until((b) => b.open.size === n, 20_000), t.backend.open.size);
  await c.notify("session/cancel", { sessionId: ids[50] });
  t.same("one is cancelled", (await within(3000, turns[50]))?.result?.stopReason, "cancelled");
  t.ok("and no other", await t.backend.until((b) => b.open.size === n - 1), t.backend.open.size);
  t.backend.finish("done");
  const rest = await within(20_000, Promise.all(turns));
  t.same("the others end well", rest?.filter((m) => m.result?.stopReason === "end_turn").length, n - 1);
  t.same("clean end", await c.end(), { code: 0, signal: null });
}
hundred.title = "a hundred sessions at once";

export async function storm(t) {
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  let n = 0;
  t.backend.respond = () => (n++ % 3 === 0 ? hanging : undefined);
  const stops = {};
  for (let i = 0; i < 60; i++) {
    const replies = [c.prompt(sessionId, `work ${i}`, image(shot))];
    if (i % 4 === 0) replies.push(c.prompt(sessionId, `more ${i}`));
    if (i % 3 === 1) await sleep(i % 7);
    for (let k = 0; k < 1 + (i % 5); k++) await c.notify("session/cancel", { sessionId });
    const all = await within(10_000, Promise.all(replies));
    if (!all) { t.ok(`round ${i} is answered`, false); break; }
    for (const m of all) stops[m.result?.stopReason ?? m.error?.code] = (stops[m.result?.stopReason ?? m.error?.code] ?? 0) + 1;
  }
  t.same("every prompt ends cancelled or well", Object.keys(stops).filter((k) => !["cancelled", "end_turn"].includes(k)), []);
  t.backend.respond = () => undefined;
  t.ok("nothing is left with the model", await t.backend.until((b) => b.open.size === 0));
  c.take();
  t.same("the session is not wedged", (await within(5000, c.prompt(sessionId, "go on")))?.result?.stopReason, "end_turn");
  t.ok("a late cancel is of no consequence", (await c.notify("session/cancel", { sessionId }), await within(5000, c.prompt(sessionId, "and on")))?.result?.stopReason === "end_turn");

  // By the id of the request.
  t.backend.respond = () => hanging;
  const reply = c.reply("by-id");
  await c.send({ jsonrpc: "2.0", id: "by-id", method: "session/prompt", params: { sessionId, prompt: [text("work")] } });
  t.ok("it runs", await t.backend.until((b) => b.open.size === 1));
  for (let k = 0; k < 3; k++) await c.notify("$/cancel_request", { requestId: "by-id" });
  await c.notify("$/cancel_request", { requestId: "no such" });
  const m = await within(5000, reply);
  t.ok("$/cancel_request ends a prompt", m?.result?.stopReason === "cancelled" || m?.error?.code === -32800, m);
  t.backend.respond = () => undefined;
  t.same("and wedges nothing", (await within(5000, c.prompt(sessionId, "go on")))?.result?.stopReason, "end_turn");
}
storm.title = "storms of cancelling";

// What a client may say to a question, and whether that allows anything.
const outcomes = [
  ["the option that allows", { result: { outcome: { outcome: "selected", optionId: "allow" } } }, true],
  ["the option that rejects", { result: { outcome: { outcome: "selected", optionId: "reject" } } }, false],
  ["cancelled", { result: { outcome: { outcome: "cancelled" } } }, false],
  ["an option that was not offered", { result: { outcome: { outcome: "selected", optionId: "allow_everything" } } }, false],
  ["an outcome that nobody knows", { result: { outcome: { outcome: "_approved", optionId: "allow" } } }, false],
  ["no option", { result: { outcome: { outcome: "selected" } } }, false],
  ["no outcome", { result: {} }, false],
  ["null", { result: null }, false],
  ["a word", { result: "allow" }, false],
  ["an error", { error: { code: -32603, message: "no" } }, false],
  ["an error of no shape", { error: "no" }, false],
];

export async function permission(t) {
  const c = await ready(t);
  c.tee.tolerate(/^out: (reply to session\/request_permission|session\/request_permission: an error|"?\d+"?: not one)|^out: .*error/);
  c.noise = /unreadable reply|reply without a result/;
  c.manual = true;
  const sessionId = await c.session(t.project);
  for (const [i, [what, answer, allows]] of outcomes.entries()) {
    const file = join(t.project, `made-${i}`);
    t.backend.script.push([[`c${i}`, "bash", { command: `touch made-${i}` }]], "done");
    const from = c.all.length;
    const running = c.prompt(sessionId, `make ${i}`);
    const q = await c.until((m) => m.method === "session/request_permission", 10_000, from);
    await c.send({ jsonrpc: "2.0", id: q?.id, ...answer });
    t.same(`${what}: the turn ends`, (await within(5000, running))?.result?.stopReason !== undefined, true);
    t.same(`${what}: ${allows ? "allows" : "allows nothing"}`, existsSync(file), allows);
    const calls = c.take().filter((u) => u.update.sessionUpdate === "tool_call_update" && ["completed", "failed"].includes(u.update.status));
    t.same(`${what}: the call ends`, calls.map((u) => u.update.status), [allows ? "completed" : "failed"]);
    t.backend.script.length = 0;
  }

  // Nobody answers, and the turn is cancelled.
  t.backend.script.push([["x1", "bash", { command: "touch never" }]], "done");
  const from = c.all.length;
  const running = c.prompt(sessionId, "make it");
  const q = await c.until((m) => m.method === "session/request_permission", 10_000, from);
  await c.notify("session/cancel", { sessionId });
  t.same("a question that nobody answers does not hold a cancelled turn", (await within(5000, running))?.result?.stopReason, "cancelled");
  const replied = c.all.length;
  await c.send({ jsonrpc: "2.0", id: q.id, result: { outcome: { outcome: "selected", optionId: "allow" } } });
  await sleep(150);
  t.ok("an answer that comes too late allows nothing", !existsSync(join(t.project, "never")));
  t.same("and has no reply", c.all.slice(replied).filter((m) => m.method === undefined), []);
  t.backend.script.length = 0;
  t.same("the session works on", (await within(5000, c.prompt(sessionId, "go on")))?.result?.stopReason, "end_turn");

  // Nor does it hold the end of the input.
  t.backend.script.push([["x2", "bash", { command: "touch never" }]]);
  const seen = c.all.length;
  c.prompt(sessionId, "make it").catch(() => {});
  await c.until((m) => m.method === "session/request_permission", 10_000, seen);
  t.same("it ends with a question open", await c.end(), { code: 0, signal: null });
  const d = await ready(t);
  await d.request("session/load", { sessionId, ...open(t.project) });
  const calls = d.take().filter((u) => ["tool_call", "tool_call_update"].includes(u.update.sessionUpdate));
  const last = new Map(calls.map((u) => [u.update.toolCallId, u.update.status]));
  t.ok("and every call has ended in the replay", [...last.values()].every((s) => ["completed", "failed"].includes(s)), [...last]);
}
permission.title = "answers to a question, and none";
