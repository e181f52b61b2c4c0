// Drives the program named by TOTE_BIN as editors do: real clients and a raw one over
// standard input and output, every message held against the published schema, and
// a backend on the loopback that keeps what it is sent. Nothing is built and
// nothing but the loopback is reached.
//
// Arguments choose scenarios by a part of their name, FILES the files that hold them;
// VERBOSE=1 tells the time of each, KEEP=1 keeps their files.
import { Rig } from "./rig.mjs";

const bin = process.env.TOTE_BIN;
if (!bin) { console.error("set TOTE_BIN to the program"); process.exit(2); }

// Each file exports scenarios; they share nothing and run side by side.
const files = process.env.FILES?.split(",") ?? ["clients", "core", "tck", "rough", "busy", "mcp", "pitfalls", "content", "v2", "tck2"];
const atOnce = 3;
const limit = 60_000; // of one scenario that says nothing else, in ms

const wanted = process.argv.slice(2);
const queue = [];
for (const file of files) {
  for (const [name, run] of Object.entries(await import(`./scenarios/${file}.mjs`))) {
    const full = `${file}: ${run.title ?? name}`;
    if (wanted.length === 0 || wanted.some((w) => full.includes(w))) queue.push([full, run]);
  }
}
if (queue.length === 0) { console.error(`no scenario is called ${wanted}`); process.exit(2); }
const total = queue.length;

const sum = { passed: 0, failed: 0, broken: 0, messages: 0 };
async function one(name, run) {
  const rig = new Rig(bin, name), began = performance.now();
  await rig.open();
  let timer;
  const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error("it did not end in time")), run.limit ?? limit); });
  try {
    await Promise.race([run(rig), late]);
  } catch (e) {
    rig.ok("it broke off", false, `${e?.stack ?? e} ${JSON.stringify(e?.data ?? null)}`);
  }
  clearTimeout(timer);
  await rig.close();
  sum.passed += rig.passed;
  sum.failed += rig.failures.length;
  sum.broken += rig.failures.length > 0 ? 1 : 0;
  sum.messages += rig.checked;
  for (const f of rig.failures) console.log(`FAIL ${name}: ${f}`);
  for (const s of rig.says) console.log(`     ${name}: ${s}`);
  if (process.env.VERBOSE) console.log(`${rig.failures.length === 0 ? "ok  " : "FAIL"} ${name} (${Math.round(performance.now() - began)} ms, ${rig.passed} checks)`);
}

const began = performance.now();
await Promise.all(Array.from({ length: atOnce }, async () => {
  for (let next; (next = queue.shift());) await one(...next);
}));
console.log(`${total - sum.broken} of ${total} scenarios passed in ${Math.round((performance.now() - began) / 1000)} s: ` +
  `${sum.passed} checks passed, ${sum.failed} failed, ${sum.messages} messages held against the schema`);
process.exit(sum.failed === 0 ? 0 : 1);
