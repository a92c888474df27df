"""Kills plans, shards and merges at random moments, runs shards twice at once, and checks: every manifest is committed
once, the merge equals a plain sync, row for row, and a kill costs at most the unsynced pictures."""

import json
import os
import subprocess
import sys
import time

import harness
from harness import LARDER, ROOT, SEED, chance

sys.path.insert(0, str(ROOT / "script/engines"))
from shop import Shop, rows  # noqa: E402

SHARDS, WINDOW = 3, 8


class Machines:
    """A shop, and the commands that sync it over several machines."""

    def __init__(self):
        self.shop = Shop(items=40, delay=0.003)
        self.kills = {"plan": 0, "run": 0, "merge": 0}
        self.round = 0

    def command(self, verb, *words):
        shop = self.shop
        if verb == "plan":
            return [LARDER, "shard", verb, shop.catalog, "--shards", str(SHARDS), "--out", shop.plan, "--cache", shop.cache, "-q"]
        return [LARDER, "shard", verb, "--plan", shop.plan, "--cache", shop.cache, *words]

    def run(self, shard):
        return self.command("run", "--shard", str(shard), "--per-host", str(WINDOW), "--json")

    def violate(self, holds, words):
        if not holds:
            harness.violated(f"round {self.round}: {words}; see {self.shop.work}")

    def timed(self, words):
        began = time.monotonic()
        done = subprocess.run(words, capture_output=True, text=True)
        self.violate(done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return time.monotonic() - began

    def killed(self, words, length):
        """Kills a command at a random moment; returns whether it was still running."""
        was_killed = harness.killed(words, chance.random() * length)
        self.kills[words[2]] += was_killed
        return was_killed

    def together(self, *commands):
        """Runs commands at once; returns the output of each."""
        running = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for words in commands]
        printed = []
        for process in running:
            text, errors = process.communicate()
            self.violate(process.returncode == 0, f"a shard ended with {process.returncode}: {errors}")
            printed.append(json.loads(text))
        return printed


def main():
    machines, wanted = Machines(), harness.number("N", 10)
    shop, kills, violate, killed, timed = machines.shop, machines.kills, machines.violate, machines.killed, machines.timed
    command, run = machines.command, machines.run
    doubled = rivals = 0
    shop.renew()
    length = {"plan": timed(command("plan")), "run": max(timed(run(shard)) for shard in range(SHARDS)), "merge": timed(command("merge"))}
    whole = rows(shop.cache)
    while sum(kills.values()) < wanted:
        machines.round += 1
        shop.renew()
        # A killed plan is invalid, unless it was complete; its folder is not used again.
        while killed(command("plan"), length["plan"]) and chance.random() < 0.5:
            shop.renew()
        if not os.path.exists(f"{shop.plan}/plan.json"):
            violate(subprocess.run(run(0), capture_output=True).returncode == 65, "a plan that was killed is one")
            shop.renew()
            timed(command("plan"))
        before = kills["run"]
        for shard in range(SHARDS):
            while killed(run(shard), length["run"]) and chance.random() < 0.5:
                pass
        here = kills["run"] - before
        last = subprocess.run(command("merge"), capture_output=True, text=True)
        violate(last.returncode in (0, 75), f"a merge between ended with {last.returncode}: {last.stderr}")
        # Runs each shard twice at once, on top of what killed runs left.
        for shard in range(SHARDS):
            printed = machines.together(run(shard), run(shard))
            violate(sum(one["committed"] for one in printed) <= 1, f"two runs committed shard {shard}")
            violate(all(one["failed"] == 0 for one in printed), f"shard {shard} failed pictures: {printed}")
            rivals += 1
        again = sum(count - 1 for path, count in shop.bodies.items() if path.startswith("/p/"))
        # Two concurrent runs of a shard may both fetch a picture that neither found.
        violate(again <= here * (WINDOW + 64) + 200, f"{again} pictures were fetched twice for {here} kills")
        doubled += again
        while killed(command("merge"), length["merge"]) and chance.random() < 0.5:
            pass
        timed(command("merge", "--verify"))
        violate(rows(shop.cache) == whole, "the merged rows are not those of a run that was never killed")
        timed([LARDER, "verify", "--cache", shop.cache, "-q"])
        rooms = f"{shop.cache}/shards"
        violate(not os.path.isdir(rooms) or not os.listdir(rooms), f"{rooms} is not empty")
        violate(len([one for one in os.listdir(shop.plan) if one.startswith("manifest")]) >= SHARDS, "a manifest is gone")
    print(
        f"shards, SEED={SEED}: {kills['plan']} plans, {kills['run']} shards and {kills['merge']} merges killed in {machines.round} rounds,"
        f" {rivals} shards run twice at once, {doubled} pictures fetched twice, no violation"
    )
    shop.remove()
