"""The common parts of all tortures: the binary, seeded randomness, a work folder, the sample store, and programs that are killed or run with a preloaded library."""

import atexit
import hashlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LARDER = os.path.realpath(os.environ.get("LARDER", ROOT / ".build/debug/larder"))
SEED = int(os.environ.get("SEED", random.randrange(1 << 16)))
chance = random.Random(SEED)


def number(name, usual):
    """A number from the environment."""
    return int(os.environ.get(name, usual))


def work_folder():
    """A new folder in memory, where a round takes a second; TMPDIR=/var/tmp for a disk, where syncs take longer."""
    return tempfile.mkdtemp(prefix="larder-torture-", dir=os.environ.get("TMPDIR", "/dev/shm"))


def violated(*words):
    sys.exit(f"SEED={SEED}: " + " ".join(map(str, words)))


def run(*words, **options):
    """Runs larder to its end and keeps its output."""
    return subprocess.run([LARDER, *map(str, words)], capture_output=True, text=True, **options)


def store(*words):
    """Starts the sample store until this program ends; returns its base URL."""
    serving = subprocess.Popen([LARDER, "demo", "--serve", "--port", "0", *map(str, words)], stdout=subprocess.PIPE, text=True)
    atexit.register(serving.kill)
    return serving.stdout.readline().strip()


def killed(words, seconds, **options):
    """Kills a program after a delay; returns whether it was still running."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    time.sleep(seconds)
    process.kill()
    return process.wait() == -9


def preload(name, work):
    """Compiles NAME.c into a library for LD_PRELOAD."""
    made = f"{work}/{name}.so"
    source = pathlib.Path(__file__).parent / f"{name}.c"
    subprocess.run(["clang", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


def digests(*folders):
    """The SHA-256 of every file below the existing folders, by path."""
    found = {}
    for folder in folders:
        for path, _, names in os.walk(folder):
            for name in names:
                whole = os.path.join(path, name)
                with open(whole, "rb") as file:
                    found[whole] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def tests(*words, **environment):
    """Runs script/test with these arguments and exits with its status."""
    os.chdir(ROOT)
    os.execve("script/test", ["script/test", *words], {**os.environ, **environment})
