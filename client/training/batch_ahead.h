// The next batch, assembled on a thread of its own while a graphics card computes the present one.
#pragma once

#include <functional>
#include <future>
#include <optional>

#include "client/models/model.h"
#include "shared/base/result.h"
#include "shared/wire/training_data.h"

namespace starling::training {

// At most one. What it is assembled from must outlive it, or be the function's own.
class BatchAhead {
 public:
  // Calls assemble() there, for a batch of these samples, in place of one that was not taken. Where no thread is to be
  // had there is none.
  void begin(const wire::SampleRange& samples, std::function<Result<models::Batch>()> assemble);
  // What was begun, if it is of these samples, when it is done; else it is dropped. Throws what assemble() did.
  std::optional<Result<models::Batch>> take(const wire::SampleRange& samples);

 private:
  wire::SampleRange samples_;
  std::future<Result<models::Batch>> batch_;
};

}  // namespace starling::training
