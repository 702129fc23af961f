#!/usr/bin/env python3
"""Three volunteers take local steps and average a quarter of the parameters at a time, while steps continue: the loss
falls, and a process that dies in between costs only itself."""


import delayed_updates_test
import suite

BATCH = 384  # over all volunteers: about four steps of 32 samples each between two rounds; sixteen for a parameter


class StreamingSwarm(delayed_updates_test.DelayedUpdates):
    MBIT = 2  # quarters are short
    SETTINGS = {"algorithm": "streaming-diloco", "target_batch_size": BATCH, "micro_batch_size": 32, "peers_max": 16,
                "codec": "fp16", "schedule": {"learning_rate": 0.7},
                "local.schedule": {"learning_rate": 3e-3, "warmup_rounds": 4, "total_rounds": 400}}


if __name__ == "__main__":
    suite.main()
