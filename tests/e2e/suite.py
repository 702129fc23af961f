"""Runs the tests of one file for ctest: each with the time it took, and `skipped`, with the reason, where this machine
lacks what they need."""

import sys
import time
import unittest

SKIPPED = 77  # exit status that CMakeLists.txt knows


class TimedResult(unittest.TextTestResult):
    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"{time.monotonic() - self.began:6.1f} s  {test.id().removeprefix('__main__.')}")


def skip(reason):
    """Ends the program: none of its tests can run here."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def main(arguments=None):
    """Runs the tests of the calling script, or those that `arguments` (sys.argv without it) name, up to the first that
    fails. A file of which a part was skipped counts as skipped."""
    argv = sys.argv[:1] + (sys.argv[1:] if arguments is None else arguments)
    runner = unittest.TextTestRunner(resultclass=TimedResult, verbosity=2)
    result = unittest.main(argv=argv, failfast=True, exit=False, testRunner=runner).result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun == 0:
        sys.exit(f"no test is called {argv[1:]}")
    reasons = sorted({reason for _, reason in result.skipped})
    for reason in reasons:
        print(f"skipped: {reason}")
    sys.exit(SKIPPED if reasons else 0)
