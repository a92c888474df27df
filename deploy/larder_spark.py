"""One catalog over Spark, planned before: spark-submit larder_spark.py PLAN CACHE [MORE OF SHARD RUN]
Add --env=NAME for each environment variable that the catalog file names, and --plan-digest=SHA256 of the plan.
64, 65, 74 and 78 end the run with that status. Any other failure of a shard, such as 75 or a lost executor, is tried
spark.task.maxFailures times. Speculation does no harm. Once all have ended, the driver merges."""
import json, subprocess, sys
from pyspark.sql import SparkSession

larder, (plan, cache, *options) = ["larder", "shard"], sys.argv[1:]
SHARED = ("--env=", "--plan-digest=", "--cacert=", "--proxy=", "--connect-to=", "--allow-private-addresses")  # of run and merge
shared = [word for word in options if word.startswith(SHARED)]

def run(shard):
    words = ["run", "--plan", plan, "--shard", str(shard), "--cache", cache, "--die-with-parent", *options]
    status = subprocess.run(larder + words, stdin=subprocess.DEVNULL).returncode
    assert status in (0, 64, 65, 74, 78), f"shard {shard} ended with {status}"
    return status

spark = SparkSession.builder.appName("larder").getOrCreate()
n = len(json.load(open(f"{plan}/plan.json"))["shards"])
shard = spark.udf.register("shard", run, "int").asNondeterministic()
worst = max(row[0] for row in spark.range(0, n, 1, n).select(shard("id")).collect())
sys.exit(worst or subprocess.run(larder + ["merge", "--plan", plan, "--cache", cache, *shared]).returncode)
