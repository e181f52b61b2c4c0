// Stands between a client that starts its agent itself and that agent:
//   node tap.mjs LOG PROGRAM ARGUMENTS...
// It passes on what goes by and appends to LOG, a line each, {line} for a message
// of the agent or the client, {fault} for what broke the protocol, and {end}.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { Tee } from "./tee.mjs";

const [log, program, ...args] = process.argv.slice(2);
const note = (o) => appendFileSync(log, `${JSON.stringify(o)}\n`);
const tee = new Tee({ log: (way, line) => note({ way, line: line.length > 100_000 ? line.slice(0, 100_000) : line }) });
tee.kept = false;
const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const pass = (way, from, to) => {
  from.on("data", (b) => { tee.take(way, b); to.write(b); });
  from.on("end", () => { tee.end(way); to.end(); });
  to.on("error", () => {}); // the other side is gone
};
pass("out", process.stdin, child.stdin);
pass("in", child.stdout, process.stdout);
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => child.kill(signal));
child.on("close", (code) => {
  for (const fault of tee.faults) note({ fault });
  note({ end: code, checked: tee.checked });
  process.exit(code ?? 1);
});
