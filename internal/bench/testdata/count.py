import collections, json, sys

with open(sys.argv[1]) as f:
    names = f.read().rstrip("\0").split("\0")
count = collections.Counter()
for name in names:
    with open(name) as f:
        count[json.load(f)["status"]] += 1
print(dict(count))
