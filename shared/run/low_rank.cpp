#include "shared/run/low_rank.h"

#include "shared/base/verify.h"
#include "shared/run/fragments.h"

namespace starling::wire {
namespace {

bool worth_factors(const ParameterInfo& parameter, std::size_t rank) {
  if (parameter.shape.size() != 2) return false;
  const auto rows = static_cast<std::size_t>(parameter.shape[0]);
  const auto columns = static_cast<std::size_t>(parameter.shape[1]);
  return kLowRankGainMin * rank * (rows + columns) <= rows * columns;
}

}  // namespace

LowRankLayout low_rank_layout(const std::vector<ParameterInfo>& parameters, int rank) {
  VERIFY(rank >= 1 && rank <= kLowRankMax);
  LowRankLayout layout;
  layout.rank = static_cast<std::size_t>(rank);
  for (const ParameterInfo& parameter : parameters) {
    layout.floats += parameter.count;
    if (!worth_factors(parameter, layout.rank)) continue;
    const auto rows = static_cast<std::size_t>(parameter.shape[0]);
    const auto columns = static_cast<std::size_t>(parameter.shape[1]);
    layout.matrices.push_back({parameter.offset, rows, columns, layout.left_floats, layout.right_floats});
    layout.left_floats += layout.rank * rows;
    layout.right_floats += layout.rank * columns;
  }
  for (const ParameterInfo& parameter : parameters) {
    if (worth_factors(parameter, layout.rank)) continue;
    layout.plain.push_back({parameter.offset, parameter.count, layout.right_floats});
    layout.right_floats += parameter.count;
  }
  return layout;
}

std::int64_t averaged_floats(const RunManifest& manifest) {
  if (manifest.round.low_rank == 0) return static_cast<std::int64_t>(fragment_floats(manifest));
  const LowRankLayout layout = low_rank_layout(model_layout(manifest.model), manifest.round.low_rank);
  return static_cast<std::int64_t>(layout.left_floats + layout.right_floats);
}

}  // namespace starling::wire
