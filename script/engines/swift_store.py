"""OpenStack Swift on one folder, with the s3api middleware, which checks signatures."""

import http.client
import os
import subprocess

SERVERS = {"account": 6202, "container": 6201, "object": 6200}
PIPELINE = "catch_errors cache bulk s3api tempauth slo proxy-server"
FILTERS = ("catch_errors", "bulk", "slo")


class SwiftStore:
    """Four servers and their rings."""

    port = 8085

    def __init__(self, binaries, folder, secret):
        self.keys, self.running = ("test:tester", secret), []
        etc = f"{folder}/etc"
        for name in (etc, f"{folder}/srv/d1", f"{folder}/run"):
            os.makedirs(name)
        write(f"{etc}/swift.conf", "[swift-hash]", "swift_hash_path_suffix = larder", "[storage-policy:0]", "name = one", "default = yes")
        common = ["[DEFAULT]", f"swift_dir = {etc}", "bind_ip = 127.0.0.1", "workers = 0", "user = root"]
        for name, port in SERVERS.items():
            ring = [f"{binaries}/swift-ring-builder", f"{etc}/{name}.builder"]
            device = ["--region", "1", "--zone", "1", "--ip", "127.0.0.1", "--port", str(port), "--device", "d1", "--weight", "1"]
            for words in (["create", "4", "1", "1"], ["add", *device], ["rebalance"]):
                subprocess.run([*ring, *words], check=True, stdout=subprocess.PIPE, cwd=etc)
            more = [f"devices = {folder}/srv", "mount_check = false", "fallocate_reserve = 0", f"bind_port = {port}"]
            app = ["[pipeline:main]", f"pipeline = {name}-server", f"[app:{name}-server]", f"use = egg:swift#{name}", f"recon_cache_path = {folder}/run", "[container-sync]"]
            write(f"{etc}/{name}.conf", *common, *more, *app)
        lines = [*common, f"bind_port = {self.port}", "[pipeline:main]", f"pipeline = {PIPELINE}"]
        for name in FILTERS:
            lines += [f"[filter:{name}]", f"use = egg:swift#{name}"]
        lines += ["[filter:cache]", "use = egg:swift#memcache", "memcache_servers = 127.0.0.1:9"]
        lines += ["[filter:s3api]", "use = egg:swift#s3api", "location = us-east-1"]
        lines += ["[filter:tempauth]", "use = egg:swift#tempauth", f"user_test_tester = {secret} .admin"]
        lines += ["[app:proxy-server]", "use = egg:swift#proxy", "account_autocreate = yes"]
        write(f"{etc}/proxy.conf", *lines)
        for name in [*SERVERS, "proxy"]:
            log = open(f"{folder}/{name}.log", "w")
            words = [f"{binaries}/swift-{name}-server", f"{etc}/{name}.conf", "-v"]
            self.running.append(subprocess.Popen(words, stdout=log, stderr=log))

    def stop(self):
        for process in self.running:
            process.kill()
            process.wait()


def write(path, *lines):
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def make_bucket(port, binaries, keys):
    """Makes the bucket `shop`; returns whether the servers were ready for it."""
    if keys:
        script = (
            "import sys, boto3, botocore.config as c\n"
            "s = boto3.client('s3', endpoint_url=sys.argv[1], aws_access_key_id=sys.argv[2], aws_secret_access_key=sys.argv[3],"
            " region_name='us-east-1', config=c.Config(s3={'addressing_style': 'path'}, retries={'max_attempts': 1}))\n"
            "s.create_bucket(Bucket='shop')\n"
        )
        words = [f"{binaries}/python", "-c", script, f"http://127.0.0.1:{port}", *keys]
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE).returncode == 0
    try:
        store = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        store.request("PUT", "/shop")
        return store.getresponse().status == 200
    except OSError:
        return False
