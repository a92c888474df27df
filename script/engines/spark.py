"""Spark from PyPI: local-cluster, and a master with workers on two addresses; an executor is killed, a shard is frozen."""

import os
import signal
import subprocess
import sys

from shop import DEPLOY, Shop, demand, environment, on_path, shard_processes, venv, wait_for

VENV = venv("pyspark")
SHARDS = 6
SMALL = ["--driver-memory", "512m", "--conf", "spark.executor.memory=512m", "--conf", "spark.ui.enabled=false"]


def install():
    venv("pyspark", install=True)


def submit(shop, master, *options):
    """Plans, and submits the shards to Spark as a user would."""
    shop.renew()
    shop.larder("shard", "plan", shop.catalog, "--shards", str(SHARDS), "--out", shop.plan, "--cache", shop.cache)
    words = [f"{VENV}/bin/spark-submit", "--master", master, *SMALL, *options, f"{DEPLOY}/larder_spark.py"]
    words += [shop.plan, shop.cache, "--per-host", "4"]
    return subprocess.Popen(words, env=environment(VENV), stdout=subprocess.PIPE, stderr=open(f"{shop.work}/said", "w"), text=True)


def demand_merged(shop, spark):
    printed, _ = spark.communicate(timeout=200)
    demand(spark.returncode == 0 and ": complete in" in printed, f"spark ended with {spark.returncode}; see {shop.work}/said")


def javas(name):
    """The Java processes that run a class."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline") as file:
                if name in file.read():
                    found.append(int(process))
        except OSError:
            continue
    return found


def halfway(shop):
    """The processes of active shards, once some pictures were fetched."""
    return len(shop.bodies) > shop.items + 60 and shard_processes()


def run():
    shop = Shop(items=240)
    on_path(shop)

    spark = submit(shop, "local-cluster[2,1,512]")
    wait_for("the shards are halfway", lambda: halfway(shop))
    os.kill(javas("CoarseGrainedExecutorBackend")[0], signal.SIGKILL)
    demand_merged(shop, spark)
    print(f"spark, local-cluster, an executor killed: {shop.check(kills=1, window=4 + len(shop.pictures) // SHARDS)}")

    java = [f"{VENV}/bin/spark-class", "org.apache.spark.deploy"]
    daemons = [["master.Master", "--host", "127.0.0.1", "--port", "7077", "--webui-port", "0"]]
    for address in ("127.0.0.1", "127.0.0.2"):
        daemons.append(["worker.Worker", "--host", address, "--webui-port", "0", "-c", "1", "-m", "600m", "-d", f"{shop.work}/{address}", "spark://127.0.0.1:7077"])
    running = []
    for name, *words in daemons:
        log = open(f"{shop.work}/{name}-{len(running)}", "w")
        memory = environment(VENV) | {"SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1"}
        running.append(subprocess.Popen([java[0], f"{java[1]}.{name}", *words], env=memory, stdout=log, stderr=log))
    speculation = {"": "true", ".interval": "100ms", ".multiplier": "1.5", ".quantile": "0.5", ".minTaskRuntime": "1s"}
    options = [word for key, value in speculation.items() for word in ("--conf", f"spark.speculation{key}={value}")]
    spark = submit(shop, "spark://127.0.0.1:7077", *options)
    frozen = max(wait_for("the shards are halfway", lambda: halfway(shop)))
    words = shard_processes()[frozen]
    os.kill(frozen, signal.SIGSTOP)
    shard = words[words.index("--shard") + 1]
    copy = lambda: [one for one, said in shard_processes().items() if one != frozen and said[said.index("--shard") + 1] == shard]
    wait_for("a copy of the frozen shard begins", copy)
    demand_merged(shop, spark)
    if frozen in shard_processes():
        os.kill(frozen, signal.SIGCONT)
    wait_for("the frozen shard has ended", lambda: frozen not in shard_processes())
    print(f"spark, two hosts, a shard frozen and run again by speculation: {shop.check(kills=1, window=4 + len(shop.pictures) // SHARDS)}")
    for daemon in running:
        daemon.terminate()
    shop.remove()
