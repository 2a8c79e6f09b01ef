// Plugin of OpenCode, by tongs-agents install, version 1.
//
// Tells tongs-agents which sessions OpenCode works on and what state they are in. Written by
// `tongs-agents install`, which also replaces it; `tongs-agents uninstall` removes it.
import { spawn, spawnSync } from "node:child_process";

const HOOK = @HOOK@;
const ARGS = ["snapshot", "--agent", "opencode"];

const HOOK_LIMIT = 5000; // ms that the hook may run; it needs a few
const END_LIMIT = 2000; // ms that the end of OpenCode waits for it
const ATTEMPTS = 3; // to tell something to a hook that hangs
const LOOKUP_LIMIT = 2000; // ms that OpenCode may take to describe a session
const REMEMBERED = 2000; // sessions

const UNSURE = "?";

const TYPES = new Set([
  "session.created", "session.updated", "session.deleted", "session.status", "session.idle", "session.error",
  "permission.asked", "permission.updated", "permission.replied",
  "question.asked", "question.replied", "question.rejected",
]);

// OpenCode loads a plugin once for each directory that it works in, all in one process. A snapshot
// is of a process, so they share what they know.
const shared = (globalThis[Symbol.for("tongs-agents.opencode.1")] ??= {
  sessions: new Map(), // by id, the longest untouched first
  sent: "", // the snapshot that the hook has; "" if it never ran, UNSURE if it was killed
  shown: new Map(), // by id, what that says of a session
  running: undefined, // a hook
  hung: 0, // hooks, one after the other
});

// session returns what is known of a session. Its place is the load of the plugin that hears of it;
// asked are the permissions and questions that wait for the user; recent ones are named also when
// they are idle. Until OpenCode has described it, it may be the child of another one: it is not known.
function session(id, place) {
  const s = shared.sessions.get(id) ?? {
    id, place, known: false, lookedUp: false, parent: "", title: "", cwd: "",
    status: "idle", failed: false, asked: new Set(), recent: false,
  };
  shared.sessions.delete(id);
  shared.sessions.set(id, s);
  return s;
}

// forget bounds what is remembered: a server lives for weeks, and some plugins create children by
// the thousand.
function forget() {
  if (shared.sessions.size <= REMEMBERED) return;
  for (const s of shared.sessions.values()) {
    if (s.status !== "idle" || s.asked.size > 0 || s.recent) continue;
    shared.sessions.delete(s.id);
    if (shared.sessions.size <= REMEMBERED) return;
  }
}

// root returns the session that the user sees: of a child the parent, as far as that is known.
function root(s) {
  for (let depth = 0; s?.parent && depth < 32; depth++) s = shared.sessions.get(s.parent);
  return s;
}

// usable reports whether the hook takes a text. It refuses the whole snapshot for one that is too
// long, has a NUL or half a surrogate pair.
function usable(text, limit) {
  if (typeof text !== "string" || text === "" || text.includes("\0")) return false;
  const bytes = Buffer.from(text);
  return bytes.length <= limit && bytes.toString() === text;
}

// The title until OpenCode has made one.
const PLACEHOLDER = /^(New|Child) session - \d{4}-/;

// snapshot names the root sessions that are busy, that wait for the user, also where a child of
// theirs asks, and the recent ones: which one the user looks at, OpenCode does not tell.
function snapshot() {
  const blocked = new Set();
  for (const s of shared.sessions.values()) if (s.asked.size > 0) blocked.add(root(s));

  const said = { id: String(process.pid), status: {}, blocking: [], errors: [], titles: {}, cwds: {} };
  const shown = new Map();
  for (const s of shared.sessions.values()) {
    if (!s.known || s.parent) continue;
    let status = s.status;
    if (status === "idle" && !blocked.has(s) && !s.recent) continue;
    // To the hook, idle after an error is the end of the turn that failed. If there was another turn
    // since, it must hear of that, however short it was.
    if (status === "idle" && !s.failed && shared.shown.get(s.id)?.failed) status = "busy";
    said.status[s.id] = status;
    if (blocked.has(s)) said.blocking.push(s.id);
    if (s.failed) said.errors.push(s.id);
    if (s.title && !PLACEHOLDER.test(s.title)) said.titles[s.id] = s.title.slice(0, 512);
    const cwd = s.cwd || s.place.directory;
    if (usable(cwd, 4096)) said.cwds[s.id] = cwd;
    shown.set(s.id, { failed: s.failed });
  }
  return { text: JSON.stringify(said), shown };
}

// news returns the snapshot if the hook does not have it.
function news() {
  const now = snapshot();
  const same = shared.sent === "" ? now.shown.size === 0 : now.text === shared.sent;
  return same ? undefined : now;
}

function delivered({ text, shown }) {
  shared.sent = text;
  shared.shown = shown;
}

// changed sees to it that the hook is told soon. One hook runs at a time, since two could overtake
// each other; what has changed meanwhile is told after it, all at once.
function changed() {
  forget();
  setImmediate(() => {
    const now = shared.running ? undefined : news();
    if (!now) return;
    try {
      run(now);
    } catch {
      delivered(now); // the hook cannot be run: no more of this until something changes
    }
  });
}

