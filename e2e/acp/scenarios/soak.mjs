// Ten thousand prompts in one process, which takes minutes and is run by name:
//   FILES=soak node run.mjs
import { hanging } from "../backend.mjs";
import { image } from "../rig.mjs";
import { within } from "../agent.mjs";
import * as pictures from "../pictures.mjs";

const total = 10_000, perSession = 10, atOnce = 8;

export async function prompts(t) {
  const c = t.raw();
  c.tee.kept = false;
  await c.initialize();
  let n = 0, done = 0;
  const stops = {}, memory = [];
  t.backend.respond = () => (n++ % 10 === 9 ? hanging : undefined);
  const shot = pictures.png(16, 16);
  const began = performance.now();
  const worker = async () => {
    while (done < total) {
      const sessionId = await c.session(t.project);
      for (let i = 0; i < perSession; i++) {
        const reply = c.prompt(sessionId, `prompt ${done++}`, ...(i === 0 ? [image(shot)] : []));
        let m = await within(100, reply);
        if (!m) { await c.notify("session/cancel", { sessionId }); m = await within(20_000, reply); }
        const stop = m ? m.result?.stopReason ?? m.error?.code : "never";
        stops[stop] = (stops[stop] ?? 0) + 1;
        if (!m) return;
      }
      await c.request("session/close", { sessionId });
      t.backend.requests.length = c.all.length = 0;
      c.take();
      if (done >= (memory.length + 1) * (total / 10)) memory.push(c.resident());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  t.say(`${done} prompts in ${Math.round((performance.now() - began) / 1000)} s, ended ${JSON.stringify(stops)}, memory ${memory.join(" ")} MiB, at its peak ${c.peak()} MiB`);
  t.same("each ends well or cancelled", Object.keys(stops).filter((k) => !["end_turn", "cancelled"].includes(k)), []);
  t.ok("nothing is left with the model", await t.backend.until((b) => b.open.size === 0));
  const half = memory.slice(memory.length / 2);
  t.ok("memory does not grow", Math.max(...half) < Math.max(...memory.slice(0, memory.length / 2)) * 1.5 + 10, memory);
  t.backend.respond = () => undefined;
  t.same("the last session works as the first", (await within(5000, c.prompt(await c.session(t.project), "hello")))?.result?.stopReason, "end_turn");
  t.same("clean end", await c.end(), { code: 0, signal: null });
}
prompts.title = "ten thousand prompts in one process";
prompts.limit = 20 * 60_000;
