// What scenarios of version 2 have in common: a raw client that speaks it, and turns,
// which end with a state and not with a reply.
import { Raw } from "./agent.mjs";

export const stops = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"];
export const messages = ["user_message", "user_message_chunk", "agent_message", "agent_message_chunk", "agent_thought", "agent_thought_chunk"];

export const enable = (t, more = {}) => t.configure({ acp: { v2: true, ...more } });

// ready is a raw client past initialize.
export async function ready(t, capabilities = {}) {
  const c = t.start(new Raw(t.bin, t.env, { version: 2 }));
  const { result, error } = await hello(c, 2, capabilities);
  if (result?.protocolVersion !== 2) throw new Error(`no version 2: ${JSON.stringify(result ?? error)}`);
  c.hello = result;
  return c;
}

export const hello = (c, protocolVersion = 2, capabilities = {}) =>
  c.request("initialize", { protocolVersion, info: { name: "tote-e2e", version: "1" }, capabilities });

// open makes a session without saying anything of servers.
export async function open(c, cwd, more = {}) {
  const { result, error } = await c.request("session/new", { cwd, ...more });
  if (error) throw new Error(`session/new: ${error.message}`);
  return result.sessionId;
}

export const isUpdate = (m, sessionId) => m.method === "session/update" && m.params.sessionId === sessionId;
export const isState = (m, sessionId, state) => isUpdate(m, sessionId) && m.params.update.sessionUpdate === "state_update" && (!state || m.params.update.state === state);
export const isEnd = (m, sessionId) => isState(m, sessionId, "idle") && typeof m.params.update.stopReason === "string";

// turn prompts and waits for the turn's end: {messageId, stopReason, idle, all,
// updates}, or {error}. all is what came since, replies with it.
export async function turn(c, sessionId, ...blocks) {
  const from = c.all.length;
  const { result, error } = await c.prompt(sessionId, ...blocks);
  if (error || !result) return { error: error ?? { gone: true } };
  await c.until((m) => isEnd(m, sessionId), 15_000, from);
  return { messageId: result.messageId, ...since(c, sessionId, from) };
}

export function since(c, sessionId, from) {
  const all = c.all.slice(from);
  const updates = all.filter((m) => isUpdate(m, sessionId)).map((m) => m.params.update);
  const idle = updates.findLast((u) => u.sessionUpdate === "state_update" && u.state === "idle");
  return { all, updates, idle, stopReason: idle?.stopReason };
}

// fold makes of updates what a client shows: messages by id, in order of their first
// sight, {id, role, content}.
export function fold(updates) {
  const out = new Map();
  for (const u of updates.filter((x) => messages.includes(x.sessionUpdate))) {
    const role = /^(user|agent)_(message|thought)/.exec(u.sessionUpdate)[0];
    const m = out.get(u.messageId) ?? { id: u.messageId, role, content: [] };
    out.set(u.messageId, m);
    if (u.sessionUpdate.endsWith("_chunk")) m.content.push(u.content);
    else if (u.content !== undefined) m.content = [...(u.content ?? [])];
  }
  return [...out.values()];
}

// words are the texts of messages of a role.
export const words = (updates, role) => fold(updates).filter((m) => m.role === role).flatMap((m) => m.content).map((b) => b.text ?? b.type).join("");

// calls are the tool calls of updates as they end up, by id.
export function calls(updates) {
  const out = new Map();
  for (const u of updates) {
    if (u.sessionUpdate === "tool_call_update") out.set(u.toolCallId, { ...out.get(u.toolCallId), ...u, seen: [...(out.get(u.toolCallId)?.seen ?? []), u.status] });
    if (u.sessionUpdate === "tool_call_content_chunk") {
      const call = out.get(u.toolCallId) ?? { toolCallId: u.toolCallId, seen: [] };
      out.set(u.toolCallId, { ...call, content: [...(call.content ?? []), u.content] });
    }
  }
  return [...out.values()];
}
