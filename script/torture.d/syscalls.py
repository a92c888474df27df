"""Makes every counted system call of a run of 50 pictures fail in every way, one call per run, and checks the cache: no trap, no
hang, a documented status, and a next run that leaves the same bytes as without a fault.

FAULTS="kill EIO" selects faults, STRIDE=n takes every n-th call, OFFSET=n starts with the n-th."""

import collections
import json
import os
import shutil
import signal
import subprocess
import sys

from harness import LARDER, ROOT, chance, digests, number, preload, store, work_folder

FAULTS = os.environ.get("FAULTS", "kill EIO ENOSPC EDQUOT EMFILE EACCES EINTR short").split()
STATUSES = {0, 1, 3, 65, 69, 74, 75, 78}


def shop(work):
    """Fifty pictures: small ones, two equal, and one that exceeds its share of memory."""
    pictures = [f"fault-{n}" for n in range(1, 48)] + ["detail/bulgogi/same", "detail/bulgogi/top", "detail/set/table"]
    items = [{"id": str(n), "title": str(n), "image": f"/pictures/{name}.jpg"} for n, name in enumerate(pictures, 1)]
    with open(work + "/list.json", "w") as file:
        json.dump(items, file)
    with open(work + "/shop.yaml", "w") as file:
        file.write(
            f'name: faults\ncurrency: KRW\nsections: [{{key: all, title: All, url: "file:{work}/list.json"}}]\n'
            "items: $[*]\nitem: {id: $.id, title: $.title, images: {thumbnail: $.image}}\n"
        )
    return work + "/shop.yaml"


class Run:
    def __init__(self):
        self.work = work_folder()
        self.cache, self.count = self.work + "/cache", self.work + "/count"
        self.library = preload("syscalls", self.work)
        base = store("--samples", self.samples()).split("/develop/")[0] + "/"
        self.sync = ["sync", shop(self.work), "--base", base, "--cache", self.cache, "--parallel", "1", "--retries", "1", "-q"]

    def samples(self):
        """The samples, with pictures of its own for the shop: one JPEG with a comment for each."""
        folder = self.work + "/samples"
        shutil.copytree(ROOT / "samples", folder)
        whole = (ROOT / "samples/store/pictures/shared/parcel.jpg").read_bytes()
        for n in range(1, 48):
            comment = b"fault %d" % n
            with open(f"{folder}/store/pictures/fault-{n}.jpg", "wb") as file:
                file.write(whole[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + whole[2:])
        return folder

    def larder(self, *words, timeout=None, **environment):
        """The status of a run and its output; a run that takes too long is aborted, and its status is None."""
        environment = {**os.environ, **environment}
        process = subprocess.Popen([LARDER, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        try:
            said = process.communicate(timeout=timeout)[0]
            return process.returncode, said
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            return None, process.communicate()[0]

    def faulty(self, **faults):
        return self.larder(*self.sync, timeout=30, LD_PRELOAD=self.library, LARDER_FAULT_COUNT=self.count, **faults)

    def hit(self):
        """The number of calls of the last run, and the name of the call that was hit."""
        if not os.path.exists(self.count):
            return 0, ""
        with open(self.count) as file:
            count, _, name = file.read().strip().partition(" ")
        return int(count), name

    def state(self):
        """The state that must not depend on the fault: every picture's name and bytes, and no partial file."""
        return digests(self.cache + "/images", self.cache + "/partial")

    def clear(self):
        shutil.rmtree(self.cache, ignore_errors=True)
        if os.path.exists(self.count):
            os.remove(self.count)


def main(words):
    run, stride = Run(), number("STRIDE", 1)
    status, said = run.larder(*run.sync)
    if status or run.larder("verify", "--cache", run.cache, "-q")[0]:
        sys.exit(f"a run without a fault ended with {status}: {said}")
    whole = run.state()
    run.clear()
    run.faulty()
    calls, _ = run.hit()
    if not calls:
        sys.exit("no call to the system was counted: the preloaded library does not work")
    print(f"{calls} calls to the system in a run of {len(whole)} pictures", flush=True)
    statuses, points, fired, violations = collections.Counter(), 0, 0, 0
    for fault in FAULTS:
        for at in range(number("OFFSET", 1 + chance.randrange(stride)), calls + 1, stride):
            # A real hang is repeatable; a machine that was suspended for a while is not.
            for _ in range(3):
                run.clear()
                status, said = run.faulty(LARDER_FAULT=fault, LARDER_FAULT_AT=str(at))
                if status is not None:
                    break
            name = run.hit()[1]
            points, fired = points + 1, fired + bool(name)
            statuses[fault, status] += 1
            wrong = []
            if status not in STATUSES and not (fault == "kill" and status == -signal.SIGKILL):
                wrong.append(f"ended with {status}: {said[-300:]}")
            status, said = run.larder(*run.sync)
            if status:
                wrong.append(f"the next run ended with {status}: {said[-300:]}")
            found = run.state()
            if found != whole:
                wrong.append(f"the cache is another: {[path for path in {*found, *whole} if found.get(path) != whole.get(path)][:3]}")
            status, said = run.larder("verify", "--cache", run.cache, "-q")
            if status:
                wrong.append(f"verify: {said[-300:]}")
            for words in wrong:
                print(f"{fault} at call {at} ({name}): {words}", file=sys.stderr, flush=True)
            if wrong:
                violations += len(wrong)
                shutil.rmtree(run.work + "/kept", ignore_errors=True)
                shutil.copytree(run.cache, run.work + "/kept", symlinks=True, dirs_exist_ok=True)
    for (fault, status), count in sorted(statuses.items(), key=str):
        print(f"{fault} ended with {status}: {count}")
    print(f"syscalls: {points} points, {fired} calls were hit, {points - fired} came to an end before, {violations} violations")
    if violations:
        sys.exit(f"the last cache that was wrong is kept in {run.work}/kept")
    shutil.rmtree(run.work)
