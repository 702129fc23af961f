#include "client/training/batch_ahead.h"

#include <ATen/ATen.h>

#include <stdexcept>
#include <thread>
// Comes after torch, because torch's CHECK must give way.
#include <doctest/doctest.h>

using namespace starling;
using namespace starling::training;

namespace {

constexpr wire::SampleRange kSamples{3, 1, 40, 8, 2};

models::Batch batch_of(std::int64_t value) { return {at::full({2}, value, at::kLong)}; }

}  // namespace

TEST_CASE("a batch is assembled on another thread, and is there once") {
  BatchAhead ahead;
  CHECK_FALSE(ahead.take(kSamples).has_value());
  std::thread::id assembled_on;
  ahead.begin(kSamples, [&] {
    assembled_on = std::this_thread::get_id();
    return Result<models::Batch>(batch_of(7));
  });
  const auto batch = ahead.take(kSamples);
  REQUIRE(batch.has_value());
  CHECK(at::equal(batch->value().front(), batch_of(7).front()));
  CHECK(assembled_on != std::this_thread::get_id());
  CHECK_FALSE(ahead.take(kSamples).has_value());
}

TEST_CASE("a batch of other samples than are asked for is dropped") {
  wire::SampleRange other_round = kSamples, other_lane = kSamples, further = kSamples, fewer = kSamples,
                    other_epoch = kSamples;
  ++other_round.round;
  ++other_lane.lane;
  ++further.first;
  --fewer.count;
  ++other_epoch.epoch;
  for (const wire::SampleRange& samples : {other_round, other_lane, further, fewer, other_epoch}) {
    BatchAhead ahead;
    ahead.begin(kSamples, [] { return Result<models::Batch>(batch_of(7)); });
    CHECK_FALSE(ahead.take(samples).has_value());
    CHECK_FALSE(ahead.take(kSamples).has_value());
  }
}

TEST_CASE("what went wrong is said to whoever takes the batch, and to nobody else") {
  BatchAhead ahead;
  ahead.begin(kSamples, [] { return Result<models::Batch>(Error{ErrorCode::corrupt, "no such word"}); });
  CHECK(ahead.take(kSamples)->error().message == "no such word");
  ahead.begin(kSamples, []() -> Result<models::Batch> { throw std::runtime_error("no memory"); });
  CHECK_THROWS_AS((void)ahead.take(kSamples), std::runtime_error);
  ahead.begin(kSamples, []() -> Result<models::Batch> { throw std::runtime_error("no memory"); });
  ahead.begin(kSamples, [] { return Result<models::Batch>(batch_of(7)); });  // replaces the failed one
  CHECK(ahead.take(kSamples)->ok());
}
