#!/usr/bin/env python3
"""Four volunteers gossip in other ways than by the mean at every step: by NoLoCo's step after every few of their own,
or as rarely as the consensus distance allows. Everything that holds for plain gossip holds for these."""


import decentralized_test
import suite

SETTINGS = decentralized_test.SETTINGS


class NolocoSwarm(decentralized_test.DecentralizedSwarm):
    APART = 0.1  # exchanges are four times as rare, and cover seven tenths of the distance
    SETTINGS = {**SETTINGS, "algorithm": "noloco", "local": {"mix_every": 4}}


class BoundedSwarm(decentralized_test.DecentralizedSwarm):
    APART = 0.1
    # Steps keep their length: if they shrank, replicas would stay together without gossip, and no exchange would be
    # due.
    SETTINGS = {**SETTINGS, "local": {"consensus_bound": 0.025},
                "local.schedule": {"kind": "constant", "learning_rate": 3e-3, "warmup_rounds": 1}}


if __name__ == "__main__":
    suite.main()
