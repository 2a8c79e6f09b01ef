import fcntl, json, os, sys, time

state, identity, lock, record = sys.argv[1:]
payload = json.load(sys.stdin)
os.chdir(state + "/sessions")
for name in identity, lock:
    fcntl.flock(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX)
with open(record) as f:
    stored = json.load(f)
stored.update(
    status="running",
    detail="processing prompt",
    cwd=payload["cwd"],
    ts=int(time.time()),
    arrival_sequence=stored["arrival_sequence"] + 1,
)
temp = ".fleet-tmp-%d-%d-1.tmp" % (os.getpid(), time.monotonic_ns())
with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as f:
    json.dump(stored, f, ensure_ascii=False, separators=(",", ":"))
os.rename(temp, record)
