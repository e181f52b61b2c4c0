// What a scenario stands on: a home and a project of its own, a backend of its own,
// and the agents that it starts, whose traffic is judged when it ends.
import { mkdtempSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Old, Peer, Peer2, Raw } from "./agent.mjs";
import { startBackend } from "./backend.mjs";

export const notices = { session: { notices: {} } };

export const text = (t) => ({ type: "text", text: t });
export const image = (data, mimeType = "image/png") => ({ type: "image", mimeType, data: data.toString("base64") });

export class Rig {
  constructor(bin, name) {
    this.bin = bin;
    this.name = name;
    this.passed = 0;
    this.failures = [];
    this.says = []; // what the summary tells though nothing failed
    this.agents = [];
    this.tapped = 0; // messages that a tap has checked
  }

  async open() {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "tote-e2e-")));
    this.home = join(this.root, "home");
    this.project = join(this.root, "project");
    mkdirSync(join(this.home, "config"), { recursive: true, mode: 0o700 });
    mkdirSync(this.project);
    this.backend = await startBackend();
    this.configure({});
    this.env = { ...process.env, TOTE_HOME: this.home, NO_COLOR: "1" };
  }

  configure(more) {
    writeFileSync(join(this.home, "config", "config.json"), JSON.stringify({
      providers: { rec: { kind: "openai-chat", base_url: this.backend.url, api_key: "e2e-key" } },
      agents: {
        rec: { provider: "rec", model: "recorder", vision: true },
        strict: { provider: "rec", model: "refuser", vision: true },
      },
      default_agent: "rec",
      ...more,
    }));
  }

  start(agent) {
    this.agents.push(agent);
    return agent;
  }

  peer(capabilities = notices, options = {}) { return this.start(new Peer(this.bin, this.env, capabilities, options)); }
  peer2(capabilities = {}, options = {}) { return this.start(new Peer2(this.bin, this.env, capabilities, options)); }
  old(options = {}) { return this.start(new Old(this.bin, this.env, options)); }
  raw(options = {}) { return this.start(new Raw(this.bin, this.env, options)); }

  ok(what, good, detail = "") {
    if (good) { this.passed++; return; }
    const more = detail === "" ? "" : `: ${(typeof detail === "string" ? detail : JSON.stringify(detail) ?? String(detail)).slice(0, 1500)}`;
    this.failures.push(`${what}${more}`);
  }

  same(what, got, want) {
    this.ok(what, JSON.stringify(got) === JSON.stringify(want), `got ${JSON.stringify(got)?.slice(0, 500)}, want ${JSON.stringify(want)?.slice(0, 500)}`);
  }

  say(line) { this.says.push(line); }

  // close ends what runs and judges what was said.
  async close() {
    for (const [i, a] of this.agents.entries()) {
      if (a.child.exitCode === null && a.child.signalCode === null) await a.kill();
      this.same(`protocol (agent ${i + 1})`, a.tee.rest(), []);
      const lines = a.stderr.split("\n").filter((l) => l !== "" && !a.noise?.test(l));
      this.same(`standard error (agent ${i + 1})`, lines, []);
    }
    this.backend.close();
    if (this.failures.length === 0 && !process.env.KEEP) rmSync(this.root, { recursive: true, force: true });
    else this.say(`its files are in ${this.root}`);
  }

  get checked() { return this.agents.reduce((n, a) => n + a.tee.checked, this.tapped); }
}
