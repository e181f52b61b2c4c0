// What a client does that is broken, old, or wants to do harm: the agent answers with
// the right error on the right id, keeps its memory, and serves on.
import { sleep, within } from "../agent.mjs";
import { image, notices, text } from "../rig.mjs";
import { lastOf } from "../backend.mjs";
import * as pictures from "../pictures.mjs";

// ready is a raw client past initialize whose own faults are its business.
async function ready(t, params) {
  const c = t.raw();
  c.tee.tolerate(/^out: /);
  c.noise = /unreadable message|unreadable reply|reply without a result|message exceeds the limit|too many messages in flight/;
  await c.initialize(params);
  return c;
}

// ask writes a line and returns what comes back of it, after which a plain request is
// answered too. Without an answer it is an empty list.
async function ask(c, line, id) {
  if (id !== undefined) c.tee.calls.out.set(JSON.stringify(id), "session/list");
  const from = c.all.length;
  await c.write(Buffer.concat([Buffer.isBuffer(line) ? line : Buffer.from(line, "utf8"), Buffer.from("\n")]));
  const probe = await within(5000, c.request("session/list", { cwd: "/nowhere" }));
  if (probe?.result === undefined) throw new Error("the connection is dead");
  await sleep(20);
  return c.all.slice(from).filter((m) => m !== probe);
}

const list = (rest) => `{"jsonrpc":"2.0","method":"session/list","params":{}${rest}`;

