// Extension of Pi, by tongs-agents install, version 1.
//
// Tells tongs-agents what state Pi's session is in. Written by `tongs-agents install`, which also
// replaces it; `tongs-agents uninstall` removes it.
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";

const HOOK = @HOOK@;
const ARGS = ["fleet-event", "--agent", "pi"];

const HOOK_LIMIT = 5000; // ms that the hook may run; it needs a few
const END_LIMIT = 2000; // ms that the end of a session waits for it
const ATTEMPTS = 3; // to tell something to a hook that hangs
const QUEUED = 32; // messages that wait for their turn
// Older releases have neither agent_settled nor session_compact_failed.
const SETTLE = 500; // ms from agent_end to idle
const COMPACTION = 120_000; // ms that a compaction may take

// Pi loads an extension anew for each session, all in one process. The record of a session and the
// order of its messages outlive that.
const shared = (globalThis[Symbol.for("tongs-agents.pi.1")] ??= {
  instance: randomUUID(),
  sequence: 0,
  sessions: new Map(), // by id, those that have not ended
  queue: [], // messages, the next one first
  running: undefined, // a hook, and the session of its message
  hung: 0, // hooks, one after the other
  settles: false, // this Pi has agent_settled
});

const state = (status, detail, tool = "") => ({ status, detail, tool });
const STARTED = state("started", "session started");
const PROMPT = state("running", "processing prompt");
const COMPACTING = state("running", "compacting");
const IDLE = state("idle", "");
const INTERRUPTED = state("idle", "interrupted");
const FAILED = state("error", "turn failed (API error)");
const ENDED = state("ended", "session closed");

const text = (value, limit) => (typeof value === "string" ? value.slice(0, limit) : "");

// session returns the session that a context is of.
function session(ctx) {
  const id = ctx.sessionManager.getSessionId();
  const s = shared.sessions.get(id) ?? {
    id, cwd: "", title: "",
    state: STARTED, // also while it asks the user
    asking: undefined, // what it asks
    compacted: undefined, // while it compacts: the state before
    outcome: undefined, // after agent_end: the state once it has settled
    timer: undefined, // until it is taken to have settled, or to have compacted
    told: "", // what the hook was told
    ts: 0, // since when it is as the hook was told
  };
  shared.sessions.set(id, s);
  s.cwd = ctx.cwd ?? "";
  s.title = text(ctx.sessionManager.getSessionName?.(), 512);
  return s;
}

// tell tells the hook how a session is, if that is news. Another title is no activity: the time stays.
function tell(s, event) {
  const now = s.asking === undefined ? s.state : { ...s.state, status: "waiting", detail: s.asking };
  const as = JSON.stringify(now);
  const told = as + s.title;
  if (told === s.told) return;
  if (!s.told.startsWith(as)) s.ts = Math.floor(Date.now() / 1000);
  s.told = told;
  enqueue(message(s, event, now));
}

function message(s, event, { status, detail, tool }) {
  return {
    schema_version: 1, event_id: "pi." + event.replaceAll("_", "-"), session_id: s.id, instance_id: shared.instance,
    sequence: ++shared.sequence, pid: process.pid, cwd: s.cwd, status, detail, tool, title: s.title, ts: s.ts,
  };
}

// enqueue appends a message. One hook runs at a time and Pi waits for none. Where hooks are slow, of
// several messages that a session is running the last will do, and the oldest of too many is dropped.
function enqueue(m) {
  const last = shared.queue.at(-1);
  if (last?.session_id === m.session_id && last.status === "running" && m.status === "running") shared.queue.pop();
  shared.queue.push(m);
  if (shared.queue.length > QUEUED) shared.queue.shift();
  next();
}

function next() {
  setImmediate(() => {
    if (shared.running || shared.queue.length === 0) return;
    try {
      run(shared.queue.shift());
    } catch {
      shared.queue.length = 0; // the hook cannot be run
    }
  });
}

function run(m) {
  // Ctrl-C does not reach another process group. The current directory may be gone.
  const hook = spawn(HOOK, ARGS, { cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] });
  shared.running = { hook, session: m.session_id };
  const limit = setTimeout(() => hook.kill("SIGKILL"), HOOK_LIMIT);
  limit.unref();
  const over = (hung) => {
    clearTimeout(limit);
    if (shared.running?.hook !== hook) return;
    shared.running = undefined;
    shared.hung = hung ? shared.hung + 1 : 0;
    if (shared.hung % ATTEMPTS > 0 && shared.queue.length === 0) shared.queue.push(m);
    next();
  };
  hook.on("error", () => over(false)); // there is no such program
  hook.on("exit", (_status, signal) => over(signal !== null));
  hook.stdin.on("error", () => {}); // it did not read all
  hook.stdin.end(JSON.stringify(m));
  hook.unref();
}

