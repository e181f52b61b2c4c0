// What the program does not do yet. The runner takes this file only when it is named:
//   FILES=faults node run.mjs
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { textOf } from "../backend.mjs";
import * as pictures from "../pictures.mjs";
import { image } from "../rig.mjs";

// The same picture as data and as a link is one part and its path.
export async function twice(t) {
  const file = join(t.project, "shot.png"), shot = pictures.png(23, 10);
  writeFileSync(file, shot);
  const c = t.raw();
  await c.initialize();
  const sessionId = await c.session(t.project);
  const { result } = await c.prompt(sessionId, "see", image(shot), { type: "resource_link", uri: pathToFileURL(file).href, name: "shot.png", mimeType: "image/png" });
  t.same("stop reason", result?.stopReason, "end_turn");
  t.same("one picture is sent", t.backend.requests.at(-1).pictures.length, 1);
  t.ok("and its path told", textOf(t.backend.requests.at(-1).body).includes("shot.png"));
}
twice.title = "the same picture as data and as a link";

export async function attach(t) {
  writeFileSync(join(t.project, "a.png"), pictures.png(24, 12));
  const c = t.raw();
  await c.initialize();
  const sessionId = await c.session(t.project);
  const run = async (line, ...blocks) => {
    await c.prompt(sessionId, line, ...blocks);
    return c.take().filter((u) => u.update.sessionUpdate === "agent_message_chunk").map((u) => u.update.content.text).join("");
  };
  await run("look", image(pictures.png(16, 8)));
  let n = t.backend.requests.length;
  t.ok("/receipts says what became of the picture", (await run("/receipts")).includes("image-1"));
  t.same("without the model", t.backend.requests.length, n);
  n = t.backend.requests.length;
  await run("/attach a.png");
  await run("now look");
  const sent = t.backend.requests.at(-1);
  t.ok("/attach sends a file with the next prompt", t.backend.requests.length === n + 1 && sent.pictures.some((p) => p.data.equals(pictures.png(24, 12))), sent.pictures.length);
}
attach.title = "/attach, /receipts";

// A client that lets the agent read its buffers is asked for what is not saved.
export async function buffers(t) {
  const file = join(t.project, "a.txt");
  writeFileSync(file, "saved words\n");
  const c = t.raw();
  await c.initialize({ clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } } });
  const asked = [];
  c.serve = (method, p) => {
    asked.push([method, p.path]);
    return method === "fs/read_text_file" ? { content: "words that are not saved\n" } : {};
  };
  const sessionId = await c.session(t.project);
  t.backend.script.push([["c1", "read", { path: "a.txt" }]], "done");
  await c.prompt(sessionId, "look");
  t.ok("the client is asked for its buffer", asked.some(([m, p]) => m === "fs/read_text_file" && p === file), asked);
  t.ok("and the model reads that", textOf(t.backend.requests.at(-1).body).includes("words that are not saved"), t.backend.requests.at(-1).body.messages.at(-1));
  asked.length = 0;
  await c.prompt(sessionId, "see", { type: "resource_link", uri: pathToFileURL(file).href, name: "a.txt" });
  t.ok("also for a link", asked.some(([m, p]) => m === "fs/read_text_file" && p === file), asked);
  const shot = pictures.png(18, 9);
  writeFileSync(join(t.project, "a.png"), shot);
  asked.length = 0;
  await c.prompt(sessionId, "see", { type: "resource_link", uri: pathToFileURL(join(t.project, "a.png")).href, name: "a.png", mimeType: "image/png" });
  t.same("but not for a picture", asked, []);
  t.ok("which is read", t.backend.requests.at(-1).pictures.some((p) => p.data.equals(shot)));
}
buffers.title = "text of buffers comes from the client";

// A replay shows a call as the turn did: its title, its files, its diff.
export async function replayed(t) {
  writeFileSync(join(t.project, "a.txt"), "one\n");
  const show = (us) => {
    const calls = new Map();
    for (const { update: u } of us) if (["tool_call", "tool_call_update"].includes(u.sessionUpdate)) calls.set(u.toolCallId, { ...calls.get(u.toolCallId), ...u });
    return [...calls.values()].map((u) => [u.title, u.kind, u.status, u.locations?.map((l) => l.path), u.content?.map((x) => x.type)]);
  };
  let c = t.raw();
  await c.initialize();
  const sessionId = await c.session(t.project);
  t.backend.script.push([["c1", "glob", { pattern: "*" }]], [["c2", "read", { path: "a.txt" }]], [["c3", "edit", { path: "a.txt", edits: [{ old: "one", new: "two" }] }]],
    [["c4", "bash", { command: "echo hi", description: "Say hi" }]], "done");
  await c.prompt(sessionId, "work");
  const live = show(c.take());
  await c.end();
  c = t.raw();
  await c.initialize();
  await c.request("session/load", { sessionId, cwd: t.project, mcpServers: [] });
  const replay = show(c.take());
  for (const [i, call] of live.entries()) t.same(`${call[0]} is replayed as it was shown`, replay[i], call);
}
replayed.title = "calls in a replay";