// lines are bytes and what is to come back: [code or "result", id], or nothing.
const lines = [
  ["an object that does not end", list(',"id":"m1"'), [-32700, "m1"], "m1"],
  ["something behind the object", list(',"id":"m2"} x'), [-32700, "m2"], "m2"],
  ["two objects", `${list(',"id":"m3"}')}{}`, [-32700, "m3"], "m3"],
  ["words", "hello", [-32700, null]],
  ["a half string", '"abc', [-32700, null]],
  ["a NUL", Buffer.from("\0"), [-32700, null]],
  ["a string", '"abc"', [-32600, null]],
  ["a number", "5", [-32600, null]],
  ["null", "null", [-32600, null]],
  ["an empty object", "{}", [-32600, null]],
  ["an empty batch", "[]", [-32600, null]],
  ["a batch", `[${list(',"id":"b1"}')},${list(',"id":"b2"}')}]`, [-32600, null]],
  ["a batch of nonsense", "[1,2,3]", [-32600, null]],
  ["a batch of notifications", '[{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}]', [-32600, null]],
  ["a batch that does not end", "[1,", [-32700, null]],
  ["no version", '{"id":"v1","method":"session/list","params":{}}', [-32600, "v1"], "v1"],
  ["another version", '{"jsonrpc":"1.0","id":"v2","method":"session/list","params":{}}', [-32600, "v2"], "v2"],
  ["a method that is a number", '{"jsonrpc":"2.0","id":"w1","method":5}', [-32600, "w1"], "w1"],
  ["a method that is empty", '{"jsonrpc":"2.0","id":"w2","method":""}', [-32600, "w2"], "w2"],
  ["parameters that are words", '{"jsonrpc":"2.0","id":"p1","method":"session/list","params":"x"}', [-32600, "p1"], "p1"],
  ["parameters that are a list", '{"jsonrpc":"2.0","id":"p2","method":"session/list","params":[]}', [-32602, "p2"], "p2"],
  ["parameters that are null", '{"jsonrpc":"2.0","id":"p3","method":"session/list","params":null}', ["result", "p3"], "p3"],
  ["no parameters", '{"jsonrpc":"2.0","id":"p4","method":"session/list"}', ["result", "p4"], "p4"],
  ["parameters of the wrong type", '{"jsonrpc":"2.0","id":"p5","method":"session/list","params":{"cursor":5}}', [-32602, "p5"], "p5"],
  ["the id null", list(',"id":null}'), ["result", null], null],
  ["a fraction for an id", list(',"id":1.5}'), ["result", 1.5], 1.5],
  ["a negative id", list(',"id":-7}'), ["result", -7], -7],
  ["an id with an exponent", list(',"id":1e3}'), ["result", 1000], 1000],
  ["an empty string for an id", list(',"id":""}'), ["result", ""], ""],
  ["an id of other letters", list(',"id":"ü漢😀"}'), ["result", "ü漢😀"], "ü漢😀"],
  ["an id in escapes", list(',"id":"\\u00fc\\ud83d\\ude00\\n"}'), ["result", "ü😀\n"], "ü😀\n"],
  ["an id that is half a letter", list(',"id":"\\ud800"}'), ["result", "\ud800"], "\ud800"],
  ["an id that is an object", list(',"id":{}}'), [-32600, null]],
  ["an id that is a list", list(',"id":[1]}'), [-32600, null]],
  ["an id that is true", list(',"id":true}'), [-32600, null]],
  ["no id: a request as a notification", list("}")],
  ["a reply to nothing", '{"jsonrpc":"2.0","id":99,"result":{}}'],
  ["an error for nothing", '{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"x"}}'],
  ["bytes that are not UTF-8", Buffer.concat([Buffer.from('{"jsonrpc":"2.0","method":"session/list","id":"u1","params":{"_meta":{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}}}')]), [-32700, "u1"], "u1"],
  ["a cut letter", Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":"u2","method":"session/list","params":{"_meta":{"a":"'), Buffer.from([0xe6, 0xbc]), Buffer.from('"}}}')]), [-32700, "u2"], "u2"],
  ["a surrogate as bytes", Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":"u3","method":"session/list","params":{"_meta":{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}}}')]), [-32700, "u3"], "u3"],
  ["CRLF", `${list(',"id":"e1"}')}\r`, ["result", "e1"], "e1"],
  ["spaces around", ` \t ${list(',"id":"e2"}')} \t`, ["result", "e2"], "e2"],
  ["blank lines", "\n\r\n  \n\t"],
  ["a line feed inside", '{"jsonrpc":"2.0",\n"id":1}', [-32700, null], undefined, 2],
  ["members that nobody knows", list(',"id":"k1","extra":{"a":1}}'), ["result", "k1"], "k1"],
  ["a member that stands twice", list(',"id":"k2","id":"k3"}'), ["result", "k3"], "k3"],
];

export async function framing(t) {
  const c = await ready(t);
  for (const [name, line, want, id, count = 1] of lines) {
    const got = await ask(c, line, id);
    t.same(`${name}: answers`, got.length, want ? count : 0);
    if (want) t.same(name, [got[0]?.error?.code ?? (got[0]?.result ? "result" : null), got[0]?.id], want);
  }
  t.same("clean end", await c.end(), { code: 0, signal: null });
}
framing.title = "malformed lines, batches, ids, UTF-8, line ends";

export async function ids(t) {
  const c = await ready(t);
  const digits = "123456789012345678901234567890";
  const from = c.tee.lines.in.length;
  c.tee.calls.out.set(JSON.stringify(Number(digits)), "session/list");
  await ask(c, list(`,"id":${digits}}`));
  t.ok("an id of more digits than a float holds comes back digit by digit", c.tee.lines.in.slice(from).some((l) => l.includes(`"id":${digits},`)), c.tee.lines.in.slice(from));
  // The ids of the agent's own requests are not those of the client.
  t.backend.script.push([["c1", "bash", { command: "touch a" }]], "done");
  const { result } = await c.prompt(await c.session(t.project), "work");
  t.same("the turn ends", result.stopReason, "end_turn");
  const calls = c.all.filter((m) => m.method && m.id !== undefined);
  t.same("the agent's own ids are distinct", new Set(calls.map((m) => m.id)).size, calls.length);
  // Both sides may use the same ids at the same time.
  t.backend.script.push([["c2", "bash", { command: "touch b" }]], "done");
  const sessionId = await c.session(t.project);
  c.manual = true;
  const seen = c.all.length;
  const running = c.prompt(sessionId, "work");
  const question = await c.until((m) => m.method === "session/request_permission", 10_000, seen);
  const mine = await c.request("session/list", {}, question.id);
  t.ok("a request with the id of an open question is answered", mine.result?.sessions !== undefined, mine);
  await c.send({ jsonrpc: "2.0", id: question.id, result: { outcome: { outcome: "selected", optionId: "allow" } } });
  t.same("and the question is still open", (await within(5000, running))?.result?.stopReason, "end_turn");
}
ids.title = "ids of every size, and of both sides";

export async function pieces(t) {
  const c = await ready(t);
  const line = `${list(',"id":"piece"}')}\n`;
  const reply = c.reply("piece");
  for (const ch of line) await c.write(ch);
  t.ok("a message byte by byte", (await within(3000, reply))?.result !== undefined);
  const last = c.reply("last");
  c.tee.take("out", Buffer.from("")); // the end is missing on purpose
  c.tee.calls.out.set('"last"', "session/list");
  c.child.stdin.write(list(',"id":"last"}'));
  const how = c.end();
  t.ok("a last line without its end is answered", (await within(3000, last))?.result !== undefined);
  t.same("clean end", await how, { code: 0, signal: null });
}
pieces.title = "pieces, a last line without its end";

export async function early(t) {
  const c = t.raw();
  c.tee.tolerate(/^out: /);
  for (const method of ["session/new", "session/list", "session/prompt", "no/such"]) {
    const { error } = await c.request(method, { cwd: t.project, mcpServers: [], sessionId: "x", prompt: [] });
    t.same(`${method} before initialize`, error?.code, -32600);
  }
  await c.notify("session/cancel", { sessionId: "x" });
  const bad = await c.request("initialize", { protocolVersion: "one" });
  t.same("a version that is no number", bad.error?.code, -32602);
  t.same("initialize still works", (await c.initialize()).result?.protocolVersion, 1);
  t.ok("and serves", (await c.session(t.project)) !== "");
  t.same("a second initialize is refused", (await c.initialize()).error?.code, -32600);
  t.ok("and serves on", (await c.session(t.project)) !== "");
  await c.end();

  // All in one write: nothing overtakes initialize.
  const d = t.raw();
  const replies = ["i", "n", "l"].map((id) => d.reply(id));
  await d.write(['{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}',
    `{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":${JSON.stringify(t.project)},"mcpServers":[]}}`,
    '{"jsonrpc":"2.0","id":"l","method":"session/list","params":{}}', ""].join("\n"));
  const all = await within(5000, Promise.all(replies));
  t.ok("pipelined: all are served", all?.every((m) => m.result !== undefined), all);
  t.same("pipelined: initialize is answered first", d.all.find((m) => m.id !== undefined)?.id, "i");
}
early.title = "requests before initialize, and with it";

export async function methods(t) {
  const c = await ready(t);
  const unserved = ["logout", "no/such", "fs/read_text_file", "terminal/create", "session/update", "session/request_permission", "x".repeat(1 << 20), "session/new ", "SESSION/NEW", "rpc.discover"];
  for (const m of unserved) {
    const { error } = await c.request(m, {});
    t.same(`${m.slice(0, 30)} is not there`, error?.code, -32601);
    t.ok(`${m.slice(0, 30)}: the error is short`, (error?.message ?? "").length < 300, error?.message.length);
  }
  const missing = [["session/load", { cwd: t.project, mcpServers: [] }, -32602], ["session/prompt", { prompt: [] }, null], ["session/close", {}, -32602],
    ["session/load", { sessionId: "nobody", cwd: t.project, mcpServers: [] }, -32002], ["session/resume", { sessionId: "nobody", cwd: t.project }, -32002],
    ["session/new", { cwd: "relative", mcpServers: [] }, -32602], ["session/new", { cwd: `${t.root}/none`, mcpServers: [] }, -32602], ["session/new", {}, -32602],
    ["session/new", { cwd: t.project, mcpServers: [], additionalDirectories: ["relative"] }, -32602],
    ["session/list", { cwd: "relative" }, -32602], ["session/list", { cursor: "made up" }, -32602],
    ["session/set_mode", { sessionId: "nobody", modeId: "ask" }, -32002], ["session/set_config_option", { sessionId: "nobody", configId: "mode", value: "ask" }, -32002],
    ["authenticate", { methodId: "x" }, -32602], ["session/prompt", { sessionId: "../../etc", prompt: [] }, null]];
  for (const [m, params, code] of missing) {
    const { error } = await c.request(m, params);
    t.ok(`${m} ${JSON.stringify(params).slice(0, 60)} is an error`, code === null ? [-32602, -32002].includes(error?.code) : error?.code === code, error);
  }
  const sessionId = await c.session(t.project);
  const prompts = [["no prompt", undefined, -32602], ["a prompt that is words", "hello", -32602], ["a block that is words", ["hello"], -32602],
    ["a block without a type", [{ text: "a" }], -32602], ["a block whose type is a number", [{ type: 5 }], -32602], ["null for a block", [null], -32602]];
  for (const [name, prompt, code] of prompts) t.same(name, (await c.request("session/prompt", { sessionId, prompt })).error?.code, code);
  // A block of a known kind that cannot be read is no reason to refuse the prompt.
  const broken = [{ type: "image", mimeType: "image/png", data: "%%%" }, { type: "image", mimeType: "image/png" }, { type: "audio", mimeType: "audio/wav", data: 5 },
    { type: "resource" }, { type: "resource", resource: { uri: "x" } }, { type: "resource_link" }, { type: "_own", a: [1] }, { type: "video", data: "AA==" }];
  const { result, error } = await c.prompt(sessionId, "what of these", ...broken);
  t.same("blocks that cannot be read or are not known are told, not refused", result?.stopReason, "end_turn");
  t.ok("each with a receipt", (result?._meta?.["tote/receipts"] ?? []).length >= broken.length, error ?? result);
  t.same("the session serves on", (await c.prompt(sessionId, "fine", image(pictures.png(8, 8)))).result?.stopReason, "end_turn");
}
methods.title = "unknown methods, wrong parameters, broken blocks";

// pour writes a line in parts, past the tee, which is told only of the id.
async function pour(c, head, size, tail, id, method) {
  if (id !== undefined) c.tee.calls.out.set(JSON.stringify(id), method);
  const part = Buffer.alloc(1 << 20, "A");
  const write = (b) => new Promise((done) => { if (c.child.stdin.write(b)) done(); else Promise.race([new Promise((go) => c.child.stdin.once("drain", go)), c.exit]).then(done); });
  await write(Buffer.from(head));
  for (let left = size; left > 0; left -= part.length) await write(left < part.length ? part.subarray(0, left) : part);
  await write(Buffer.from(tail));
}

export async function long(t) {
  const c = await ready(t, { clientCapabilities: notices });
  const sessionId = await c.session(t.project);
  const before = c.peak();
  const reply = c.reply("big");
  const head = `{"jsonrpc":"2.0","id":"big","method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":[{"type":"image","mimeType":"image/png","data":"`;
  await pour(c, head, 70 * 1024 * 1024, '"}]}}\n', "big", "session/prompt");
  const big = await within(20_000, reply);
  t.same("a prompt of 70 MB is answered on its id", [big?.id, big?.error?.code], ["big", -32600]);
  t.same("with the limit and the size", [big?.error?.data?.limitBytes, big?.error?.data?.receivedBytes], [64 << 20, head.length + 70 * 1024 * 1024 + 5]);
  await c.until((m) => m.params?.update?.sessionUpdate === "notice" && /too long/.test(m.params.update.title), 3000);
  t.ok("and told in its session", c.updates.some((u) => u.sessionId === sessionId && u.update.sessionUpdate === "notice" && /too long/.test(u.update.title)), c.updates.map((u) => u.update));
  t.same("the session serves on", (await c.prompt(sessionId, "fine")).result?.stopReason, "end_turn");
  const first = c.peak();

  await pour(c, '{"jsonrpc":"2.0","method":"session/cancel","params":{"x":"', 200 * 1024 * 1024, "", undefined);
  const second = c.peak();
  const still = c.reply("after");
  await pour(c, '"},"id":"late"', 0, "}\n", "late", "session/cancel");
  await c.write(`${list(',"id":"after"}')}\n`);
  t.ok("after 200 MB without a line feed the next request is answered", (await within(20_000, still))?.result !== undefined);
  t.say(`memory at its peak: ${before} MiB before, ${first} MiB after a line of 70 MB, ${second} MiB with 200 MB and no line feed`);
  if (second !== null) t.ok("and memory stays bounded", second < 200, { before, first, second });
  t.same("the session serves on", (await c.prompt(sessionId, "fine")).result?.stopReason, "end_turn");
  t.same("clean end", await c.end(), { code: 0, signal: null });

  // It can end at any time.
  const d = await ready(t);
  await pour(d, '{"jsonrpc":"2.0","id":"x","method":"session/prompt","params":{"x":"', 100 * 1024 * 1024, "", undefined);
  d.tee.calls.out.set('"x"', "session/prompt");
  t.same("an end in the middle of such a line", await d.end(), { code: 0, signal: null });
}
long.title = "lines of 70 and 200 MB";

export async function deep(t) {
  const c = await ready(t);
  const nest = "[".repeat(100_000) + "]".repeat(100_000);
  const reply = c.reply("deep");
  await c.write(`{"jsonrpc":"2.0","id":"deep","method":"session/list","params":{"_meta":{"a":${nest}}}}\n`);
  const m = await within(5000, reply);
  t.ok("200 000 brackets have an answer", m?.error?.code === -32700 || m?.result !== undefined, m);
  const sessionId = await c.session(t.project);
  const many = await c.request("session/prompt", { sessionId, prompt: Array.from({ length: 5000 }, (_, i) => text(`part ${i}.`)) });
  t.same("a prompt of 5000 blocks", many.result?.stopReason, "end_turn");
  const told = lastOf(t.backend.requests.at(-1).body);
  t.ok("arrives whole and in order", told.indexOf("part 0.") >= 0 && told.indexOf("part 0.") < told.indexOf("part 2500.") && told.indexOf("part 2500.") < told.indexOf("part 4999."), told.slice(0, 200));
  const half = await c.write(`{"jsonrpc":"2.0","id":"half","method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":[{"type":"text","text":"half \\ud800 letter"}]}}\n`)
    .then(() => c.until((x) => x.id === "half"));
  t.same("half a letter in an escape is taken", half?.result?.stopReason, "end_turn");
  const echo = c.updates.findLast((u) => u.update.sessionUpdate === "user_message_chunk");
  t.ok("and comes back as it was sent", echo?.raw.includes('"text":"half \\ud800 letter"'), echo?.raw);
}
deep.title = "deep, many, half";

export async function flood(t) {
  const c = t.raw();
  c.noise = /too many messages in flight/;
  await c.initialize();
  const replies = Array.from({ length: 3000 }, (_, i) => c.reply(i));
  await c.write(replies.map((_, i) => `${JSON.stringify({ jsonrpc: "2.0", id: i, method: "session/list", params: {} })}\n`).join(""));
  const all = await within(30_000, Promise.all(replies));
  const open = replies.length - c.all.filter((m) => typeof m.id === "number" && m.method === undefined).length;
  t.ok("each of 3000 requests in one write is answered", all !== undefined, `${open} are not`);
  t.ok("with a result, or told that they are too many", all?.every((m) => m.result !== undefined || /too many/.test(m.error?.message)) ?? true);
  t.ok("the connection serves on", (await within(20_000, c.request("session/list", {}, "end")))?.result !== undefined);
}
flood.title = "more requests than are kept in flight";
