#include "shared/run/buckets.h"

#include <algorithm>

#include "shared/run/model_layout.h"

namespace starling::wire {

std::vector<Bucket> buckets(const ModelOptions& model) {
  const std::vector<ParameterInfo> layout = model_layout(model);
  const std::size_t all = parameter_count(model);
  const std::size_t least = std::max(kBucketFloatsLeast, (all + kBucketsMost - 1) / kBucketsMost);
  std::vector<Bucket> cut;
  std::size_t end = all;
  for (auto tensor = layout.rbegin(); tensor != layout.rend(); ++tensor) {
    if (end - tensor->offset < least && tensor->offset > 0) continue;
    cut.push_back({cut.size(), tensor->offset, end - tensor->offset});
    end = tensor->offset;
  }
  return cut;
}

}  // namespace starling::wire
