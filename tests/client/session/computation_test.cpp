#include "client/session/computation.h"

#include <doctest/doctest.h>

#include "tests/client/session/session_names.h"

using namespace starling;
using namespace starling::session;

TEST_CASE("a batch remembers when it began, and that its state is gone") {
  Computation computation;
  CHECK(computation.idle());
  computation.discard();  // nothing is under way
  computation.begin_batch(kStart, true);
  CHECK(computation.is_batch());
  Computation::Batch batch = computation.end_batch();
  CHECK(batch.began == kStart);
  CHECK(batch.leased);
  CHECK_FALSE(batch.discarded);
  computation.begin_batch(kStart, false);
  computation.discard();
  CHECK(computation.end_batch().discarded);
  CHECK(computation.idle());
}

TEST_CASE("after failures in a row it waits longer each time, until a success or until the cause is gone") {
  Computation computation;
  CHECK_FALSE(computation.waits_after_failure(kStart));
  computation.on_failed(kStart, "no memory");
  const Duration first = computation.not_before() - kStart;
  CHECK(first > Duration::zero());
  CHECK(computation.waits_after_failure(kStart));
  CHECK(computation.failure() == "no memory");
  computation.on_failed(kStart, "no memory");
  CHECK(computation.not_before() - kStart == 2 * first);
  for (int k = 0; k < 20; ++k) computation.on_failed(kStart, "no memory");
  CHECK(computation.not_before() - kStart == std::chrono::seconds(30));
  computation.retry_now(kStart);
  CHECK_FALSE(computation.waits_after_failure(kStart));
  computation.on_success();
  computation.on_failed(kStart, "again");
  CHECK(computation.not_before() - kStart == first);
}

TEST_CASE("a failure that comes again is trouble, with one text as long as it goes on") {
  using std::chrono::seconds;
  Computation computation;
  computation.on_failed(kStart, "killed");
  CHECK(computation.trouble(kStart).empty());  // a trainer may be killed once
  computation.on_success();
  CHECK(computation.trouble(kStart + seconds(1)).empty());

  const TimePoint now = kStart + seconds(600);
  computation.on_failed(now, "no tensor 'labels'");
  CHECK(computation.trouble(now).empty());
  computation.on_failed(now + seconds(30), "no tensor 'labels', the second time");
  CHECK(computation.trouble(now + seconds(30)) == "no tensor 'labels', the second time");
  computation.on_failed(now + seconds(300), "no tensor 'labels', the third time");
  CHECK(computation.trouble(now + seconds(1000)) == "no tensor 'labels', the second time");
  computation.on_success();
  CHECK(computation.trouble(now + seconds(1000)).empty());
}

TEST_CASE("failures with batches that are fine between them are trouble until a minute has passed without") {
  using std::chrono::seconds;
  Computation computation;
  computation.on_failed(kStart, "sample 3 is of class 7");
  computation.on_success();
  computation.on_failed(kStart + seconds(10), "sample 5 is of class 9");
  computation.on_success();
  CHECK(computation.trouble(kStart + seconds(20)) == "sample 5 is of class 9");
  CHECK(computation.trouble(kStart + seconds(59)) == "sample 5 is of class 9");
  CHECK(computation.trouble(kStart + seconds(61)).empty());
}

TEST_CASE("data that is not here yet is no failure, unless that lasts") {
  using std::chrono::minutes;
  Computation computation;
  for (int k = 0; k < 10; ++k) computation.on_lacking(kStart + minutes(k), "waiting for training data: 1 of 64 MB");
  CHECK(computation.lacks_data());
  CHECK(computation.waits_after_failure(kStart + minutes(9)));
  CHECK(computation.trouble(kStart + minutes(9)).empty());
  CHECK(computation.trouble(kStart + minutes(10)) == "waiting for training data: 1 of 64 MB");
  computation.on_success();
  CHECK_FALSE(computation.lacks_data());
  CHECK(computation.trouble(kStart + minutes(10)).empty());
}

TEST_CASE("a sample whose numbers are broken is no trouble, a model whose numbers are is") {
  using std::chrono::seconds;
  Computation computation;
  for (int k = 0; k < 20; ++k) {
    computation.on_not_finite(kStart + seconds(k), "the gradient is not finite");
    CHECK(computation.not_before() <= kStart + seconds(k));  // other samples are next
    CHECK(computation.trouble(kStart + seconds(k)).empty());
    computation.on_success();
  }
  for (int k = 0; k <= Computation::kNotFiniteMax; ++k) {
    CHECK(computation.trouble(kStart).empty());
    CHECK_FALSE(computation.waits_after_failure(kStart));
    computation.on_not_finite(kStart, "the gradient is not finite");
  }
  CHECK(computation.waits_after_failure(kStart));
  CHECK(computation.trouble(kStart) == "the gradient is not finite");
  computation.on_success();
  CHECK(computation.trouble(kStart).empty());
}

TEST_CASE("a model whose numbers are broken is told of after any wait for data, and with no text of before") {
  using std::chrono::minutes;
  Computation computation;
  for (int k = 0; k < 2; ++k) computation.on_failed(kStart, "out of memory");
  computation.on_success();
  TimePoint now = kStart + minutes(60);
  for (int k = 0; k < 12; ++k) computation.on_lacking(now, "waiting for training data");
  for (int k = 0; k <= Computation::kNotFiniteMax; ++k) {
    CHECK(computation.trouble(now).empty());
    computation.on_not_finite(now, "the gradient is not finite");
    if (k == 3) computation.on_lacking(now, "waiting for training data");
  }
  CHECK(computation.trouble(now) == "the gradient is not finite");
  computation.on_failed(now, "killed");  // this is not what went on
  computation.on_failed(now, "killed");
  CHECK(computation.trouble(now) == "killed");
  computation.on_not_finite(now, "the gradient is not finite");
  CHECK(computation.trouble(now).empty());
}

TEST_CASE("one failure after waits for data is none") {
  using std::chrono::minutes;
  Computation computation;
  computation.on_failed(kStart, "killed");
  computation.on_success();
  for (int k = 0; k < 5; ++k) computation.on_lacking(kStart + minutes(60), "waiting for training data");
  computation.on_failed(kStart + minutes(61), "killed");
  CHECK(computation.trouble(kStart + minutes(61)).empty());
}
