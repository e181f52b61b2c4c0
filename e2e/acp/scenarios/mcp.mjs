// MCP servers that the client gives a session: started, given again on load, ended
// with it; a picture that one of their tools returns is shown as a picture.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { resultOf } from "../backend.mjs";
import { sleep, within } from "../agent.mjs";
import { answer, shot } from "../mcp-server.mjs";
import { png } from "../pictures.mjs";

const program = fileURLToPath(new URL("../mcp-server.mjs", import.meta.url));

const stdio = (log, given) => ({ name: "eyes", command: process.execPath, args: [program, log], env: [{ name: "E2E_GIVEN", value: given }] });

const logOf = (log) => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);

// call has the model call a tool and returns the end of the call and the request
// with its result.
async function call(t, c, sessionId, id, name) {
  t.backend.script.push([[id, name, {}]], "done");
  const { result, error } = await c.prompt(sessionId, `call ${name}`);
  t.same(`${name}: stop reason`, result?.stopReason, "end_turn");
  const updates = c.take().map((u) => u.update);
  const end = updates.find((u) => u.sessionUpdate === "tool_call_update" && ["completed", "failed"].includes(u.status));
  return { end, body: t.backend.requests.at(-1).body, pictures: t.backend.requests.at(-1).pictures, error };
}

export async function given(t) {
  const log = join(t.root, "mcp.log");
  let c = t.raw();
  await c.initialize();
  const sessionId = await c.session(t.project, { mcpServers: [stdio(log, "first")] });
  const one = await call(t, c, sessionId, "c1", "mcp__eyes__screenshot");
  const offered = t.backend.requests[0].body.tools.map((x) => x.function.name);
  t.ok("its tools are offered to the model", ["mcp__eyes__screenshot", "mcp__eyes__where"].every((n) => offered.includes(n)), offered);
  t.same("the call ends well", one.end?.status, "completed");
  const shown = (one.end?.content ?? []).map((x) => x.content).filter((b) => b?.type === "image");
  t.same("the client is shown one picture", shown.map((b) => b.mimeType), ["image/png"]);
  t.same("which is the one of the tool, byte for byte", shown[0]?.data, shot.toString("base64"));
  t.ok("the model is sent the picture", one.pictures.some((p) => p.data.equals(shot)), one.pictures.map((p) => p.data.length));
  t.ok("and the words", resultOf(one.body, "c1")?.includes("the screen:"), resultOf(one.body, "c1"));
  const two = await call(t, c, sessionId, "c2", "mcp__eyes__where");
  t.ok("it has the environment that was given", resultOf(two.body, "c2")?.includes("given first"), resultOf(two.body, "c2"));

  // Another session of the same folder has none.
  const other = await c.session(t.project);
  await c.prompt(other, "hello");
  t.same("another session has no such tools", t.backend.requests.at(-1).body.tools.map((x) => x.function.name).filter((n) => n.startsWith("mcp__eyes")), []);
  t.same("clean end", await c.end(), { code: 0, signal: null });
  await sleep(100);
  t.same("the server ends with its client", logOf(log).filter((l) => /^(start|end)/.test(l)).map((l) => l.split(" ")[0]), ["start", "end"]);

  // On load it is what the client gives then.
  c = t.raw();
  await c.initialize();
  await c.request("session/load", { sessionId, cwd: t.project, mcpServers: [stdio(log, "second")] });
  const replay = c.take().map((u) => u.update);
  const seen = replay.filter((u) => u.sessionUpdate === "tool_call" || u.sessionUpdate === "tool_call_update").flatMap((u) => u.content ?? []).map((x) => x.content).filter((b) => b?.type === "image");
  t.same("the replay shows the picture", seen.map((b) => b.data), [shot.toString("base64")]);
  const again = await call(t, c, sessionId, "c3", "mcp__eyes__where");
  t.ok("given again on load, with the new environment", resultOf(again.body, "c3")?.includes("given second"), resultOf(again.body, "c3"));
  await c.request("session/load", { sessionId, cwd: t.project, mcpServers: [] });
  c.take();
  await c.prompt(sessionId, "hello");
  t.same("given none on load, it has none", t.backend.requests.at(-1).body.tools.map((x) => x.function.name).filter((n) => n.startsWith("mcp__eyes")), []);
  await c.request("session/resume", { sessionId, cwd: t.project, mcpServers: [stdio(log, "third")] });
  const third = await call(t, c, sessionId, "c4", "mcp__eyes__where");
  t.ok("given on resume", resultOf(third.body, "c4")?.includes("given third"), resultOf(third.body, "c4"));
  const starts = () => logOf(log).filter((l) => l.startsWith("start")).length;
  const ends = () => logOf(log).filter((l) => l === "end").length;
  await c.request("session/close", { sessionId });
  for (let i = 0; i < 40 && ends() < starts(); i++) await sleep(50);
  t.same("closing the session ends its server", ends(), starts());
}
given.title = "given by the client over stdio, and again on load";

