"""Kills syncs at random moments and checks the cache: no damaged file, no row without its file, the next run succeeds and
fetches nothing that was stored, verify finds it clean."""

import json
import os
import shutil
import time

from harness import LARDER, ROOT, SEED, chance, digests, killed, number, run, store, violated, work_folder

# Pictures are stale at once, so that a run on a full cache has work too.
FAULTS = """
path=/develop/*             delay=15ms
path=/pictures/*            header="Cache-Control: max-age=0"
path=/pictures/*  every=4   delay=20ms
path=/pictures/*  every=40  drip=512K
"""


class Syncs:
    def __init__(self):
        self.work = work_folder()
        self.cache = self.work + "/cache"
        with open(self.work + "/faults", "w") as file:
            file.write(FAULTS)
        # All files have one date. Two URLs with equal bytes share one file, and the next run revalidates a file without a row
        # by the file's date. With different dates at the origin one picture would be fetched once more.
        samples = self.work + "/samples"
        os.mkdir(samples)
        shutil.copy(ROOT / "samples/catalog.yaml", samples)
        for folder in ("store", "faults"):
            shutil.copytree(ROOT / "samples" / folder, f"{samples}/{folder}")
        for path, _, names in os.walk(samples):
            for name in (".", *names):
                os.utime(os.path.join(path, name), (1_700_000_000, 1_700_000_000))
        self.origin = set(digests(ROOT / "samples/store/pictures").values())
        base = store("--samples", samples, "--faults", self.work + "/faults")
        self.sync = ["sync", ROOT / "samples/catalog.yaml", "--base", base, "--cache", self.cache, "--parallel", "16", "--json"]
        self.moment = "before the first kill"

    def demand(self, holds, *words):
        if not holds:
            violated(f"{self.moment}:", *words, f"\nthe cache is kept in {self.cache}")

    def synced(self):
        """The picture counts in the report of a run that must succeed."""
        ended = run(*self.sync)
        self.demand(ended.returncode == 0, "the next run ended with", ended.returncode, ended.stderr)
        return json.loads(ended.stdout)["images"]

    def pictures(self):
        return digests(self.cache + "/images")

    def look(self):
        """The conditions that hold at any moment: whole pictures, and each row's file at its path."""
        if not os.path.isdir(self.cache + "/images"):
            return
        self.demand(set(self.pictures().values()) <= self.origin, "a file under images/ is not the origin's")
        ended = run("verify", "--cache", self.cache, "--json")
        report = json.loads(ended.stdout)
        # For a cache whose first run ended early verify prints an error instead of a document: 1.
        if ended.returncode == 1:
            self.demand(report["error"]["code"] in ("empty", "cache"), "verify after a kill:", ended.stdout, ended.stderr)
        else:
            self.demand(ended.returncode in (0, 74), "verify after a kill:", ended.returncode, ended.stdout, ended.stderr)
            self.demand(not report["damaged"] and not report["missing"], "verify after a kill:", ended.stdout)


def main():
    syncs, rounds = Syncs(), number("N", 20)
    kills = kept = again = 0
    for _ in ("warm", "timed"):
        shutil.rmtree(syncs.cache, ignore_errors=True)
        began = time.monotonic()
        total = syncs.synced()["unique"]
        length = time.monotonic() - began
    for round in range(1, rounds + 1):
        # Two rounds of three start with an empty cache; each kills one run or two, the second on top of the first.
        if chance.randrange(3):
            shutil.rmtree(syncs.cache, ignore_errors=True)
        for _ in range(1 + chance.randrange(2)):
            after = chance.random() * length
            syncs.moment = f"round {round}, kill after {after * 1000:.0f} ms"
            kills += killed([LARDER, *syncs.sync], after)
            syncs.look()
        present = len(syncs.pictures())
        fetched = syncs.synced()["fetched"]
        syncs.demand(fetched + present == total, f"{present} of {total} pictures were in place, and {fetched} were fetched")
        ended = run("verify", "--cache", syncs.cache)
        syncs.demand(ended.returncode == 0, ended.stdout)
        kept, again = kept + present, again + fetched
        if round % 100 == 0:
            print(f"{round} of {rounds} rounds: {kills} kills", flush=True)
    print(
        f"syncs: {rounds} rounds, SEED={SEED}: {kills} kills within {length * 1000:.0f} ms, {kept} pictures kept, {again} fetched after,"
        " no violation",
        flush=True,
    )
    shutil.rmtree(syncs.work)
