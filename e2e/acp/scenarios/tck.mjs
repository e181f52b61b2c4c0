// What the official test kit, agentclientprotocol/acp-tck, asks of an agent that
// speaks version 1, requirement by requirement under the kit's own names. What the
// kit only records is asserted here, where the program has decided.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { protocol } from "../schema.mjs";
import { hanging } from "../backend.mjs";
import { sleep, within } from "../agent.mjs";
import * as pictures from "../pictures.mjs";
import { image } from "../rig.mjs";

const quiet = 150; // ms in which nothing is to come
const stops = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];
const history = ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"];

// ready is a raw client past initialize.
async function ready(t, params) {
  const c = t.raw();
  const { result } = await c.initialize(params);
  c.hello = result;
  return c;
}

// busy is one with a prompt that runs: {c, sessionId, running}.
async function busy(t) {
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  t.backend.respond = () => hanging;
  const running = c.prompt(sessionId, "work");
  await c.until((m) => m.params?.update?.sessionUpdate === "agent_message_chunk");
  return { c, sessionId, running };
}

// after holds that nothing of a session comes any more.
async function after(t, what, c, sessionId, kinds) {
  const from = c.all.length;
  await sleep(quiet);
  const late = c.all.slice(from).filter((m) => m.params?.sessionId === sessionId && (!kinds || kinds.includes(m.params.update?.sessionUpdate)));
  t.same(what, late.map((m) => m.params.update?.sessionUpdate), []);
}

// handshake covers what can be seen in one plain exchange.
export async function handshake(t) {
  const c = await ready(t);
  const h = c.hello;
  t.ok("ACP-INIT-001 initialize succeeds with an integer version", Number.isInteger(h.protocolVersion), h);
  t.same("ACP-INIT-002 1 is answered with 1", h.protocolVersion, 1);
  t.ok("ACP-INIT-004 agentInfo has a name and a version", h.agentInfo?.name !== "" && h.agentInfo?.version !== "", h.agentInfo);
  const ids = (h.authMethods ?? []).map((m) => m.id);
  t.same("ACP-AUTH-001 the ids of authMethods are unique", new Set(ids).size, ids.length);
  t.same("ACP-AUTH-002 no terminal login unasked", (h.authMethods ?? []).filter((m) => m.type === "terminal"), []);
  t.ok("ACP-AUTH-004 no logout is advertised where there is no login", h.agentCapabilities.auth?.logout == null && ids.length === 0, h.agentCapabilities.auth);

  const one = await c.request("session/new", { cwd: t.project, mcpServers: [] });
  t.ok("ACP-AUTH-005 without authMethods session/new asks for no login", one.error?.code !== -32000, one.error);
  t.ok("ACP-SESSION-001 session/new gives an id", typeof one.result?.sessionId === "string" && one.result.sessionId !== "", one);
  const two = await c.session(t.project);
  t.ok("ACP-SESSION-002 ids are distinct", two !== one.result.sessionId);

  const { sessionId } = one.result;
  const { result } = await c.prompt(sessionId, "hello");
  t.ok("ACP-PROMPT-001 a text prompt ends with a stop reason", stops.includes(result?.stopReason), result);
  const updates = c.take();
  t.ok("ACP-PROMPT-002 there are updates", updates.length > 0);
  t.ok("ACP-PROMPT-002 every update names the session", updates.every((u) => [sessionId, two].includes(u.sessionId)) && updates.some((u) => u.sessionId === sessionId));
  const link = await c.prompt(sessionId, "see", { type: "resource_link", uri: "file:///nowhere/notes.txt", name: "notes.txt" });
  t.ok("ACP-PROMPT-003 text with a resource_link is accepted", stops.includes(link.result?.stopReason), link);
  const meta = await c.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "again" }], _meta: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "x/y": 1 } });
  t.ok("ACP-META-001 _meta does not disturb", stops.includes(meta.result?.stopReason), meta);
  t.same("ACP-SCHEMA-001 ACP-SCHEMA-002 ACP-TRANSPORT-001 ACP-TRANSPORT-002 all that was said is valid, with known members only", c.tee.rest(), []);
  t.same("ACP-STDERR-001 standard error is silent", c.stderr, "");
  const began = performance.now();
  t.same("ACP-SHUTDOWN-001 it exits when the input ends", await c.end(20_000), { code: 0, signal: null });
  t.ok("ACP-SHUTDOWN-001 at once", performance.now() - began < 1000, `${performance.now() - began} ms`);
}
handshake.title = "INIT, AUTH, SESSION, PROMPT, META, SCHEMA, TRANSPORT, SHUTDOWN";

