"""The part of script/serve that speaks HTTP: larder serve on the sample store, asked as nobody should."""
import json, os, random, re, resource, signal, socket, subprocess, sys, threading, time

larder, work = sys.argv[1:3]
seed = int(os.environ["SEED"])
chance = random.Random(seed)
cache = work + "/cache"
# Canaries: nothing that a server sends may hold any of these.
secret = "canary-%016x" % chance.getrandbits(64)


def fail(words):
    sys.exit(f"{words} (SEED={seed})")


def start(*words, **more):
    process = subprocess.Popen([larder, *words], stdout=subprocess.PIPE, text=True, **more)
    line = process.stdout.readline()
    address = re.search(r"http://\S+", line)
    if not address:
        fail(f"{words[0]} did not begin: {line}")
    return process, address[0]


def serve(*words):
    server, url = start("serve", "samples/catalog.yaml", "--base", shop, "--cache", cache, "--port", "0",
                        "--retries", "0", *words)
    return server, int(url.rsplit(":", 1)[1])


def ask(port, raw, wait=10):
    """Sends bytes and reads to the end of the connection: status, head, body."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR) if raw.endswith(b"\0") else None
        data = b""
        while piece := connection.recv(1 << 16):
            data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    return (int(words[1]) if len(words) > 1 else 0), head.decode("latin-1"), body


def get(port, target, *fields, host="127.0.0.1", method="GET"):
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *fields, "Connection: close", "", ""]
    return ask(port, "\r\n".join(lines).encode("utf-8", "surrogateescape"))


def api(port, target):
    status, _, body = get(port, target)
    if status != 200:
        fail(f"{target}: {status}")
    return json.loads(body)


def pictures(port):
    found = set()
    for section in api(port, "/api/sections")["sections"]:
        for item in api(port, section["url"] + "?limit=200"):
            for image in [item["thumbnail"], *item["images"]]:
                if image:
                    found.add((image["url"], image["state"]))
    return sorted(found)


def verified(*allowed):
    done = subprocess.run([larder, "verify", "--cache", cache, "--json"], capture_output=True, text=True)
    report = json.loads(done.stdout)
    for kind in ("damaged", "missing", *(() if "stray" in allowed else ("stray",))):
        if report[kind]:
            fail(f"verify finds {kind}: {report[kind]}")
    return report


def sync(*words):
    done = subprocess.run([larder, "sync", "samples/catalog.yaml", "--base", shop, "--cache", cache, "--quiet",
                           "--retries", "0", *words], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        fail(f"sync ended with {done.returncode}: {done.stderr}")


def tricks(held):
    """Targets that try to get out of the pictures, or at what is no picture."""
    files = ["etc/passwd", "index.sqlite", "lock", "outside", "last-run.json", "images", "CACHEDIR.TAG", ".",
             "serving", "partial", "images/link.jpg", "images/00/link.jpg", "squares", "proc/self/environ"]
    ups = ["..", ".", "%2e%2e", "%2E.", ".%2e", "..;", "%252e%252e", "..%00", "%c0%ae%c0%ae", "..%5c", "\\..",
           "%e0%80%ae.", "....", "%u002e%u002e", "..%2f..", "..%255c", "..\\", "%2e%2e%2f", "..%09"]
    slashes = ["/", "%2f", "%5c", "//", "/./", "%252f", "\\", "%00/", ";/", "%c0%af"]
    stem = held.rsplit("/", 1)
    for prefix in ("/images/", "/images/00/", "/assets/", "/", "/api/items/", "/squares/256/", stem[0] + "/"):
        for up in ups:
            slash = chance.choice(slashes)
            for depth in (1, 2, 4):
                yield prefix + (up + slash) * depth + chance.choice(files)
    for name in files:
        for tail in ("", "%00.jpg", "/", "?square=256", "#", "%20", "%0d%0aX: y", "::$DATA", "~", ".bak"):
            yield f"/{name}{tail}"
            yield f"/images/{name}{tail}"
            yield f"{stem[0]}/{name}{tail}"
    for tail in ("%00", "/", "/.", "/../" + stem[1], "%2f", "%20", ".", "%0a", "~"):
        yield held + tail
    for square in ("0", "-1", "1e3", "999999999999999999999", "256%00", "../256", "256/../..", "0x100", "257", " 256"):
        yield f"{held}?square={square.replace(' ', '%20')}"
    while True:
        yield "/images/" + "".join(chance.choice(["..", "/", "%2e", "%2f", "a", "%00", "\\", "images", "%", "%ff"])
                                   for _ in range(chance.randint(1, 12)))


def opens_nothing(port):
    held = next(url for url, state in pictures(port) if state == "held")
    known = {url for url, _ in pictures(port)}
    # What must stay unseen, beside the cache, in it and under a link in it.
    for path in (work + "/outside", cache + "/outside"):
        with open(path, "w") as file:
            file.write(secret)
    folder = sorted(os.listdir(cache + "/images"))[0]
    os.symlink(work + "/outside", f"{cache}/images/{folder}/link.jpg")
    os.symlink(work, cache + "/images/link")
    count, seen = 0, {}
    makes = tricks(held)
    while count < 1200:
        target = next(makes)
        count += 1
        status, head, body = get(port, target)
        seen[status] = seen.get(status, 0) + 1
        if secret.encode() in body or b"SQLite format" in body or b"root:" in body or b"PATH=" in body:
            fail(f"{target} opens what it must not: {body[:80]}")
        if status == 200 and "image/" in head.lower() and target.split("?")[0] not in known:
            fail(f"{target} is a picture that nobody names")
        if status >= 500 or status == 0:
            fail(f"{target}: {status}")
        if status == 200 and "<title>Index of" in body.decode("utf-8", "replace"):
            fail(f"{target} lists a folder")
    os.unlink(f"{cache}/images/{folder}/link.jpg")
    os.unlink(cache + "/images/link")
    hosts = ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:80", "0", "2130706433",
             "0x7f.1", "127.1", "10.0.0.1", "[::ffff:10.0.0.1]", "169.254.169.254", "localhost@evil.example", "", " ",
             "localhost,evil.example", "localhost evil", "[", "[::1", "::1]", "*", "localhost:99999999", "loca\tlhost",
             "localhost/..", "evil.example#localhost", "\xff", "example.com." * 30]
    for host in hosts:
        for target in ("/", "/api/sections", held, "/healthz"):
            count += 1
            status, _, body = get(port, target, host=host)
            if status not in (400, 421):
                fail(f"Host: {host!r} {target}: {status}")
    for raw in (b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
                b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                b"GET http://localhost/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
                b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
                b"GET //evil.example/%2f.. HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                b"POST /api/sections HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                b"Content-Length: 3\r\nConnection: close\r\n\r\n0\r\n\r\n",
                b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA\r\n: b\r\n\r\n",
                b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 2000 + b"\r\n",
                b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64):
        count += 1
        status, head, body = ask(port, raw)
        if not 400 <= status < 500 or secret.encode() in body:
            fail(f"{raw[:60]}: {status}")
    print(f"tricks: {count} requests opened nothing; " + ", ".join(f"{n} × {s}" for s, n in sorted(seen.items())))


def metrics_are_metrics(port):
    _, head, body = get(port, "/metrics")
    if "text/plain; version=0.0.4" not in head:
        fail("metrics have another type")
    typed, samples = {}, {}
    for line in body.decode().splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name in typed:
                fail(f"{name} comes twice")
            typed[name] = kind
        elif not line.startswith("# HELP "):
            match = re.fullmatch(r'([a-z_]+)(\{([a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*)\})? (\S+)', line)
            if not match:
                fail(f"no sample: {line}")
            base = re.sub(r"_(bucket|sum|count)$", "", match[1])
            name = base if typed.get(base) == "histogram" else match[1]
            if name not in typed:
                fail(f"{line}: its family has no type")
            if (match[1], match[3]) in samples:
                fail(f"{line}: comes twice")
            samples[match[1], match[3]] = float(match[5])
            if typed[name] == "counter" and not name.endswith("_total"):
                fail(f"{name}: a counter ends in _total")
    print(f"metrics: {len(samples)} samples of {len(typed)} families")


def slow(port, pid, count=1000):
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    count = min(count, soft - 100)
    connections = []
    for number in range(count):
        connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: local" if number % 2 else b"")
        connections.append(connection)
    took = []
    for _ in range(20):
        for connection in connections[1::50]:
            try:
                connection.sendall(b"h")
            except OSError:
                pass
        began = time.monotonic()
        if get(port, "/api/sections")[0] != 200:
            fail("slow connections keep others out")
        took.append(time.monotonic() - began)
    memory = int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) // 1024
    for connection in connections:
        connection.close()
    print(f"slow: beside {count} slow connections an answer takes {sorted(took)[-1] * 1000:.0f} ms at most; {memory} MiB")


def sent_by_the_kernel():
    """A picture goes from the disk to the socket by sendfile; no read or pread touches its file."""
    trace = work + "/trace"
    server = subprocess.Popen(["strace", "-f", "-y", "-qq", "-o", trace, "-e", "trace=sendfile,read,pread64,mmap",
                               larder, "serve", "--offline", "--cache", cache, "--port", "0"],
                              stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline().rsplit(":", 1)[1])
    url = next(url for url, state in pictures(port) if state == "held")
    size = os.path.getsize(cache + url)
    if len(get(port, url)[2]) != size:
        fail(f"{url} is not sent whole")
    pid = subprocess.run(["pgrep", "-P", str(server.pid)], capture_output=True, text=True).stdout.split()[0]
    os.kill(int(pid), signal.SIGTERM)
    server.wait()
    calls = [line for line in open(trace) if url in line]
    sent = sum(int(line.rsplit("=", 1)[1]) for line in calls if "sendfile(" in line and " = -1" not in line)
    others = [line for line in calls if "sendfile(" not in line and "resumed" not in line]
    if sent != size or others:
        fail(f"{url}: sendfile sent {sent} of {size}; {others}")
    print(f"sendfile: sent all {size} bytes of {url}, and nothing read them")


def killed(rounds):
    """Kills servers while they fetch; nothing that is half may be left, and the next run mends the rest."""
    fetched = 0
    for _ in range(rounds):
        subprocess.run(["rm", "-rf", cache], check=True)
        sync("--thumbnails-only")
        for path in sorted(os.listdir(cache + "/images")):
            for name in os.listdir(f"{cache}/images/{path}")[::2]:
                os.unlink(f"{cache}/images/{path}/{name}")
        subprocess.run([larder, "verify", "--repair", "--cache", cache, "--quiet"], stdout=subprocess.DEVNULL)
        server, port = serve()
        wanted = [url for url, state in pictures(port) if state != "held"]

        def one(url):
            try:
                return get(port, url)[0]
            except OSError:
                return 0

        threads = [threading.Thread(target=one, args=(url,)) for url in wanted]
        for thread in threads:
            thread.start()
        time.sleep(chance.random() * 0.25)
        server.send_signal(signal.SIGKILL)
        server.wait()
        for thread in threads:
            thread.join()
        # As after a sync that was killed: whole files, perhaps ahead of their rows.
        verified("stray")
        server, port = serve()
        states = pictures(port)
        fetched += sum(state == "held" for _, state in states)
        for url, _ in states:
            if get(port, url)[0] != 200:
                fail(f"{url} is not to be had after a kill")
        server.send_signal(signal.SIGTERM)
        if server.wait() != 143:
            fail("it does not end with 143")
        if os.path.exists(cache + "/serving"):
            fail(f"a room was left: {os.listdir(cache + '/serving')}")
        sync()
        verified()
    print(f"kills: {rounds}, each left a whole cache; {fetched} pictures were held after them")


store, shop = start("demo", "--serve", "--port", "0", "--samples", "samples")
server = None
try:
    sync()
    server, port = serve()
    opens_nothing(port)
    slow(port, server.pid)
    metrics_are_metrics(port)
    if len(sys.argv) > 3:
        done = subprocess.run([sys.argv[3], "run", f"http://127.0.0.1:{port}/openapi.json", "--checks", "all",
                               "--max-examples", os.environ.get("EXAMPLES", "50"), "--seed", str(seed)],
                              cwd=work)
        if done.returncode:
            fail("schemathesis found something")
    server.send_signal(signal.SIGTERM)
    if server.wait() != 143:
        fail("it does not end with 143")
    server = None
    sent_by_the_kernel()
    killed(int(os.environ["ROUNDS"]))
finally:
    for process in (server, store):
        if process:
            process.kill()
