"""Ray from PyPI: two nodes on two addresses; one of them is killed."""

import os
import signal
import subprocess

from shop import DEPLOY, Shop, demand, environment, on_path, shard_processes, venv, wait_for

VENV = venv("ray")
SHARDS = 6


def install():
    venv("ray", install=True)


def start(shop, address, *options):
    """Starts a node; returns the ids of its processes."""
    before = set(processes())
    words = [f"{VENV}/bin/ray", "start", f"--node-ip-address={address}", "--num-cpus=2", "--object-store-memory=80000000"]
    words += ["--disable-usage-stats", *options]
    done = subprocess.run(words, env=environment(VENV), capture_output=True, text=True)
    demand(done.returncode == 0, f"ray start ended with {done.returncode}: {done.stdout}{done.stderr}")
    return set(processes()) - before


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def parents(process):
    """The process and its ancestors."""
    while process > 1:
        yield process
        with open(f"/proc/{process}/stat") as file:
            process = int(file.read().rsplit(")", 1)[1].split()[1])


def run():
    shop = Shop(items=240)
    on_path(shop)
    os.environ["RAY_TMPDIR"] = f"{shop.work}/ray"
    shop.renew()
    start(shop, "127.0.0.1", "--head", "--port=6379", "--include-dashboard=false", f"--temp-dir={shop.work}/ray")
    second = start(shop, "127.0.0.2", "--address=127.0.0.1:6379")

    shop.larder("shard", "plan", shop.catalog, "--shards", str(SHARDS), "--out", shop.plan, "--cache", shop.cache)
    words = [f"{VENV}/bin/python", f"{DEPLOY}/larder_ray.py", shop.plan, shop.cache, "--per-host", "4"]
    log = open(f"{shop.work}/said", "w")
    driver = subprocess.Popen(words, env=environment(VENV), stdout=subprocess.PIPE, stderr=log, text=True)
    there = lambda: [one for one in shard_processes() if second & set(parents(one))]
    lost = wait_for("shards run on the second node", lambda: len(shop.bodies) > shop.items + 60 and there())
    for process in second & set(processes()):
        os.kill(process, signal.SIGKILL)
    wait_for("the shards of the killed node have ended", lambda: not set(lost) & set(shard_processes()))
    printed, _ = driver.communicate(timeout=200)
    demand(driver.returncode == 0 and ": complete in" in printed, f"ray ended with {driver.returncode}; see {shop.work}/said")
    print(f"ray, two nodes of which one was killed with {len(lost)} shards: {shop.check(kills=len(lost), window=4)}")
    subprocess.run([f"{VENV}/bin/ray", "stop", "--force"], env=environment(VENV), capture_output=True)
    shop.remove()
