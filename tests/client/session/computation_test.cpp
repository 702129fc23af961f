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
