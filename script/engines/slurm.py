"""A Slurm cluster of two nodes on this machine, from Debian's packages: a controller and two slurmd, configured in a temporary folder."""

import os
import re
import shutil
import signal
import socket
import subprocess

from shop import DEPLOY, Shop, demand, environment_of, on_path, shard_processes, wait_for

PACKAGES = ["slurmctld", "slurmd", "slurm-client"]
SHARDS = 8
CONFIGURATION = """
ClusterName=larder
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=26817
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={work}/state
SlurmctldPidFile={work}/slurmctld.pid
SlurmctldLogFile={work}/slurmctld.log
SlurmdSpoolDir={work}/spool-%n
SlurmdPidFile={work}/slurmd-%n.pid
SlurmdLogFile={work}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1,default_queue_depth=1000
ReturnToService=2
MinJobAge=3600
KillWait=2
SlurmdTimeout=20
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=26818 CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=26819 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def install():
    """Installs missing packages quietly; Debian's packages start no service here."""
    missing = [name for name in PACKAGES if not shutil.which({"slurm-client": "sbatch"}.get(name, name), path="/usr/sbin:/usr/bin")]
    if missing:
        apt = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
        quiet = {"env": os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL, "check": True}
        subprocess.run([*apt, "update"], **quiet)
        subprocess.run([*apt, "install", "-y", "--no-install-recommends", *missing], **quiet)


class Slurm:
    """A controller and two nodes."""

    def __init__(self, work):
        self.work, self.slurmd = work, {}
        os.makedirs(f"{work}/state")
        with open(f"{work}/slurm.conf", "w") as file:
            file.write(CONFIGURATION.format(host=socket.gethostname(), work=work))
        os.environ["SLURM_CONF"] = f"{work}/slurm.conf"
        self.start("slurmctld", "-D", "-i")
        for node in ("n1", "n2"):
            self.slurmd[node] = self.start("slurmd", "-D", "-N", node)
        wait_for("both nodes are idle", lambda: self.ask("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * 2, 30)

    def start(self, *words):
        environment = os.environ | {"PATH": "/usr/sbin:" + os.environ["PATH"]}
        with open(f"{self.work}/daemons", "a") as log:
            return subprocess.Popen(words, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def ask(self, *words):
        return subprocess.run(words, capture_output=True, text=True).stdout

    def job(self, number):
        """The controller's record of a job or a task."""
        text = self.ask("scontrol", "show", "job", "-o", number)
        return dict(re.findall(r"(\w+)=(\S+)", text))

    def ended(self, number):
        """The state and exit status of a finished job; None while it runs."""
        job = self.job(number)
        state = job.get("JobState", "")
        if state in ("COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT"):
            return state, int(job["ExitCode"].split(":")[0])
        return None


def submit(slurm, shop, shards):
    """Plans and submits with deploy/larder.slurm as a user would; returns the ids of the array job and of the merge."""
    shop.renew()
    environment = os.environ | {"PLAN": shop.plan, "CACHE": shop.cache, "PAUSE": "1"}
    script = ["bash", f"{DEPLOY}/larder.slurm", shop.catalog, str(shards)]
    done = subprocess.run(script, env=environment, cwd=shop.work, capture_output=True, text=True)
    demand(done.returncode == 0, f"larder.slurm ended with {done.returncode}: {done.stderr}")
    merge = done.stdout.split()[-1]
    return re.search(r"afterok:(\d+)", slurm.job(merge)["Dependency"])[1], merge


def task(shard):
    """The process id of a running shard."""
    for process in shard_processes():
        if environment_of(process).get("SLURM_ARRAY_TASK_ID") == str(shard):
            return process
    return None


def said(shop, array, shard):
    """The output of a task."""
    path = f"{shop.work}/slurm-{array}_{shard}.out"
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def halfway(shop, shard):
    """The process of a shard that has fetched some but not all of its pictures."""
    brought, total = shop.brought(shard)
    return task(shard) if 3 < brought < total - 8 else None


def run():
    install()
    shop = Shop(items=120)
    on_path(shop)
    slurm = Slurm(f"{shop.work}/slurm")

    array, merge = submit(slurm, shop, SHARDS)
    os.kill(wait_for("shard 1 is halfway", lambda: halfway(shop, 1)), signal.SIGKILL)
    demand_merged(slurm, shop, merge)
    nodes = {slurm.job(f"{array}_{shard}").get("NodeList") for shard in range(SHARDS)}
    demand(nodes == {"n1", "n2"}, f"the tasks ran on {nodes}")
    print(f"slurm, {SHARDS} shards on 2 nodes, a task killed: {shop.check(kills=1, window=4)}")

    if "FEW" not in os.environ:
        lose_node(slurm, shop)

    # While one shard runs the origin refuses: the pictures of both shards are answered with 503.
    shop.is_busy = True
    array, merge = submit(slurm, shop, 2)
    for shard in range(2):
        wait_for("the shards ended with 75", lambda: "cannot commit" in said(shop, array, shard))
    shop.is_busy = False
    demand_merged(slurm, shop, merge)
    print(f"slurm, 75 tried again: {shop.check(kills=0, window=0)}")

    # A truncated list is 65, and a shard that is not in the plan is 64; neither is retried.
    array, merge = submit(slurm, shop, 8)
    with open(f"{shop.plan}/shard-7.ndjson", "r+") as file:
        file.truncate(100)
    how = wait_for("shard 7 has ended", lambda: slurm.ended(f"{array}_7"))
    demand(how == ("FAILED", 65), f"a shard with a torn list ended {how}")
    demand(said(shop, array, 7).count("make a new plan") == 1, f"65 was tried again: {said(shop, array, 7)}")
    how = wait_for("the merge is dropped", lambda: slurm.ended(merge))
    demand(how[0] == "CANCELLED", f"the merge of a plan with a torn list ended {how}")
    environment = os.environ | {"PLAN": shop.plan, "CACHE": shop.cache, "PAUSE": "1"}
    sbatch = ["sbatch", "--parsable", "--array=9", f"{DEPLOY}/larder.slurm"]
    array = subprocess.run(sbatch, env=environment, cwd=shop.work, capture_output=True, text=True).stdout.strip()
    how = wait_for("shard 9 has ended", lambda: slurm.ended(f"{array}_9"))
    demand(how == ("FAILED", 64), f"a shard that the plan has not ended {how}")
    demand(said(shop, array, 9).count("the plan has the shards") == 1, f"64 was tried again: {said(shop, array, 9)}")
    print("slurm, 65 and 64 tried once: the tasks failed, and the merge was dropped")
    shop.remove()


def lose_node(slurm, shop):
    """Takes a node away from its tasks; Slurm queues them again and restarts them after two minutes."""
    array, merge = submit(slurm, shop, 2)
    wait_for("shard 0 is halfway", lambda: halfway(shop, 0))
    node = slurm.job(f"{array}_0")["NodeList"]
    slurm.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")
    slurm.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
    demand_merged(slurm, shop, merge, 200)
    print(f"slurm, a node lost: {shop.check(kills=2, window=4)}")


def demand_merged(slurm, shop, merge, seconds=90):
    """Requires that the merge was started by its dependency and reports a complete run."""
    how = wait_for("the merge has ended", lambda: slurm.ended(merge), seconds)
    with open(f"{shop.work}/slurm-{merge}.out") as file:
        text = file.read()
    demand(how == ("COMPLETED", 0) and ": complete in" in text, f"the merge ended {how}: {text}")
