// Plays OpenCode or Pi to a plugin or an extension: what each line of standard input says, answered
// by a line of standard output with the milliseconds that it took.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { performance } from "node:perf_hooks";

const [file] = process.argv.slice(2);
let loads = 0;
// A new module each time, as Pi loads an extension.
const load = () => import(`data:text/javascript,${encodeURIComponent(readFileSync(file, "utf8"))}//${++loads}`);

const described = {}; // sessions that OpenCode describes when it is asked
const places = {}; // OpenCode: hooks by directory
let handlers; // Pi: by event

const say = {
  // OpenCode
  async place({ dir }) {
    const exported = Object.values(await load());
    if (exported.length !== 1 || typeof exported[0] !== "function") throw new Error("it must export one function");
    const client = { session: { get: async ({ path }) => (described[path.id] ? { data: described[path.id] } : { error: {} }) } };
    places[dir] = await exported[0]({ client, directory: dir });
  },
  describe: ({ info }) => { described[info.id] = info; },
  events: ({ dir, events }) => { for (const event of events) places[dir].event?.({ event }); }, // at once
  dispose: ({ dir }) => places[dir].dispose?.(),

  // Pi
  async extension() {
    handlers = {};
    await (await load()).default({ on: (event, handler) => { (handlers[event] ??= []).push(handler); } });
  },
  async pi({ event, session: { id, name, cwd, busy } }) {
    const ctx = { cwd, sessionManager: { getSessionId: () => id, getSessionName: () => name }, isIdle: () => !busy };
    for (const handler of handlers[event.type] ?? []) await handler(event, ctx);
  },

  exit: () => process.exit(0),
};

process.on("unhandledRejection", (error) => { console.error(error); process.exit(1); });
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const began = performance.now();
  try {
    await say[command.do](command);
  } catch (error) {
    console.error(line.slice(0, 200), error);
    process.exit(1);
  }
  console.log(performance.now() - began);
}
