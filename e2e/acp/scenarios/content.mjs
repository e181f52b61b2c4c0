// What a session shows and takes beside pictures: links under the rules of the folder,
// usage, titles, thoughts, lists in pages, and commands that work on attachments.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { textOf } from "../backend.mjs";
import * as pictures from "../pictures.mjs";
import { image, notices } from "../rig.mjs";

async function ready(t, params) {
  const c = t.raw();
  await c.initialize(params);
  return c;
}

const link = (path, more = {}) => ({ type: "resource_link", uri: pathToFileURL(path).href, name: path.split("/").at(-1), ...more });

export async function links(t) {
  const outside = join(t.root, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "a.txt"), "words from outside\n");
  writeFileSync(join(t.project, "in.txt"), "words from inside\n");
  writeFileSync(join(t.project, "in.png"), pictures.png(20, 20));
  writeFileSync(join(t.project, "with space ü.txt"), "words with a space\n");
  const c = await ready(t);
  let sessionId = await c.session(t.project);
  await c.prompt(sessionId, "see", link(join(t.project, "in.txt")), link(join(t.project, "in.png"), { mimeType: "image/png" }), link(join(t.project, "with space ü.txt")));
  t.same("links into the folder ask nothing", c.questions.length, 0);
  for (const w of ["words from inside", "words with a space"]) t.ok(`${w} are read`, textOf(t.backend.requests.at(-1).body).includes(w));
  t.ok("a linked picture is a picture", t.backend.requests.at(-1).pictures.some((p) => p.data.equals(pictures.png(20, 20))));

  c.answer = (q) => q.options.find((o) => o.kind === "allow_once").optionId;
  await c.prompt(sessionId, "see", link(join(outside, "a.txt")));
  t.same("a link out of it asks once", c.questions.length, 1);
  t.ok("and names the file", JSON.stringify(c.questions[0]).includes(join(outside, "a.txt")), c.questions[0]);
  t.ok("allowed, it is read", textOf(t.backend.requests.at(-1).body).includes("words from outside"));

  c.answer = () => "reject";
  sessionId = await c.session(t.project);
  const { result } = await c.prompt(sessionId, "see", link(join(outside, "a.txt")));
  t.same("rejected, the turn goes on", result?.stopReason, "end_turn");
  t.ok("and the file is not read", !textOf(t.backend.requests.at(-1).body).includes("words from outside"));
  t.ok("which has a receipt", (result._meta?.["tote/receipts"] ?? []).length >= 2, result._meta);

  const odd = ["file:///etc/../etc/shadow-none", "file://elsewhere/share/a.txt", "ftp://x/y", "not a uri", "file:///%00", "data:text/plain,hello", `file://${t.project}`];
  for (const uri of odd) {
    const { result: r, error } = await c.prompt(sessionId, "see", { type: "resource_link", uri, name: "odd" });
    t.same(`${uri} does not stop a turn`, [r?.stopReason, error], ["end_turn", undefined]);
  }
}
links.title = "links are read under the rules of the folder";

export async function told(t) {
  const c = await ready(t, { clientCapabilities: notices });
  const sessionId = await c.session(t.project);
  await c.prompt(sessionId, "Name the parts of this");
  const updates = c.take().map((u) => u.update);
  t.ok("usage is told, or the size of the context is not known", updates.filter((u) => u.sessionUpdate === "usage_update").every((u) => u.used > 0 && u.size > 0));
  t.ok("a title is told", updates.some((u) => u.sessionUpdate === "session_info_update" && u.title?.startsWith("Name the parts")), updates.filter((u) => u.sessionUpdate === "session_info_update"));
  const listed = (await c.request("session/list", { cwd: t.project })).result.sessions.find((s) => s.sessionId === sessionId);
  t.ok("and listed, with a time", listed?.title?.startsWith("Name the parts") && !Number.isNaN(Date.parse(listed.updatedAt)), listed);
}
told.title = "usage, titles";

export async function pages(t) {
  const c = await ready(t);
  const n = 130;
  const ids = await Promise.all(Array.from({ length: n }, () => c.session(t.project)));
  for (let i = 0; i < n; i += 10) await Promise.all(ids.slice(i, i + 10).map((id) => c.prompt(id, "hello")));
  const seen = [];
  let cursor, count = 0;
  do {
    const { result, error } = await c.request("session/list", { cwd: t.project, ...(cursor ? { cursor } : {}) });
    if (error) { t.ok("a page", false, error); break; }
    seen.push(...result.sessions.map((s) => s.sessionId));
    cursor = result.nextCursor;
  } while (cursor && ++count < 50);
  t.same("every session is listed once", [seen.length, new Set(seen).size], [n, n]);
  t.same("and each of them", ids.filter((id) => !seen.includes(id)), []);
  t.ok("in pages", count > 0, `${count} further pages`);
  const times = (await c.request("session/list", { cwd: t.project })).result.sessions.map((s) => s.updatedAt);
  t.same("the newest first", [...times].sort().reverse(), times);
}
pages.title = "sessions are listed in pages";

