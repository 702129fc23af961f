#!/usr/bin/env python3
"""Three volunteers average half of the parameters at a time while local steps continue, and send only the largest
values of it, both ways: values left out of a fragment wait for that fragment's next round, and a process that dies
costs only itself."""


import local_steps_test
import suite


class SparseFragments(local_steps_test.LocalStepsSwarm):
    SETTINGS = {**local_steps_test.LocalStepsSwarm.SETTINGS, "algorithm": "streaming-diloco", "codec": "sparse",
                "error_feedback": 0.95, "local": {"fragments": 2}}


if __name__ == "__main__":
    suite.main()
