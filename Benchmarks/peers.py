"""The commands with which each program fetches a list of pictures over CONNECTIONS connections.

A peer's `command` takes a Job and gives arguments and environment, or None when it cannot do that pass:
cold starts with an empty folder, warm with everything fresh, revalidate with everything held and stale.
"""
import dataclasses
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CONNECTIONS = 50


@dataclasses.dataclass
class Job:
    """One run: its pass, the folder to fill, the files made for it, the certificate to trust."""

    pass_: str
    out: str
    urls: str
    curl: str
    catalog: str
    ca: str
    is_tls: bool


def larder(job):
    command = [os.environ["LARDER"], "sync", job.catalog, "--cache", job.out + "/cache", "-q",
               "--parallel", str(CONNECTIONS)]
    return command + (["--cacert", job.ca] if job.is_tls else []), {}


def curl(job):
    if job.pass_ == "warm":
        return None
    return ["curl", "-s", "-Z", "--parallel-max", str(CONNECTIONS), "-K",
            job.curl + (".stale" if job.pass_ == "revalidate" else "")], {}


def wget2(job):
    if job.pass_ == "warm":
        # Version 1.99.1 has -nc for this, but it hangs as soon as several threads find their files.
        return None
    extra = ["-N"] if job.pass_ == "revalidate" else []
    tls = ["--ca-certificate=" + job.ca] if job.is_tls else []
    return ["wget2", "-q", f"--max-threads={CONNECTIONS}", "-i", job.urls, "-P", job.out,
            "--no-robots"] + extra + tls, {}


def aria2c(job):
    if job.pass_ == "warm":
        return None
    extra = ["--conditional-get=true", "--allow-overwrite=true"] if job.pass_ != "cold" else []
    tls = ["--ca-certificate=" + job.ca] if job.is_tls else []
    return ["aria2c", "-q", "--no-conf", "-i", job.urls, "-d", job.out, "-j", str(CONNECTIONS),
            "-x", "1", "--file-allocation=none", "--auto-file-renaming=false"] + extra + tls, {}


def urlsession(job):
    if job.pass_ != "cold":
        return None
    command = [os.environ["URLSESSION_PEER"], job.urls, job.out, str(CONNECTIONS)]
    if job.is_tls:
        # On Linux, URLSession only trusts the system's file: mount ours over it, for this process only.
        mount = 'mount --bind "$0" /etc/ssl/certs/ca-certificates.crt && exec "$@"'
        command = ["unshare", "-rm", "sh", "-c", mount, job.ca] + command
    return command, {}


def async_http_client(job):
    if job.pass_ != "cold":
        return None
    tls = [job.ca] if job.is_tls else []
    return [os.environ["AHC_PEER"], job.urls, job.out, str(CONNECTIONS)] + tls, {}


def img2dataset(job):
    if job.pass_ == "revalidate":
        return None
    program = os.path.join(os.environ["PEERS_VENV"], "bin", "img2dataset")
    return [program, "--url_list", job.urls, "--output_folder", job.out + "/shards",
            "--output_format", "files", "--resize_mode", "no", "--disable_all_reencoding", "True",
            "--processes_count", "2", "--thread_count", str(CONNECTIONS // 2),
            "--number_sample_per_shard", "1000", "--retries", "0"], {
        "SSL_CERT_FILE": job.ca, "NO_ALBUMENTATIONS_UPDATE": "1"}


def scrapy(job):
    if job.pass_ == "revalidate":
        return None
    python = os.path.join(os.environ["PEERS_VENV"], "bin", "python")
    return [python, os.path.join(HERE, "scrapy_peer.py"), job.urls, job.out, str(CONNECTIONS),
            "h2" if job.is_tls else "h1"], {}


PEERS = {
    "larder": larder, "curl": curl, "wget2": wget2, "aria2c": aria2c,
    "async-http-client": async_http_client, "URLSession": urlsession,
    "img2dataset": img2dataset, "Scrapy": scrapy,
}
# These use HTTP/1.1 over TLS where the others use HTTP/2.
WITHOUT_HTTP2 = {"aria2c", "img2dataset"}


def present():
    """The installed peers; missing ones are listed on stderr."""
    found = {}
    for name, command in PEERS.items():
        job = Job("cold", "out", "urls", "curl", "catalog", "ca", False)
        try:
            program = command(job)[0][0]
        except KeyError as variable:
            program = str(variable)
        if shutil.which(program):
            found[name] = command
        else:
            print(f"{name} is not there ({program}); its rows are left out", file=sys.stderr)
    return found