export async function broken(t) {
  const log = join(t.root, "mcp.log");
  const c = t.raw();
  await c.initialize({ clientCapabilities: { session: { notices: {} } } });
  const made = await within(10_000, c.request("session/new", {
    cwd: t.project,
    mcpServers: [{ name: "none", command: join(t.root, "not-there"), args: [], env: [] }, { name: "silent", command: process.execPath, args: ["-e", "process.exit(3)"], env: [] }, stdio(log, "well")],
  }));
  t.ok("servers that do not start do not keep a session from opening", made?.result !== undefined, made);
  const one = await call(t, c, made.result.sessionId, "c1", "mcp__eyes__where");
  t.ok("nor the others from working", resultOf(one.body, "c1")?.includes("given well"), resultOf(one.body, "c1"));
  const told = JSON.stringify(c.tee.lines.in.filter((l) => l.includes('"notice"')));
  for (const name of ["none", "silent"]) t.ok(`the user is told of ${name}`, told.includes(name), told);
  // One that dies is started again.
  const pid = Number(logOf(log)[0].split(" ")[1]);
  process.kill(pid, "SIGKILL");
  await sleep(100);
  const two = await call(t, c, made.result.sessionId, "c2", "mcp__eyes__where");
  const three = resultOf(two.body, "c2")?.includes("given well") ? two : await call(t, c, made.result.sessionId, "c3", "mcp__eyes__where");
  t.ok("one that dies is there again, at the second call at the latest", JSON.stringify(three.body.messages.at(-1)).includes("given well"), three.body.messages.at(-1));
  c.noise = /mcp/i;
}
broken.title = "servers that do not start, and one that dies";

export async function http(t) {
  const seen = [];
  const server = createServer((req, res) => {
    const parts = [];
    req.on("data", (b) => parts.push(b));
    req.on("end", () => {
      if (req.method !== "POST") { res.writeHead(405).end(); return; }
      const m = JSON.parse(Buffer.concat(parts).toString("utf8"));
      seen.push([m.method, req.headers["x-e2e"]]);
      const reply = answer(m, req.headers["x-e2e"]);
      if (!reply) { res.writeHead(202).end(); return; }
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify(reply));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    const c = t.raw();
    const { result } = await c.initialize();
    t.same("http is advertised", result.agentCapabilities.mcpCapabilities.http, true);
    const sessionId = await c.session(t.project, {
      mcpServers: [{ type: "http", name: "far", url: `http://127.0.0.1:${server.address().port}/mcp`, headers: [{ name: "X-E2E", value: "from the client" }] }],
    });
    const one = await call(t, c, sessionId, "c1", "mcp__far__where");
    t.ok("it is called with the headers that were given", resultOf(one.body, "c1")?.includes("given from the client"), [resultOf(one.body, "c1"), seen]);
    const two = await call(t, c, sessionId, "c2", "mcp__far__screenshot");
    t.ok("its picture arrives", two.pictures.some((p) => p.data.equals(shot)), two.end);
    t.same("clean end", await c.end(), { code: 0, signal: null });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
http.title = "given by the client over HTTP";

// The pictures of the program's own tools are shown as pictures, too.
export async function own(t) {
  const picture = png(30, 30);
  writeFileSync(join(t.project, "a.png"), picture);
  const c = t.raw();
  await c.initialize();
  const sessionId = await c.session(t.project);
  t.backend.script.push([["c1", "read", { path: "a.png" }]], "done");
  await c.prompt(sessionId, "look at a.png");
  const end = c.take().map((u) => u.update).find((u) => u.sessionUpdate === "tool_call_update" && u.status === "completed");
  const shown = (end?.content ?? []).map((x) => x.content).filter((b) => b?.type === "image");
  t.same("a picture that is read is shown", shown.map((b) => b.data), [picture.toString("base64")]);
  t.ok("and sent", t.backend.requests.at(-1).pictures.some((p) => p.data.equals(picture)));
}
own.title = "pictures of the program's own tools";
