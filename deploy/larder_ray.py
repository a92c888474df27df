"""One catalog over Ray, planned before: python larder_ray.py PLAN CACHE [OPTIONS OF SHARD RUN]
Add --env=NAME for each environment variable that the catalog file names, and --plan-digest=SHA256 of the plan.
64, 65, 74 and 78 end the run with that status. Any other failure of a shard, such as 75 or a lost node, is tried
5 times. Once all have ended, the driver merges."""
import json, subprocess, sys
import ray

larder, (plan, cache, *options) = ["larder", "shard"], sys.argv[1:]
SHARED = ("--env=", "--plan-digest=", "--cacert=", "--proxy=", "--connect-to=", "--allow-private-addresses")  # of run and merge
shared = [word for word in options if word.startswith(SHARED)]

@ray.remote(num_cpus=1, max_retries=4, retry_exceptions=True)
def run(shard):
    words = ["run", "--plan", plan, "--shard", str(shard), "--cache", cache, "--die-with-parent", *options]
    status = subprocess.run(larder + words, stdin=subprocess.DEVNULL).returncode
    assert status in (0, 64, 65, 74, 78), f"shard {shard} ended with {status}"
    return status

ray.init(address="auto")
n = len(json.load(open(f"{plan}/plan.json"))["shards"])
worst = max(ray.get([run.remote(shard) for shard in range(n)]))
sys.exit(worst or subprocess.run(larder + ["merge", "--plan", plan, "--cache", cache, *shared]).returncode)