function run(now) {
  // Ctrl-C does not reach another process group. The current directory may be gone.
  const hook = spawn(HOOK, ARGS, { cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] });
  shared.running = hook;
  const limit = setTimeout(() => hook.kill("SIGKILL"), HOOK_LIMIT);
  limit.unref();
  const over = (hung) => {
    clearTimeout(limit);
    if (shared.running !== hook) return;
    shared.running = undefined;
    shared.hung = hung ? shared.hung + 1 : 0;
    if (shared.hung % ATTEMPTS === 0) delivered(now);
    else shared.sent = UNSURE;
    changed();
  };
  hook.on("error", () => over(false)); // there is no such program
  hook.on("exit", (_status, signal) => over(signal !== null));
  hook.stdin.on("error", () => {}); // it did not read all
  hook.stdin.end(now.text);
  hook.unref();
}

// runNow tells the hook before it returns: OpenCode is about to exit.
function runNow() {
  // A hook that still runs could have the last word. Killed at any moment, it leaves nothing half done.
  if (shared.running) {
    shared.running.kill("SIGKILL");
    shared.running = undefined;
    shared.sent = UNSURE;
  }
  const now = news();
  if (!now) return;
  delivered(now);
  spawnSync(HOOK, ARGS, { cwd: "/", input: now.text, stdio: ["pipe", "ignore", "ignore"], timeout: END_LIMIT, killSignal: "SIGKILL" });
}

function describe(s, info) {
  const text = (value) => (typeof value === "string" ? value : "");
  s.known = true;
  s.parent = text(info.parentID);
  s.title = text(info.title);
  s.cwd = text(info.directory);
}

// begin notes that the user has gone to a session. Those of the place that have come to rest are left
// behind, as by /new; one that does so from now on has not been looked at since.
function begin(s) {
  if (!s.known) lookUp(s);
  if (!s.known || s.parent) return;
  for (const o of shared.sessions.values()) if (o.place === s.place && o.status === "idle") o.recent = false;
  s.recent = true;
}

// lookUp asks OpenCode for a session that it has not described, such as a resumed one. Without an
// answer, it is a child if another session is at work, for which it may be.
async function lookUp(s) {
  if (s.lookedUp) return;
  s.lookedUp = true;
  let info, limit;
  try {
    const late = new Promise((resolve) => { limit = setTimeout(resolve, LOOKUP_LIMIT); });
    limit.unref();
    info = (await Promise.race([s.place.client.session.get({ path: { id: s.id } }), late]))?.data;
  } catch {} // there is no such call
  clearTimeout(limit);
  if (s.known || shared.sessions.get(s.id) !== s) return;
  const atWork = (o) => o !== s && o.known && !o.parent && o.status !== "idle";
  if (info?.id === s.id) describe(s, info);
  else if (![...shared.sessions.values()].some(atWork)) s.known = true;
  if (!s.known) return;
  begin(s);
  changed();
}

// take takes in an event, and reports whether it may have changed anything.
function take(place, type, properties) {
  const info = properties.info ?? {};
  const id = properties.sessionID ?? info.id;
  if (!usable(id, 512)) return false;
  switch (type) {
    case "session.created":
    case "session.updated": {
      const s = session(id, place);
      const late = !s.known && s.lookedUp; // it has begun already
      describe(s, info);
      if (type === "session.created" || late) begin(s);
      return true;
    }
    case "session.deleted":
      return shared.sessions.delete(id);
    case "session.status":
    case "session.idle": {
      const status = type === "session.idle" ? "idle" : (properties.status?.type ?? properties.status); // older: the word
      if (status === "idle") {
        const s = shared.sessions.get(id);
        if (!s) return false; // a child that was never heard of
        s.status = status;
        s.asked.clear();
        return true;
      }
      if (status !== "busy" && status !== "retry") return false;
      const s = session(id, place);
      if (s.status === "idle") begin(s); // it is said again between the steps of a turn
      s.status = status;
      s.failed = false;
      return true;
    }
    case "session.error": {
      if (properties.error?.name === "MessageAbortedError") return false; // Esc
      const s = session(id, place);
      if (s.status === "idle") begin(s); // it did not get as far as busy
      s.failed = true;
      return true;
    }
    case "permission.asked":
    case "permission.updated": // older
    case "question.asked": {
      const s = session(id, place);
      if (!s.known) lookUp(s);
      s.asked.add(properties.id);
      return true;
    }
    default: { // replied, rejected
      return shared.sessions.get(id)?.asked.delete(properties.requestID ?? properties.permissionID) ?? false;
    }
  }
}

export const TongsAgents = async ({ client, directory } = {}) => {
  if (process.env.TONGS_AGENTS_DISABLE === "1") return {};
  const place = { client, directory };
  return {
    event: async ({ event }) => {
      try {
        if (TYPES.has(event.type) && take(place, event.type, event.properties ?? {})) changed();
      } catch {} // whatever it is, OpenCode goes on
    },
    dispose: async () => {
      try {
        for (const s of [...shared.sessions.values()]) if (s.place === place) shared.sessions.delete(s.id);
        runNow();
      } catch {}
    },
  };
};
