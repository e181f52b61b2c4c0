// What the program does not do yet. The runner takes this file only when it is named:
//   FILES=faults node run.mjs
import { within } from "../agent.mjs";

export async function flood(t) {
  const c = t.raw();
  c.noise = /too many messages in flight/;
  await c.initialize();
  const replies = Array.from({ length: 3000 }, (_, i) => c.reply(i));
  await c.write(replies.map((_, i) => `${JSON.stringify({ jsonrpc: "2.0", id: i, method: "session/list", params: {} })}\n`).join(""));
  const all = await within(8_000, Promise.all(replies));
  const open = replies.length - c.all.filter((m) => typeof m.id === "number" && m.method === undefined).length;
  t.ok("each of 3000 requests in one write is answered", all !== undefined, `${open} are not`);
  t.ok("with a result, or told that they are too many", all?.every((m) => m.result !== undefined || /too many/.test(m.error?.message)) ?? true);
  t.ok("the connection serves on", (await within(3000, c.request("session/list", {}, "end")))?.result !== undefined);
}
flood.title = "more requests than are kept in flight";