// end tells the hook, before it returns, that a session has ended: Pi may be about to exit.
function end(s, event) {
  clearTimeout(s.timer);
  shared.sessions.delete(s.id);
  shared.queue = shared.queue.filter((m) => m.session_id !== s.id);
  // A hook that still runs could make the record after this one has looked for it. Killed at any
  // moment, it leaves nothing half done.
  if (shared.running?.session === s.id) {
    shared.running.hook.kill("SIGKILL");
    shared.running = undefined;
  }
  s.ts = Math.floor(Date.now() / 1000);
  const input = JSON.stringify(message(s, event, ENDED));
  spawnSync(HOOK, ARGS, { cwd: "/", input, stdio: ["pipe", "ignore", "ignore"], timeout: END_LIMIT, killSignal: "SIGKILL" });
  next();
}

// outcome returns the state that a run leaves its session in.
function outcome(messages) {
  const last = messages?.findLast((m) => m.role === "assistant");
  if (last?.stopReason === "error") return FAILED;
  if (last?.stopReason === "aborted") return INTERRUPTED;
  const parts = Array.isArray(last?.content) ? last.content : [];
  const words = text(parts.find((p) => p.type === "text")?.text, 1000).split(/\s+/).join(" ").trim();
  return state("idle", [...words].slice(0, 120).join(""));
}

// settleLater stands in for agent_settled, which older releases lack. After agent_end a retry or a
// compaction may follow.
function settleLater(s, event, ctx) {
  clearTimeout(s.timer);
  if (shared.settles || !s.outcome) return;
  s.timer = setTimeout(() => {
    try {
      if (s.outcome && ctx.isIdle()) settle(s, event, s.outcome);
    } catch {} // Pi has left the session
  }, SETTLE).unref();
}

function settle(s, event, settled) {
  clearTimeout(s.timer);
  s.outcome = undefined;
  become(s, event, settled);
}

function become(s, event, next) {
  s.state = next;
  tell(s, event);
}

function compacted(s, event, ctx) {
  clearTimeout(s.timer);
  if (!s.compacted) return;
  const before = s.compacted;
  s.compacted = undefined;
  become(s, event, before);
  settleLater(s, event, ctx);
}

// What each event means for the session of its context.
const events = {
  session_start(s, event) {
    if (event.reason === "reload" && s.told) return;
    become(s, event.type, STARTED);
  },
  session_info_changed: (s, event) => tell(s, event.type),
  session_shutdown(s, event) {
    if (event.reason !== "reload") end(s, event.type);
  },
  agent_start(s, event) {
    clearTimeout(s.timer);
    s.outcome = undefined;
    become(s, event.type, PROMPT);
  },
  turn_start: (s, event) => become(s, event.type, PROMPT),
  tool_execution_start(s, event) {
    const tool = text(event.toolName, 128);
    become(s, event.type, state("running", "using " + tool, tool));
  },
  ui_prompt_start(s, event) {
    s.asking = text(event.title, 512) || "waiting for user input";
    tell(s, event.type);
  },
  ui_prompt_end(s, event) {
    s.asking = undefined;
    tell(s, event.type);
  },
  agent_end(s, event, ctx) {
    s.outcome = outcome(event.messages);
    settleLater(s, event.type, ctx);
  },
  agent_settled(s, event) {
    shared.settles = true;
    settle(s, event.type, event.aborted ? INTERRUPTED : (s.outcome ?? (s.state.status === "running" ? IDLE : s.state)));
  },
  session_before_compact(s, event, ctx) {
    clearTimeout(s.timer);
    s.compacted ??= s.state;
    become(s, event.type, COMPACTING);
    event.signal?.addEventListener("abort", () => compacted(s, event.type, ctx), { once: true });
    if (!shared.settles) s.timer = setTimeout(() => compacted(s, event.type, ctx), COMPACTION).unref();
  },
  session_compact: (s, event, ctx) => compacted(s, event.type, ctx),
  session_compact_failed: (s, event, ctx) => compacted(s, event.type, ctx),
};

export default function (pi) {
  if (process.env.TONGS_AGENTS_DISABLE === "1") return;
  for (const [name, take] of Object.entries(events)) {
    pi.on(name, (event, ctx) => {
      try {
        take(session(ctx), event, ctx);
      } catch {} // whatever it is, Pi goes on
    });
  }
}
