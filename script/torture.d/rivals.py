"""Starts eight runs of warm on one cache at once: one does the work, the others end with 75 and say who holds the cache, the origin is asked for
each URL once, and the cache is whole."""

from harness import number, tests


def main(words):
    rounds = number("N", 5)
    print(f"rivals: {rounds} rounds", flush=True)
    tests("--filter", "HostileTests.*eight runs", LARDER_ROUNDS=str(rounds))
