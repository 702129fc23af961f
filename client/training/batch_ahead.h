// The next batch, assembled on a thread of its own while a graphics card computes the present one.
#pragma once

#include <functional>
#include <future>
#include <optional>

#include "client/models/model.h"
#include "shared/base/result.h"
#include "shared/run/training_data.h"

namespace starling::training {

// Holds at most one batch. The inputs of `assemble` must outlive this object, or belong to the function.
class BatchAhead {
 public:
  // Calls assemble() on the thread, for a batch of these samples; drops an earlier batch that was not taken. Does
  // nothing if the system gives no thread.
  void begin(const wire::SampleRange& samples, std::function<Result<models::Batch>()> assemble);
  // Returns the batch if it is of these samples, waiting until it is done; drops it otherwise. Throws the exceptions of
  // assemble().
  std::optional<Result<models::Batch>> take(const wire::SampleRange& samples);

 private:
  wire::SampleRange samples_;
  std::future<Result<models::Batch>> batch_;
};

}  // namespace starling::training
