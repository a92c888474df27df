"""Kills senders at random moments and at every system call, fills the disk at every write, and checks the outbox: no acknowledged
order is lost or has two ids, none is sent twice with hold, and with resend only after an interrupted attempt.

STRIDE=1 kills at every system call; the default is one in 41, or every one if N is 500 or more. EACH is the number of waiting orders in each round."""

import collections
import json
import os
import re
import shutil
import subprocess
import time

from harness import LARDER, ROOT, SEED, chance, number, run, store, violated, work_folder

DISK = "write,pwrite64,fsync,fdatasync,ftruncate"
NET = "%network,poll,ppoll,futex"
POLICIES = ("resend", "hold")


class Outbox:
    """The orders of each policy, each in its own outbox, because hold never releases an order."""

    def __init__(self, policy, work, environment, item):
        self.policy, self.work = policy, work
        self.environment = {**environment, "LARDER_ORDERS": f"{work}/{policy}.sqlite"}
        self.place = ["order", "place", item, "--by", "crash"]
        self.send = ["order", "send", "--payload", "json", "--unsigned", "--quiet", "--wait", "0s", "--on-ambiguous", policy]
        self.known = set()

    def demand(self, holds, *words):
        if not holds:
            violated(f"{self.policy}:", *words, f"; see {self.work}")

    def acknowledge(self, said):
        """An order counts as acknowledged once its id is printed."""
        self.known.update(line.split(" ")[0] for line in said.splitlines() if " " in line)

    def order(self):
        self.acknowledge(run(*self.place, env=self.environment).stdout)

    def settle(self, *words):
        """An order that was interrupted repeatedly waits for its time (75); a held one is not a success (3)."""
        ended = run(*self.send, *words, env=self.environment)
        self.demand(ended.returncode in (0, 3, 75), "send:", ended.stderr)
        return ended

    def traced(self, fault, words):
        """Manipulates system calls of a command with strace; returns its output."""
        strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={fault}", LARDER, *words]
        return subprocess.run(strace, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def calls(self, kind, words):
        """The number of system calls of a kind in the busiest thread of a command."""
        trace = f"{self.work}/trace"
        strace = ["strace", "-f", "-qq", "-o", trace, "-e", f"trace={kind}", LARDER, *words]
        subprocess.run(strace, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(trace, errors="replace") as file:
            return collections.Counter(line.split(" ")[0] for line in file).most_common(1)[0][1]


def at_random(outboxes, rounds, each):
    """Random moments: a batch of orders, one more while the sender runs, and the kill. Returns the number of kills and the longest delay in seconds."""
    kills = 0
    for outbox in outboxes:
        outbox.order()
        outbox.settle()
    for _ in range(each):
        outbox.order()
    began = time.monotonic()
    outbox.settle()
    length = time.monotonic() - began
    for round in range(1, rounds + 1):
        outbox = outboxes[(round + 1) % 2]
        for _ in range(1, each):
            outbox.order()
        quiet = {"env": outbox.environment, "stderr": subprocess.DEVNULL, "text": True}
        courier = subprocess.Popen([LARDER, *outbox.send], stdout=subprocess.DEVNULL, **quiet)
        placer = subprocess.Popen([LARDER, *outbox.place], stdout=subprocess.PIPE, **quiet)
        time.sleep(chance.random() * length)
        courier.kill()
        if round % 5 == 0:
            placer.kill()
        kills += courier.wait() == -9
        outbox.acknowledge(placer.communicate()[0])
        if round % 100 == 0:
            print(f"{round} of {rounds} rounds: {kills} kills", flush=True)
    return kills, length


def at_calls(outboxes, stride):
    """Every system call of one delivery, including the transfer thread's; then a disk that fills up. Returns the number of each."""
    swept = filled = 0
    for outbox in outboxes:
        outbox.settle("--wait", "1h")
        for kind in ("all", NET):
            outbox.order()
            for call in range(1 + chance.randrange(stride), outbox.calls(kind, outbox.send) + 1, stride):
                outbox.order()
                outbox.traced(f"{kind}:signal=KILL:when={call}", outbox.send)
                outbox.settle()
                swept += 1
        for call in range(1, 41, (stride + 7) // 8):
            outbox.acknowledge(outbox.traced(f"{DISK}:error=ENOSPC:when={call}+", outbox.place))
            outbox.traced(f"{DISK}:error=ENOSPC:when={call}+", outbox.send)
            outbox.settle()
            filled += 1
    return swept, filled


def judged(outbox, arrived):
    """Compares the arrivals, by id, with the acknowledged orders and the outbox; returns its orders by id, with their delivery."""
    found = {}
    for order in json.loads(run("order", "list", "--json", env=outbox.environment).stdout):
        found[order["order"]] = order["delivery"]
        came, cut = arrived[order["order"]], 0
        if came > 1:
            cut = run("order", "show", order["order"], "--json", env=outbox.environment).stdout.count('"outcome":"unknown')
        outbox.demand(order["delivery"] != "delivered" or came, order["order"], "is delivered, but never arrived")
        outbox.demand(came - 1 <= cut, order["order"], "arrived twice without an attempt cut off")
        outbox.demand(outbox.policy != "hold" or came <= 1, order["order"], "arrived twice under hold")
        expected = ("delivered",) if outbox.policy == "resend" else ("delivered", "ambiguous")
        outbox.demand(order["delivery"] in expected, order["order"], "is", order["delivery"])
    outbox.demand(outbox.known <= set(found), "an acknowledged order is not in the outbox:", *(outbox.known - set(found)))
    return found


def main():
    rounds, each, work = number("N", 20), number("EACH", 10), work_folder()
    stride = number("STRIDE", 41 if rounds < 500 else 1)
    with open(work + "/faults", "w") as file:
        file.write("path=/orders delay=3ms\npath=/orders every=7 delay=20ms\n")
    base = store("--samples", ROOT / "samples", "--faults", work + "/faults", "--journal", work + "/journal")
    webhook = base.split("/develop")[0] + "/orders"
    environment = {**os.environ, "LARDER_WEBHOOK_URL": webhook, "LARDER_CACHE": work + "/cache", "LC_ALL": "C"}
    run("sync", ROOT / "samples/catalog.yaml", "--base", base, "--thumbnails-only", "--quiet", env=environment, check=True)
    item = json.loads(run("list", "--json", env=environment).stdout)[0]["id"]
    outboxes = [Outbox(policy, work, environment, item) for policy in POLICIES]

    kills, length = at_random(outboxes, rounds, each)
    swept, filled = at_calls(outboxes, stride)
    for outbox in outboxes:
        outbox.settle("--wait", "1h")
    with open(work + "/journal") as file:
        arrived = collections.Counter(re.findall('"webhook-id","([^"]*)"', file.read()))
    found = {outbox.policy: judged(outbox, arrived) for outbox in outboxes}

    again = sum(arrived[order] - 1 for order in found["resend"] if arrived[order] > 1)
    held = [order for order, delivery in found["hold"].items() if delivery == "ambiguous"]
    told = run(*outboxes[1].send, env=outboxes[1].environment)
    outboxes[1].demand(not held or told.returncode, "orders are held, and the status is 0")
    for order in held:
        outboxes[1].demand(f"order {order} may have arrived" in told.stderr, order, "is held and not listed")
    strangers = set(arrived) - set(found["resend"]) - set(found["hold"])
    outboxes[0].demand(not strangers, "an id arrived that no outbox has:", *strangers)
    total = sum(len(outbox.known) for outbox in outboxes)
    print(
        f"orders: {total} acknowledged, none lost, SEED={SEED}: {kills} kills at random within {length * 1000:.0f} ms, {swept} at system"
        f" calls, {filled} full disks; {again} repetitions under resend, all after a cut attempt; {len(held)} held and none twice under hold",
        flush=True,
    )
    shutil.rmtree(work)
