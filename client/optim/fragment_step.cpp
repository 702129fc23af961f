#include "client/optim/fragment_step.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/optim/step_journal.h"
#include "shared/base/verify.h"
#include "shared/run/fragments.h"
#include "shared/run/model_layout.h"

namespace starling::optim {
namespace {

// Tensors of the fragment, with offsets from its start.
std::vector<wire::ParameterInfo> layout_in(const wire::Fragment& fragment, const wire::ModelOptions& model) {
  const std::size_t end = fragment.begin + fragment.count;
  std::vector<wire::ParameterInfo> layout;
  for (wire::ParameterInfo info : wire::model_layout(model)) {
    const std::size_t first = std::max(info.offset, fragment.begin);
    const std::size_t stop = std::min(info.offset + info.count, end);
    if (first >= stop) continue;
    info.offset = first - fragment.begin;
    info.count = stop - first;
    info.shape = {static_cast<std::int64_t>(info.count)};
    layout.push_back(std::move(info));
  }
  return layout;
}

}  // namespace

Status step_fragment(const wire::RunManifest& manifest, RoundIndex round, std::span<const float> average,
                     std::span<float> state) {
  VERIFY(average.size() == wire::fragment_floats(manifest) && state.size() == wire::state_size(manifest));
  const wire::Fragment fragment = wire::fragment_of(manifest, round);
  const Optimizer optimizer(manifest.optimizer, manifest.schedule, layout_in(fragment, manifest.model));
  const std::size_t parameters = wire::parameter_count(manifest.model);
  std::vector<float> piece(optimizer.state_size());
  const auto each_vector = [&](const auto& copy) {
    for (std::size_t k = 0; k * fragment.count < piece.size(); ++k) {
      copy(state.subspan(k * parameters + fragment.begin, fragment.count),
           std::span(piece).subspan(k * fragment.count, fragment.count));
    }
  };
  each_vector(
      [](std::span<float> whole, std::span<float> part) { std::copy(whole.begin(), whole.end(), part.begin()); });
  const auto journal = std::make_unique<StepJournal>();
  const RoundIndex taken = round / wire::fragments(manifest);
  STARLING_TRY(
      optimizer.step_at(optimizer.learning_rate(round), taken, average.first(fragment.count), piece, *journal));
  each_vector(
      [](std::span<float> whole, std::span<float> part) { std::copy(part.begin(), part.end(), whole.begin()); });
  return {};
}

}  // namespace starling::optim