export async function attachments(t) {
  const c = await ready(t);
  const sessionId = await c.session(t.project);
  const run = async (line, ...blocks) => {
    const { result, error } = await c.prompt(sessionId, line, ...blocks);
    t.same(`${line}: stop reason`, [result?.stopReason, error], ["end_turn", undefined]);
    return c.take().filter((u) => u.update.sessionUpdate === "agent_message_chunk").map((u) => u.update.content.text).join("");
  };
  await run("look", image(pictures.png(16, 8)));
  t.ok("/images lists the picture", (await run("/images")).includes("image-1"));
  await run("/detach image-1");
  await run("what is left");
  t.same("/detach takes it out", t.backend.requests.at(-1).pictures.length, 0);
  await run("/reattach image-1");
  await run("and now");
  t.same("/reattach puts it back", t.backend.requests.at(-1).pictures.length, 1);
  const n = t.backend.requests.length;
  for (const line of ["/context", "/model", "/help"]) await run(line);
  t.same("commands do not go to the model", t.backend.requests.length, n);
  const unknown = await c.prompt(sessionId, "/no-such-command at all");
  t.ok("what is no command is a prompt", unknown.result?.stopReason === "end_turn", unknown);
}
attachments.title = "commands on attachments";

export async function commands(t) {
  const c = t.raw();
  await c.initialize();
  const sessionId = await c.session(t.project);
  await c.until((m) => m.params?.update?.sessionUpdate === "available_commands_update", 1000);
  const names = c.updates.filter((u) => u.update.sessionUpdate === "available_commands_update").flatMap((u) => u.update.availableCommands.map((x) => x.name));
  for (const name of ["detach", "images", "model", "compact", "job", "undo", "context"]) t.ok(`/${name} is announced`, names.includes(name), names);
  await c.end();
  const d = t.raw();
  await d.initialize();
  await d.request("session/load", { sessionId, cwd: t.project, mcpServers: [] });
  await d.until((m) => m.params?.update?.sessionUpdate === "available_commands_update", 1000);
  t.ok("and after a load", d.updates.some((u) => u.update.sessionUpdate === "available_commands_update"));
}
commands.title = "commands are announced";

export async function diffs(t) {
  writeFileSync(join(t.project, "a.txt"), "one\n");
  const c = t.raw();
  await c.initialize();
  const sessionId = await c.session(t.project);
  t.backend.script.push([["c0", "read", { path: "a.txt" }]], [["c1", "edit", { path: "a.txt", edits: [{ old: "one", new: "two" }] }]], [["c2", "write", { path: "b.txt", content: "b\n" }]], "done");
  await c.prompt(sessionId, "work");
  const content = (us) => us.map((u) => u.update).filter((u) => ["tool_call", "tool_call_update"].includes(u.sessionUpdate)).flatMap((u) => u.content ?? []).filter((x) => x.type === "diff");
  const shown = content(c.take());
  t.ok("an edit is shown as a diff", shown.some((d) => d.path === join(t.project, "a.txt") && d.oldText.includes("one") && d.newText.includes("two")), shown);
  t.ok("a new file, too", shown.some((d) => d.path === join(t.project, "b.txt") && d.oldText == null && d.newText === "b\n"), shown);
  t.same("the file", readFileSync(join(t.project, "a.txt"), "utf8"), "two\n");
  const asked = c.questions.flatMap((q) => q.toolCall.content ?? []).filter((x) => x.type === "diff");
  t.ok("the user is asked with the diff", asked.some((d) => d.path === join(t.project, "a.txt")), c.questions.map((q) => q.toolCall.content));
}
diffs.title = "edits are shown as diffs";

export async function fork(t) {
  t.configure({ acp: { fork: true } });
  const c = t.raw({ unstable: true });
  const { result: hello } = await c.initialize();
  t.ok("session/fork is advertised", hello.agentCapabilities.sessionCapabilities.fork != null, hello.agentCapabilities);
  const sessionId = await c.session(t.project);
  await c.prompt(sessionId, "look", image(pictures.png(16, 8)));
  const { result, error } = await c.request("session/fork", { sessionId, cwd: t.project, mcpServers: [] });
  t.ok("it gives a session of its own", result?.sessionId && result.sessionId !== sessionId, error);
  await c.prompt(result.sessionId, "and in the fork");
  t.same("which has the picture", t.backend.requests.at(-1).pictures.length, 1);
  t.ok("and the words", textOf(t.backend.requests.at(-1).body).includes("look"));
  await c.prompt(sessionId, "and in the first");
  t.ok("the first has nothing of the fork", !textOf(t.backend.requests.at(-1).body).includes("and in the fork"));
  await c.end();
  const d = t.raw({ unstable: true });
  await d.initialize();
  await d.request("session/load", { sessionId: result.sessionId, cwd: t.project, mcpServers: [] });
  const words = d.take().filter((u) => u.update.sessionUpdate === "user_message_chunk").map((u) => u.update.content.text ?? u.update.content.type);
  t.same("the fork can be loaded", words, ["look", "image", "and in the fork"]);
}
fork.title = "session/fork, which is unstable, behind its switch";
