// A Chat Completions server on the loopback that keeps what it is sent.
import { createServer } from "node:http";

// hanging is an answer that begins and never ends.
export const hanging = Symbol("hanging");

export async function startBackend() {
  const requests = [];
  // script holds answers that are given before all others: a text, a list of calls,
  // or {text, finish} with the reason why it ends. respond gives the answer to a request where it likes: one like those,
  // or hanging for one that never ends.
  const backend = { requests, mode: "answer", script: [], respond: () => undefined, arrived: () => {}, open: new Map() };
  const server = createServer((req, res) => {
    const parts = [];
    req.on("data", (b) => parts.push(b));
    req.on("end", () => {
      const raw = Buffer.concat(parts);
      if (req.method === "POST") backend.arrived(raw.length);
      let body = null;
      try { body = JSON.parse(raw.toString("utf8")); } catch { /* a GET of the list of models */ }
      if (!body?.messages) {
        res.writeHead(404, { "content-type": "application/json" });
        res.end('{"error":{"message":"no such path"}}');
        return;
      }
      const request = { body, size: raw.length, pictures: pictures(body) };
      requests.push(request);
      if (backend.mode === "refuse" && request.pictures.length > 0) {
        res.writeHead(400, { "content-type": "application/json" });
        res.end('{"error":{"message":"This model does not support image input","type":"invalid_request_error"}}');
        return;
      }
      if (backend.mode === "fail") {
        res.writeHead(401, { "content-type": "application/json" });
        res.end('{"error":{"message":"the key is not valid","type":"authentication_error"}}');
        return;
      }
      res.writeHead(200, { "content-type": "text/event-stream" });
      const event = (o) => res.write(`data: ${typeof o === "string" ? o : JSON.stringify(o)}\n\n`);
      const delta = (d, finish = null) => event({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: d, finish_reason: finish }] });
      const usage = { prompt_tokens: 5000, completion_tokens: 2, total_tokens: 5002 };
      const hang = () => {
        delta({ role: "assistant", content: "seen " });
        backend.open.set(res, (rest) => {
          backend.open.delete(res);
          delta({ content: rest });
          delta({}, "stop");
          event({ id: "c", choices: [], usage });
          event("[DONE]");
          res.end();
        });
        res.on("close", () => backend.open.delete(res));
      };
      const scripted = backend.respond(request) ?? backend.script.shift();
      if (scripted === hanging) { hang(); return; }
      if (scripted) {
        if (scripted.finish) {
          delta({ role: "assistant", content: scripted.text });
          delta({}, scripted.finish);
        } else if (typeof scripted === "string") delta({ role: "assistant", content: scripted });
        else delta({ role: "assistant", tool_calls: scripted.map(([id, name, args], index) => ({ index, id, type: "function", function: { name, arguments: JSON.stringify(args) } })) });
        if (!scripted.finish) delta({}, typeof scripted === "string" ? "stop" : "tool_calls");
        event({ id: "c", choices: [], usage });
        event("[DONE]");
        res.end();
        return;
      }
      if (backend.mode === "hang") { hang(); return; }
      if (backend.mode === "silent") return; // until the client goes away
      delta({ role: "assistant", content: "seen " });
      delta({ content: String(request.pictures.length) });
      delta({}, "stop");
      event({ id: "c", choices: [], usage });
      event("[DONE]");
      res.end();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  backend.url = `http://127.0.0.1:${server.address().port}/v1`;
  // finish ends the answers that hang.
  backend.finish = (rest = "after all") => { for (const end of [...backend.open.values()]) end(rest); };
  // until waits for something that is true of the backend.
  backend.until = async (good, ms = 10_000) => {
    for (const began = performance.now(); !good(backend) && performance.now() - began < ms;) await new Promise((go) => setTimeout(go, 5));
    return good(backend);
  };
  backend.close = () => { server.closeAllConnections(); server.close(); };
  return backend;
}

// pictures are those of a request, in order, with the role that they stand in.
function pictures(body) {
  const out = [];
  for (const m of body.messages) {
    for (const p of Array.isArray(m.content) ? m.content : []) {
      if (p.type !== "image_url") continue;
      const [, mime, data] = /^data:([^;]+);base64,(.*)$/s.exec(p.image_url.url) ?? [];
      out.push({ role: m.role, url: p.image_url.url, mime, data: Buffer.from(data ?? "", "base64") });
    }
  }
  return out;
}

// textOf is all the text of a request, labels included.
export function textOf(body) {
  return body.messages.map((m) => (Array.isArray(m.content) ? m.content.map((p) => p.text ?? "").join("\n") : m.content ?? "")).join("\n");
}

// resultOf is what a model was told of a call.
export function resultOf(body, id) {
  const m = body.messages.find((x) => x.role === "tool" && x.tool_call_id === id);
  return m && (Array.isArray(m.content) ? m.content.map((p) => p.text ?? "").join("\n") : m.content);
}

// lastOf is the text of the newest message of the user.
export function lastOf(body) {
  const m = body.messages.findLast((x) => x.role === "user");
  return Array.isArray(m?.content) ? m.content.map((p) => p.text ?? "").join("\n") : m?.content ?? "";
}
