#!/usr/bin/env python3
"""Three volunteers take local steps that continue while the result of earlier ones is averaged: the loss falls, nobody
waits for the line, and a process that dies in between costs only itself."""


import delayed_updates_test
import suite

BATCH = 768  # over all volunteers: about eight steps of 32 samples each between two rounds


class EagerSwarm(delayed_updates_test.DelayedUpdates):
    SETTINGS = {"algorithm": "eager-diloco", "target_batch_size": BATCH, "micro_batch_size": 32, "peers_max": 16,
                "codec": "fp16", "schedule": {"learning_rate": 0.7},
                "local.schedule": {"learning_rate": 3e-3, "warmup_rounds": 1, "total_rounds": 100}}


if __name__ == "__main__":
    suite.main()
