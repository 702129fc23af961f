#include "client/training/batch_ahead.h"

#include <system_error>
#include <tuple>
#include <utility>

namespace starling::training {

namespace {

auto parts_of(const wire::SampleRange& samples) {
  return std::tie(samples.round, samples.lane, samples.first, samples.count, samples.epoch);
}

}  // namespace

void BatchAhead::begin(const wire::SampleRange& samples, std::function<Result<models::Batch>()> assemble) {
  samples_ = samples;
  batch_ = {};  // waits for the previous batch
  try {
    batch_ = std::async(std::launch::async, std::move(assemble));
  } catch (const std::system_error&) {  // without a thread, no batch is prepared ahead
  }
}

std::optional<Result<models::Batch>> BatchAhead::take(const wire::SampleRange& samples) {
  if (!batch_.valid()) return std::nullopt;
  std::future<Result<models::Batch>> batch = std::move(batch_);  // its destructor waits
  if (parts_of(samples_) != parts_of(samples)) return std::nullopt;
  return batch.get();
}

}  // namespace starling::training
