"""Kills programs at random moments: syncs, senders of orders and of notices, plans, shards and merges."""

import importlib
import sys

KINDS = ("syncs", "orders", "notices", "shards")


def main(words):
    for word in words or KINDS:
        if word not in KINDS:
            print(f"script/torture kill: {word} is none of {', '.join(KINDS)}", file=sys.stderr)
            sys.exit(64)
        importlib.import_module(word).main()
