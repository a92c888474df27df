"""A shop of generated pictures that counts its requests, and the conditions that a merged run must meet on every engine."""

import collections
import http.server
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

LARDER = os.path.realpath(os.environ.get("LARDER", os.path.dirname(__file__) + "/../../.build/debug/larder"))
DEPLOY = os.path.realpath(os.path.dirname(__file__) + "/../../deploy")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, address):
        """Ignores clients that were killed."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, address)


class Shop:
    """Two sections; each item has a detail, and five pictures in all."""

    def __init__(self, items, delay=0.05):
        self.items, self.delay = items, delay
        self.lock = threading.Lock()
        # How often each path was answered with its body, and how often with 304.
        self.bodies, self.unchanged = collections.Counter(), collections.Counter()
        # Whether pictures are refused, as by an overloaded origin, and how many were refused.
        self.is_busy, self.refusals = False, 0
        # How often a picture repeats its own name, if not 400 times.
        self.repeats = {}
        self.work = tempfile.mkdtemp(prefix="larder-cluster-", dir=os.environ.get("TMPDIR", "/dev/shm"))
        self.catalog, self.rounds = f"{self.work}/shop.yaml", 0
        shop = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                shop.answer(self)

            def log_message(self, *words):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        with open(self.catalog, "w") as file:
            file.write(
                f"name: cluster\ncurrency: KRW\nbase: http://127.0.0.1:{self.server.server_port}/\n"
                "sections: [{key: a, title: A, url: list/a}, {key: b, title: B, url: list/b}]\n"
                "items: $[*]\nitem: {id: $.id, title: $.title, images: {thumbnail: $.image}}\n"
                "detail: {url: 'detail/{id}', images: {gallery: '$.gallery[*]'}}\n"
            )

    def answer(self, request):
        kind, name = request.path.strip("/").split("/")
        status, etag, kept = 200, f'"{name}"', "max-age=86400"
        if kind == "list":
            rows = [{"id": f"{name}{n}", "title": f"Dish {n}", "image": f"/p/{name}{n}-0.jpg"} for n in range(self.items // 2)]
            body, kept = json.dumps(rows).encode(), "no-cache"
        elif kind == "detail":
            body, kept = json.dumps({"gallery": [f"/p/{name}-{n}.jpg" for n in range(1, 5)]}).encode(), "no-cache"
        else:
            time.sleep(self.delay)
            body = b"\xff\xd8\xff\xe0" + name.encode() * self.repeats.get(name, 400) + b"\xff\xd9"
            if self.is_busy:
                status, body = 503, b""
            elif request.headers.get("If-None-Match") == etag:
                status, body = 304, b""
        with self.lock:
            if status == 200:
                self.bodies[request.path] += 1
            elif status == 304:
                self.unchanged[request.path] += 1
            else:
                self.refusals += 1
        request.send_response(status)
        request.send_header("Cache-Control", kept)
        request.send_header("ETag", etag)
        if status != 304:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def renew(self):
        """Starts with a new plan and cache, and resets the counts."""
        self.rounds += 1
        self.plan, self.cache = f"{self.work}/plan-{self.rounds}", f"{self.work}/cache-{self.rounds}"
        with self.lock:
            self.bodies.clear()
            self.unchanged.clear()
            self.refusals = 0

    def remove(self):
        """Removes all files."""
        shutil.rmtree(self.work)

    @property
    def pictures(self):
        """The paths of all pictures."""
        return {f"/p/{section}{n}-{m}.jpg" for section in "ab" for n in range(self.items // 2) for m in range(5)}

    def brought(self, shard):
        """The number of pictures of a shard answered with their body so far."""
        with open(f"{self.plan}/shard-{shard}.ndjson") as file:
            paths = ["/" + json.loads(line)["url"].split("/", 3)[3] for line in file]
        return sum(self.bodies[path] > 0 for path in paths), len(paths)

    def larder(self, *words, status=0):
        """Runs larder and requires a status; returns its output."""
        done = subprocess.run([LARDER, *words], capture_output=True, text=True)
        demand(done.returncode == status, f"larder {' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def check(self, kills, window):
        """Requires that the merged cache equals that of a plain sync, row for row, and that little was fetched twice.

        A kill costs the pictures in flight, at most one for each of the shard's connections, and those received but not yet
        synced, at most 64.
        """
        paths = {path for path in self.bodies if path.startswith("/p/")}
        doubled = sum(self.bodies[path] - 1 for path in paths)
        demand(paths == self.pictures, f"{len(self.pictures - paths)} pictures were never asked for")
        demand(doubled <= kills * (window + 64), f"{doubled} pictures were fetched twice for {kills} kills")
        self.larder("verify", "--cache", self.cache)
        with self.lock:
            asked = sum(self.bodies.values()) + sum(self.unchanged.values())
            again = sum(self.unchanged.values())
        plain = tempfile.mkdtemp(prefix="plain-", dir=self.work)
        self.larder("sync", self.catalog, "--cache", plain, "-q")
        lists = [self.larder("list", "--json", "--cache", cache) for cache in (self.cache, plain)]
        demand(lists[0] == lists[1], "the merged catalog is not a plain sync's")
        status = [json.loads(self.larder("status", "--json", "--cache", cache)) for cache in (self.cache, plain)]
        for one in status:
            one.pop("oldestCheck")
            for catalog in one["catalogs"]:
                del catalog["complete"], catalog["finished"], catalog["run"]
        demand(status[0] == status[1], f"status tells them apart: {status}")
        demand(rows(self.cache) == rows(plain), "the rows of the two indexes differ")
        return f"{len(paths)} pictures by {asked} requests, {doubled} fetched twice, {again} only asked after; equal to a plain sync"


def rows(cache):
    """The rows of an index, without times and ids of files."""
    index = sqlite3.connect(f"file:{cache}/index.sqlite?mode=ro", uri=True)
    demand(index.execute("PRAGMA integrity_check").fetchall() == [("ok",)], f"{cache}/index.sqlite is damaged")
    found = [
        index.execute(f"SELECT {what}").fetchall()
        for what in (
            "url, sha256, bytes, type, failure FROM picture ORDER BY url",
            "key, body FROM item ORDER BY key",
            "item, state, body FROM detail ORDER BY item",
            "position, key, title FROM run_section ORDER BY run DESC, position LIMIT 2",
        )
    ]
    index.close()
    return found


def demand(holds, words):
    if not holds:
        sys.exit(f"{sys.argv[0]}: {words}")


def wait_for(what, holds, seconds=90):
    """Waits until a condition holds; returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := holds():
            return value
        time.sleep(0.05)
    sys.exit(f"{sys.argv[0]}: waited {seconds} s in vain until {what}")