export async function versions(t) {
  const c = t.raw();
  const odd = await c.initialize({ protocolVersion: 65535, info: { name: "tck", version: "1" }, clientInfo: { name: "tck", version: "1" } });
  t.ok("ACP-INIT-003 65535 is answered with the newest version", odd.result?.protocolVersion >= 1 && odd.result.protocolVersion < 65535, odd);
  t.same("ACP-INIT-003 which is 1 while version 2 is off", odd.result?.protocolVersion, 1);
  for (const v of [0, 2, 7]) {
    const d = t.raw();
    const { result } = await d.initialize({ protocolVersion: v });
    t.same(`version ${v} is answered with 1`, result?.protocolVersion, 1);
    t.ok(`and serves after ${v}`, (await d.session(t.project)) !== "");
    await d.end();
  }
}
versions.title = "INIT-003, version negotiation";

export async function rpc(t) {
  const c = await ready(t);
  for (const id of [1, 0, -5, 4611686018427387904, "a", "", "ü 漢 😀", "1"]) {
    const { id: back, result } = await c.request("session/list", {}, id);
    t.same(`ACP-JSONRPC-001 the id ${JSON.stringify(id)} comes back`, back, id);
    t.ok("ACP-JSONRPC-002 with a result", result !== undefined);
  }
  c.tee.declare(/not in the schema as a/); // what nobody knows
  const count = c.all.length;
  await c.notify("no/such/notification", {});
  await c.notify("_custom/notification", { a: 1 });
  await c.notify("$/unknown", {});
  await c.notify("session/cancel", { sessionId: "no-such-session" });
  await sleep(quiet);
  t.same("ACP-JSONRPC-003 a notification has no reply", c.all.slice(count), []);
  const unknown = await c.request("no/such/method", {});
  t.same("ACP-JSONRPC-004 an unknown method is -32601", unknown.error?.code, -32601);
  t.ok("ACP-ERROR-001 an error has one line of words", /^[^\r\n]+$/.test(unknown.error?.message ?? ""), unknown.error);
  c.tee.declare(/^out: session\/new: /, 1);
  const bad = await c.request("session/new", { cwd: 5 });
  t.same("wrong parameters are -32602", bad.error?.code, -32602);
  t.ok("ACP-ERROR-001 also of wrong parameters", /^[^\r\n]+$/.test(bad.error?.message ?? ""), bad.error);
  t.ok("ACP-JSONRPC-005 the connection serves on", (await c.session(t.project)) !== "");
  const custom = await c.request("_vendor/custom", { a: 1 });
  t.ok("ACP-EXT-001 a request of one's own is answered", (custom.result === undefined) !== (custom.error === undefined), custom);
  t.same("ACP-EXT-001 here with -32601", custom.error?.code, -32601);
}
rpc.title = "JSONRPC, ERROR, EXT";

