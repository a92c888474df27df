"""Starts eight concurrent runs of warm on one cache: one does the work, the others end with 75 and name the holder, the origin receives one request
for each URL, and the cache is whole."""

from harness import number, tests


def main(words):
    rounds = number("N", 5)
    print(f"rivals: {rounds} rounds", flush=True)
    tests("--filter", "HostileTests.*eight runs", LARDER_ROUNDS=str(rounds))
