// An MCP server with two tools, over standard input and output or, with a port of
// its own, over HTTP: node mcp-server.mjs [LOG]. What it is told it appends to LOG.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { png } from "./pictures.mjs";

export const shot = png(40, 20);

const tools = [
  { name: "screenshot", description: "Takes a picture of the screen.", inputSchema: { type: "object", properties: {} }, annotations: { readOnlyHint: true } },
  { name: "where", description: "Says where the server runs and what it was given.", inputSchema: { type: "object", properties: {} }, annotations: { readOnlyHint: true } },
];

// answer is the reply to a request, undefined for a notification.
export function answer(m, given) {
  const result = {
    initialize: () => ({ protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "e2e", version: "1" } }),
    ping: () => ({}),
    "tools/list": () => ({ tools }),
    "tools/call": () => ({
      content: m.params.name === "screenshot"
        ? [{ type: "text", text: "the screen:" }, { type: "image", mimeType: "image/png", data: shot.toString("base64") }]
        : [{ type: "text", text: `given ${given}` }],
    }),
  }[m.method];
  if (m.id === undefined) return undefined;
  if (!result) return { jsonrpc: "2.0", id: m.id, error: { code: -32601, message: "no such method" } };
  return { jsonrpc: "2.0", id: m.id, result: result() };
}

if (process.argv[1] === import.meta.filename) {
  const log = process.argv[2];
  if (log) appendFileSync(log, `start ${process.pid} ${process.env.E2E_GIVEN ?? ""}\n`);
  createInterface({ input: process.stdin }).on("line", (line) => {
    const m = JSON.parse(line);
    if (log) appendFileSync(log, `${m.method}\n`);
    const reply = answer(m, process.env.E2E_GIVEN);
    if (reply) process.stdout.write(`${JSON.stringify(reply)}\n`);
  }).on("close", () => { if (log) appendFileSync(log, "end\n"); process.exit(0); });
}
