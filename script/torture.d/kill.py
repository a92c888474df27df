"""Kills programs at random moments: syncs, couriers of orders, plans, shards and merges."""

import importlib
import sys

KINDS = {"syncs": "syncs", "orders": "orders", "shards": "shards"}


def main(words):
    for word in words or list(KINDS):
        if word not in KINDS:
            sys.exit(f"script/torture kill: {word} is none of {', '.join(KINDS)}")
        importlib.import_module(word).main()