def venv(package, install=False, also=None):
    """The folder of a PyPI package's virtual environment. With `install` a missing package is installed, or the packages of
    `also` instead."""
    folder = os.path.join(os.environ.get("LARDER_VENVS", "/var/tmp/larder-engines"), package)
    if install and not os.path.exists(f"{folder}/done"):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([f"{folder}/bin/pip", "install", "-q", *(also or [package])], check=True)
        open(f"{folder}/done", "w").close()
    return folder


def environment(folder):
    """The environment for a package's programs."""
    return os.environ | {"PATH": f"{folder}/bin:{os.environ['PATH']}", "PYTHONPATH": "", "SPARK_LOCAL_IP": "127.0.0.1"}


def on_path(shop):
    """Makes the command `larder` run the binary under test."""
    os.makedirs(f"{shop.work}/bin")
    os.symlink(LARDER, f"{shop.work}/bin/larder")
    os.environ["PATH"] = f"{shop.work}/bin:{os.environ['PATH']}"


def shard_processes():
    """The process ids of `larder shard run`, each with its arguments."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words[1:3] == ["shard", "run"] and os.path.basename(words[0]) == "larder":
            found[int(name)] = words
    return found


def environment_of(process):
    """The environment with which a process was started."""
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            pairs = file.read().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)
