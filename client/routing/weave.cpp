#include "client/routing/weave.h"

#include "shared/base/verify.h"

namespace starling::routing {

Weave::Weave(int segments, std::size_t micro_batches, std::size_t in_flight_max, Way last)
    : segments_(segments), in_flight_max_(in_flight_max), last_(last), states_(micro_batches) {
  VERIFY(segments >= 2 && in_flight_max >= 1 && (last == Way::turn || last == Way::judge));
  for (std::size_t i = 0; i < micro_batches; ++i) states_[i].next.micro_batch = i;
}

int Weave::progress(const Step& step) const {
  return step.way == Way::back ? 2 * segments_ - step.segment : step.segment;
}

std::optional<Weave::Step> Weave::take() {
  if (computing_) return std::nullopt;
  const State* best = nullptr;
  for (std::size_t i = 0; i < begun_; ++i) {
    const State& state = states_[i];
    if (state.stand != Stand::ready) continue;
    if (best == nullptr || progress(state.next) > progress(best->next)) best = &state;
  }
  if (best == nullptr && begun_ < states_.size() && in_flight() < in_flight_max_) best = &states_[begun_++];
  if (best == nullptr) return std::nullopt;
  computing_ = best->next.micro_batch;
  states_[*computing_].stand = Stand::computing;
  return best->next;
}

void Weave::on_computed() {
  VERIFY(computing_);
  State& state = states_[*computing_];
  computing_.reset();
  if (state.next.way == Way::judge || (state.next.way == Way::back && state.next.segment == 0)) {
    state.stand = Stand::done;
    ++done_;
    return;
  }
  state.stand = Stand::waiting;
  if (state.next.way != Way::forth) {
    state.next.way = Way::back;
    --state.next.segment;
  } else if (++state.next.segment == segments_ - 1) {
    state.next.way = last_;
  }
}

void Weave::on_exchanged(std::size_t micro_batch) {
  State& state = states_.at(micro_batch);
  VERIFY(state.stand == Stand::waiting);
  state.stand = Stand::ready;
}

}  // namespace starling::routing
