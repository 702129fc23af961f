#!/usr/bin/env python3
"""Four volunteers mix otherwise than by the mean at every step: by NoLoCo's step after every few of their own, or as seldom
as the replicas' spread allows. All that holds for plain mixings holds for these."""

import unittest

import decentralized_test

SETTINGS = decentralized_test.SETTINGS


class NolocoSwarm(decentralized_test.DecentralizedSwarm):
    APART = 0.1  # mixings are four times as rare, and take up seven tenths of the way
    SETTINGS = {**SETTINGS, "algorithm": "noloco", "local": {"mix_every": 4}}


class BoundedSwarm(decentralized_test.DecentralizedSwarm):
    APART = 0.1
    # Steps stay as long as they are: were they to shrink, replicas would stay together without mixings, and none be due.
    SETTINGS = {**SETTINGS, "local": {"consensus_bound": 0.025},
                "local.schedule": {"kind": "constant", "learning_rate": 3e-3, "warmup_rounds": 1}}


if __name__ == "__main__":
    unittest.main(failfast=True)
