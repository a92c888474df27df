"""Runs warm against an origin that changes, fails, redirects and lies at random by a seed, and compares the cache with a model after each run, byte for
byte. A failure prints the seed and the run."""

from harness import SEED, number, tests


def main(words):
    runs = number("N", 200)
    print(f"soak: {runs} runs, seed {SEED}", flush=True)
    tests("--filter", "SoakTests", LARDER_SOAK_RUNS=str(runs), LARDER_SOAK_SEED=str(SEED))