// informational holds what the kit leaves open and the program has decided.
export async function informational(t) {
  const c = await ready(t);
  c.noise = /unreadable message/;
  c.tee.declare(/^out: no JSON/, 1);
  c.tee.declare(/^out: (no jsonrpc|unknown member|"?undefined|undefined: not one)/);
  const next = async (line) => {
    const from = c.all.length;
    await c.write(`${line}\n`);
    await c.until(() => c.all.length > from, 3000);
    return c.all[from];
  };
  const parse = await next("this is no JSON");
  t.same("ACP-INFO-PARSE-001 no JSON is -32700 with the id null", [parse?.error?.code, parse?.id], [-32700, null]);
  const invalid = await next('{"foo":"bar"}');
  t.same("ACP-INFO-INVALIDREQ-001 no message is -32600 with the id null", [invalid?.error?.code, invalid?.id], [-32600, null]);
  const lost = await c.prompt("no-such-session", "hello");
  t.same("ACP-INFO-UNKNOWNSESSION-001 an unknown session is -32002", lost.error?.code, -32002);
  t.ok("and the connection serves on", (await c.session(t.project)) !== "");
}
informational.title = "INFO-PARSE, INFO-INVALIDREQ, INFO-UNKNOWNSESSION";

export async function cancel(t) {
  const { c, sessionId, running } = await busy(t);
  await c.notify("session/cancel", { sessionId });
  const { result, error } = await running;
  t.same("ACP-CANCEL-001 the prompt is answered cancelled, not with an error", [result?.stopReason, error], ["cancelled", undefined]);
  await after(t, "ACP-CANCEL-002 no update after the reply", c, sessionId);
  t.ok("ACP-CANCEL-002 the updates came before", c.take().some((u) => u.sessionId === sessionId));
  t.backend.respond = () => undefined;
  t.same("and the session works on", (await c.prompt(sessionId, "go on")).result?.stopReason, "end_turn");
}
cancel.title = "CANCEL";

export async function load(t) {
  const first = await ready(t);
  t.ok("loadSession is advertised", first.hello.agentCapabilities.loadSession === true);
  const sessionId = await first.session(t.project);
  t.backend.script.push([["c1", "glob", { pattern: "*" }]], "there you are");
  await first.prompt(sessionId, "look", image(pictures.png(16, 8)));
  await first.prompt(sessionId, "and again");
  const live = first.take().filter((u) => history.includes(u.update.sessionUpdate));
  await first.end();

  const c = await ready(t);
  const { result } = await c.request("session/load", { sessionId, cwd: t.project, mcpServers: [] });
  t.ok("ACP-LOAD-001 session/load succeeds", result !== undefined, result);
  t.ok("ACP-LOAD-003 with an object", result !== null && typeof result === "object");
  await after(t, "ACP-LOAD-002 nothing of the replay comes after the reply", c, sessionId, [...history, "tool_call", "tool_call_update", "plan"]);
  const replay = c.take();
  const part = (us, kinds) => us.filter((u) => kinds.includes(u.update.sessionUpdate));
  t.ok("ACP-LOAD-002 the replay came before it", part(replay, history).length > 0);
  const ids = (us) => [...new Set(us.map((u) => `${u.update.sessionUpdate} ${u.update.messageId}`))];
  t.same("a replay gives the same messageIds", ids(part(replay, history)), ids(live));
  const again = await c.request("session/load", { sessionId, cwd: t.project, mcpServers: [] });
  t.ok("loaded again while it is open", again.result !== undefined, again.error);
  t.same("with the same messages", part(c.take(), history).map((u) => u.raw), part(replay, history).map((u) => u.raw));

  const d = await ready(t);
  const resumed = await d.request("session/resume", { sessionId, cwd: t.project });
  t.ok("ACP-RESUME-001 session/resume without mcpServers succeeds", resumed.result !== undefined, resumed.error);
  t.same("ACP-RESUME-002 and shows no history", d.take().filter((u) => history.includes(u.update.sessionUpdate)), []);
  t.same("a resumed session works on", (await d.prompt(sessionId, "still there?")).result?.stopReason, "end_turn");
  t.same("with its picture", t.backend.requests.at(-1).pictures.length, 1);
}
load.title = "LOAD, RESUME, message ids";

export async function list(t) {
  const c = await ready(t);
  const caps = c.hello.agentCapabilities.sessionCapabilities;
  for (const k of ["list", "delete", "close", "resume", "additionalDirectories"]) t.ok(`${k} is advertised as an object`, caps[k] !== null && typeof caps[k] === "object", caps);
  const all = await c.request("session/list", {});
  t.ok("ACP-LIST-001 sessions is an array", Array.isArray(all.result?.sessions), all);
  const none = await c.request("session/list", { cwd: join(t.root, `nobody-${randomUUID()}`) });
  t.same("ACP-LIST-002 a folder that no session uses gives an empty array", none.result?.sessions, []);

  const sessionId = await c.session(t.project);
  await c.prompt(sessionId, "hello");
  const mine = await c.request("session/list", { cwd: t.project });
  t.ok("a session is listed in its folder", mine.result.sessions.some((s) => s.sessionId === sessionId && s.cwd === t.project), mine.result);
  const closed = await c.request("session/close", { sessionId });
  t.same("ACP-CLOSE-001 an idle session is closed", closed.result, {});
  const gone = await c.request("session/delete", { sessionId });
  t.same("ACP-DELETE-001 and deleted", gone.result, {});
  t.same("ACP-DELETE-002 twice", (await c.request("session/delete", { sessionId })).result, {});
  t.same("ACP-DELETE-002 or though it never was", (await c.request("session/delete", { sessionId: "never-made" })).result, {});
  const rest = await c.request("session/list", { cwd: t.project });
  t.ok("a deleted session is not listed", !rest.result.sessions.some((s) => s.sessionId === sessionId), rest.result);
  t.ok("ACP-ADDDIRS-001 another folder is accepted", (await c.session(t.project, { additionalDirectories: [t.root] })) !== "");
}
list.title = "LIST, CLOSE, DELETE, ADDDIRS";

export async function closeBusy(t) {
  const { c, sessionId, running } = await busy(t);
  const closed = await c.request("session/close", { sessionId });
  t.same("ACP-CLOSE-002 the prompt is answered cancelled", (await within(20_000, running))?.result?.stopReason, "cancelled");
  t.same("ACP-CLOSE-002 and the session closed", closed.result, {});
  const order = c.all.filter((m) => m.result !== undefined && (m.result.stopReason || JSON.stringify(m.result) === "{}"));
  t.same("in that order", order.map((m) => m.result.stopReason ?? "closed"), ["cancelled", "closed"]);
  await after(t, "nothing follows", c, sessionId);
}
closeBusy.title = "CLOSE-002, close while busy";

export async function options(t) {
  const c = await ready(t);
  const { result } = await c.request("session/new", { cwd: t.project, mcpServers: [] });
  const { sessionId, modes, configOptions } = result;
  t.ok("ACP-MODES-001 the current mode is one of those", modes.availableModes.some((m) => m.id === modes.currentModeId), modes);
  const target = modes.availableModes.find((m) => m.id !== modes.currentModeId).id;
  t.same("ACP-MODES-002 another mode is taken", (await c.request("session/set_mode", { sessionId, modeId: target })).result, {});
  await sleep(quiet);
  const told = c.take().filter((u) => u.update.sessionUpdate === "current_mode_update");
  t.ok("ACP-MODES-002 an update names currentModeId", told.every((u) => u.update.currentModeId === target), told);
  const values = (o) => o.options.flatMap((x) => (x.options ? x.options.map((y) => y.value) : [x.value]));
  for (const o of configOptions) t.ok(`ACP-CONFIG-001 the value of ${o.id} is one of its options`, o.type === "boolean" ? typeof o.currentValue === "boolean" : values(o).includes(o.currentValue), o);
  t.same("ACP-CONFIG-003 no boolean option unasked", configOptions.filter((o) => o.type === "boolean").map((o) => o.id), []);
  for (const o of configOptions) {
    const value = values(o).find((v) => v !== o.currentValue);
    if (value === undefined) continue;
    const set = await c.request("session/set_config_option", { sessionId, configId: o.id, value });
    const now = set.result?.configOptions ?? [];
    t.ok(`ACP-CONFIG-002 after ${o.id} every option is told`, configOptions.every((x) => now.some((y) => y.id === x.id)), now.map((x) => x.id));
    t.same(`ACP-CONFIG-002 with the new value of ${o.id}`, now.find((x) => x.id === o.id)?.currentValue, value);
  }
  const mode = configOptions.find((o) => o.category === "mode");
  t.same("the modes are an option too, for clients that look at nothing else", values(mode), modes.availableModes.map((m) => m.id));
  for (const [configId, value] of [["no-such", "x"], [mode.id, "no-such"]]) {
    t.same(`${configId}=${value} is refused`, (await c.request("session/set_config_option", { sessionId, configId, value })).error?.code, -32602);
  }
  t.same("an unknown mode is refused", (await c.request("session/set_mode", { sessionId, modeId: "no-such" })).error?.code, -32602);
}
options.title = "MODES, CONFIG";

export async function kinds(t) {
  const c = await ready(t);
  const p = c.hello.agentCapabilities.promptCapabilities;
  const sessionId = await c.session(t.project);
  const blocks = {
    "ACP-PROMPTCAP-001 image": [p.image, image(pictures.png(8, 8))],
    "ACP-PROMPTCAP-002 audio": [p.audio, { type: "audio", mimeType: "audio/wav", data: pictures.wav().toString("base64") }],
    "ACP-PROMPTCAP-003 resource, text": [p.embeddedContext, { type: "resource", resource: { uri: "file:///a.txt", text: "a" } }],
    "ACP-PROMPTCAP-003 resource, blob": [p.embeddedContext, { type: "resource", resource: { uri: "file:///a.bin", mimeType: "application/octet-stream", blob: "AAEC" } }],
  };
  for (const [name, [advertised, block]] of Object.entries(blocks)) {
    t.same(`${name} is advertised`, advertised, true);
    const { result } = await c.prompt(sessionId, "see", block);
    t.ok(`${name} is accepted`, stops.includes(result?.stopReason), result);
  }
}
kinds.title = "PROMPTCAP";

// The client has said nothing of what it can do, so nothing of that is asked of it,
// whatever the model wants.
export async function capabilities(t) {
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  t.backend.script.push(
    [["c1", "write", { path: "a.txt", content: "a\n" }]], [["c2", "read", { path: "a.txt" }]],
    [["c3", "bash", { command: "echo hello; rm -f a.txt" }]], "done",
  );
  const { result } = await c.prompt(sessionId, "work");
  t.same("stop reason", result?.stopReason, "end_turn");
  const asked = c.all.filter((m) => m.method && m.id !== undefined).map((m) => m.method);
  t.same("ACP-CLIENTCAP-001 no fs/*", asked.filter((m) => m.startsWith("fs/")), []);
  t.same("ACP-CLIENTCAP-002 no terminal/*", asked.filter((m) => m.startsWith("terminal/")), []);
  t.same("ACP-CLIENTCAP-003 no elicitation", asked.filter((m) => m.startsWith("elicitation/")), []);
  t.same("what is asked is permission", [...new Set(asked)], ["session/request_permission"]);
  const offered = protocol(1).definitions.PermissionOptionKind;
  const known = (offered.oneOf ?? offered.anyOf).map((k) => k.const);
  const told = new Set(c.updates.filter((u) => u.update.sessionUpdate === "tool_call").map((u) => u.update.toolCallId));
  for (const q of c.questions) {
    t.ok("permission names the session, a call that was announced and what can be chosen", q.sessionId === sessionId && told.has(q.toolCall.toolCallId) && q.options.length > 0, q);
    t.ok("each choice has an id, a name and a known kind", q.options.every((o) => o.optionId && o.name && known.includes(o.kind)), q.options);
    t.same("ids are distinct", new Set(q.options.map((o) => o.optionId)).size, q.options.length);
  }
  const updates = c.take().map((u) => u.update);
  t.same("no notice, compaction or the like unasked", updates.filter((u) => ["notice", "compaction_update", "compaction_summary_chunk"].includes(u.sessionUpdate)), []);
}
capabilities.title = "CLIENTCAP, permission";
