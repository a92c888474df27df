"""Runs the concurrent suites under the thread sanitizer; any data race fails.

The first build compiles every dependency: some ten minutes on two processors; later ones take seconds."""

import glob
import os
import pathlib
import subprocess
import sys

from harness import ROOT, preload

SUITES = r"^(TransportTests|CurlTransportTests|CacheTests|LarderTests|PipelineTests|OrdersTests|SampleStoreTests)\."
# Long sequential tests are skipped: they load the machine and use no thread that others do not.
SKIPPED = ("CacheSuiteTests", "SoakTests", "FreshnessPropertyTests")
FOUND = 66


def main(words):
    os.chdir(ROOT)
    made = ROOT / ".build/tsan"
    options = ["--sanitize=thread", "--scratch-path", ".build/tsan"]
    subprocess.run(["script/build", "--build-tests", *options], check=True)
    library = preload("race", made)
    # First plants a race, which the sanitizer must detect.
    planted = pathlib.Path(__file__).parent / "race.swift"
    subprocess.run(["swiftc", "-sanitize=thread", "-o", made / "planted", planted], check=True)
    for race, expected in ((), 0), (("race",), FOUND):
        environment = {**os.environ, "LD_PRELOAD": library, "TSAN_OPTIONS": f"exitcode={FOUND}"}
        found = subprocess.run([made / "planted", *race], env=environment, capture_output=True).returncode
        if found != expected:
            sys.exit(f"the sanitizer ended with {found} on {race or 'no race'}: it cannot be trusted here")
    # The reports of the tests and of every program that they run; the sanitizer appends the process id.
    reports = f"{made}/report"
    for report in glob.glob(reports + ".*"):
        os.remove(report)
    environment = {
        **os.environ, "LD_PRELOAD": library, "TSAN_OPTIONS": f"exitcode={FOUND} atexit_sleep_ms=0 log_path={reports}",
    }  # fmt: skip
    skipped = [word for name in SKIPPED for word in ("--skip", name)]
    tests = ["swift", "test", "--skip-build", *options, "--filter", words[0] if words else SUITES, *skipped]
    status = subprocess.run(tests, env=environment).returncode
    if written := sorted(glob.glob(reports + ".*")):
        for report in written:
            sys.stderr.write(pathlib.Path(report).read_text(errors="replace"))
        sys.exit(FOUND)
    print(f"race: the tests ended with {status}, and the sanitizer reported nothing")
    sys.exit(status)
