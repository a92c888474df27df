"""Kills `larder notify` at N points, half of them random moments and half system calls, and checks the messages that arrived: each price
change is sent, and none is silently repeated. A notice that may have arrived is listed with the policy hold; with resend it is sent again under its
own id, or as a part of a notice that says so."""

import json
import os
import re
import shutil
import subprocess
import time

from harness import LARDER, ROOT, SEED, chance, number, run, store, violated, work_folder
from orders import Outbox

CATALOG = """name: prices
currency: KRW
sections: [{key: all, title: All, url: all.json}]
items: $[*]
item: {id: $.id, title: $.title, salePrice: $.price}
"""
PAYLOADS = {"resend": "json", "hold": "slack"}


class Notices(Outbox):
    """The notices of each policy, resend to programs and hold to Slack, each in its own outbox."""

    def __init__(self, policy, work, environment):
        super().__init__(policy, work, environment, None)
        self.send = ["notify", "--payload", PAYLOADS[policy], "--quiet", "--wait", "0s", "--on-ambiguous", policy]
        if policy == "resend":
            self.send.append("--unsigned")
        # The price at which a notice that may have arrived was listed.
        self.named = set()

    def settled(self, price, *words):
        if re.search("notice ntc_[^ ]* may have arrived", self.settle(*words).stderr):
            self.named.add(price)

    def killed_at_random(self, length):
        """Whether it was still running when it was killed."""
        courier = subprocess.Popen([LARDER, *self.send], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.random() * length)
        courier.kill()
        return courier.wait() == -9


class Prices:
    """A shop whose only change is the price of one item, which rises by 1 won at a time."""

    def __init__(self, work, environment):
        self.work, self.environment, self.price = work, environment, 999
        with open(work + "/shop.yaml", "w") as file:
            file.write(CATALOG)
        self.rise()

    def rise(self):
        self.price += 1
        rows = [{"id": f"A{n}", "title": f"Dish {n}", "price": self.price if n == 0 else 500 + n} for n in range(3)]
        with open(self.work + "/all.json", "w") as file:
            json.dump(rows, file)
        run("sync", self.work + "/shop.yaml", "--quiet", env=self.environment, check=True)


def arrivals(journal):
    """For each policy, the messages in order of arrival: the notice's id, its first and last price, and whether it may repeat another."""
    found = {policy: [] for policy in PAYLOADS}
    with open(journal) as file:
        for line in file:
            post = json.loads(line)
            name = next(value for key, value in post["headers"] if key.lower() == "idempotency-key")
            body = json.loads(post["body"])
            if "blocks" in body:
                text = json.dumps(body, ensure_ascii=False)
                ends = [int(price.replace(",", "")) for price in re.search("([0-9,]+)원 → ([0-9,]+)원", text).groups()]
                found["hold"].append((name, *ends, "earlier message" in text))
            else:
                (change,) = body["data"]["changes"]
                ends = [change[end]["minorUnits"] for end in ("from", "to")]
                found["resend"].append((name, *ends, body["data"]["mayRepeat"]))
    return found


def judged(outbox, arrived, first, last):
    """Compares the messages; returns how many there were, arrived again under their id, said that they may repeat, and are missing."""
    known, told = {}, first
    again = repeats = missing = 0
    for name, begin, end, may_repeat in arrived:
        if name in known:
            outbox.demand(outbox.policy == "resend" and known[name] == (begin, end), name, "arrived twice")
            again += 1
            continue
        known[name] = (begin, end)
        if begin < told:
            outbox.demand(may_repeat, name, f"tells {begin} to {end} again, after {told}, and does not say so")
            repeats += 1
        elif begin > told:
            outbox.demand(begin in outbox.named, f"what changed from {told} to {begin} was neither told nor named")
            missing += 1
        told = max(told, end)
    outbox.demand(told == last, f"the last price is {last}, and {told} was told")
    outbox.demand(outbox.policy == "hold" or not missing, missing, "notices never arrived under resend")
    return len(known), again, repeats, missing


def main():
    points, work = number("N", 20), work_folder()
    with open(work + "/faults", "w") as file:
        file.write("path=/orders delay=3ms\npath=/orders every=7 delay=20ms\n")
    base = store("--samples", ROOT / "samples", "--faults", work + "/faults", "--journal", work + "/journal")
    webhook = base.split("/develop")[0] + "/orders"
    environment = {**os.environ, "LARDER_WEBHOOK_URL": webhook, "LARDER_CACHE": work + "/cache", "LC_ALL": "C"}
    prices = Prices(work, environment)
    outboxes = [Notices(policy, work, environment) for policy in PAYLOADS]
    for outbox in outboxes:
        outbox.settled(prices.price)
    first = prices.price

    lengths, calls = {}, {}
    for outbox in outboxes:
        prices.rise()
        calls[outbox] = outbox.calls("all", outbox.send)
        prices.rise()
        began = time.monotonic()
        outbox.settled(prices.price)
        lengths[outbox] = time.monotonic() - began
    kills = {"random": 0, "calls": 0}
    for point in range(points):
        outbox = outboxes[point % 2]
        prices.rise()
        if point % 4 < 2:
            kills["random"] += outbox.killed_at_random(lengths[outbox])
        else:
            # Spread over all calls, with a small random offset.
            call = 1 + int((point + chance.random()) * calls[outbox] / points)
            outbox.traced(f"all:signal=KILL:when={call}", outbox.send)
            kills["calls"] += 1
        outbox.settled(prices.price)
        if point % 50 == 49:
            print(f"{point + 1} of {points} points", flush=True)
    prices.rise()
    for outbox in outboxes:
        outbox.settled(prices.price, "--wait", "1h")

    arrived = arrivals(work + "/journal")
    counts = {outbox.policy: judged(outbox, arrived[outbox.policy], first, prices.price) for outbox in outboxes}
    (resent, again, repeats, _), (held, _, _, missing) = counts["resend"], counts["hold"]
    length = max(lengths.values()) * 1000
    print(
        f"notices: {points} points, SEED={SEED}: {kills['random']} kills at random within {length:.0f} ms, {kills['calls']} at system calls; under"
        f" resend {resent} messages, none lost, {again} came again under their id and {repeats} said that they may repeat; under hold {held}"
        f" messages, none twice, {missing} never sent and all of them named",
        flush=True,
    )
    shutil.rmtree(work)
