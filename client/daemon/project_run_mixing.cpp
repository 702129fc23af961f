// The run's mixings between rounds: session::Mixing decides on the control thread, own parameters are moved on the
// trainer thread between two batches, and the network averages what was sent of them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "client/daemon/project_run.h"
#include "client/daemon/run_parts.h"
#include "shared/base/log.h"
#include "shared/wire/fragments.h"

namespace starling::daemon {

session::Mixing::Order ProjectRun::order_mixing(bool begins) {
  if (parts_->mixing == nullptr) return {};
  const session::Mixing::Order order = parts_->mixing->mixing.before_batch(threads_.clock.now(), begins);
  if (order.send_out) parts_->network->end_mixing();
  return order;
}

void ProjectRun::move_own_parameters(const session::Mixing::Order& order, bool begins) {
  if (!order.send_out) return;
  MixingParts& mixing = *parts_->mixing;
  const trainer_link::TrainerProcessView child = parts_->trainer->view();
  // A child that is new begins at the agreed parameters.
  const bool has_stepped = !begins && child.pid != 0 && child.starts == mixing.stepped_child;
  const std::span<float> own = parts_->trainer->own_parameters();
  const std::span<const float> agreed = parts_->trainer->state().first(own.size());
  if (order.take_in && has_stepped && child.starts == mixing.sent_child) {
    for (std::size_t i = 0; i < own.size(); ++i) own[i] += mixing.mixed[i] - mixing.sent[i];
  }
  if (has_stepped) {
    for (std::size_t i = 0; i < own.size(); ++i) mixing.sent[i] = own[i] - agreed[i];
    mixing.sent_child = child.starts;
  }
  deliver([this, has_stepped](TimePoint now) {
    if (!has_stepped) return parts_->mixing->mixing.forget();
    meet(parts_->mixing->mixing.on_sent_out(now));
  });
}

void ProjectRun::note_stepped(bool stepped) {
  if (parts_->mixing == nullptr) return;
  MixingParts& mixing = *parts_->mixing;
  mixing.stepped_child = stepped ? parts_->trainer->view().starts : -1;
  if (!stepped) mixing.sent_child = -1;
}

void ProjectRun::meet(const std::optional<swarm::MixingGroup>& mixing) {
  if (!mixing) return;
  transport::AverageRequest request;
  request.group = mixing->group;
  request.self = mixing->self;
  request.weight = 1;
  request.input = parts_->mixing->sent;
  request.output = parts_->mixing->mixed;
  request.start = threads_.clock.now();
  request.engine.latecomers = false;
  request.done = [this, id = mixing->group.id](const averaging::AveragingOutcome& outcome) {
    deliver([this, id, outcome](TimePoint now) { meet(parts_->mixing->mixing.on_mixed(now, id, outcome)); });
  };
  if (const Status begun = parts_->network->mix(std::move(request)); !begun.ok()) {
    log_warning("mixing: {}", begun.error().message);
    parts_->mixing->mixing.forget();
  }
}

void ProjectRun::begin_mixings(const wire::RoundReport& report) {
  if (parts_->mixing == nullptr) return;
  std::vector<PeerId> members;
  for (const wire::Contribution& contribution : report.contributions) members.push_back(contribution.peer);
  parts_->mixing->mixing.begin_round(parts_->mixing->last, members, report.round + 1, report.state_digest);
}

void ProjectRun::end_mixings() {
  if (parts_->mixing == nullptr) return;
  parts_->mixing->mixing.end_round();
  parts_->network->end_mixing();
}

double ProjectRun::spread(RoundIndex round, std::span<const float> sum, SampleCount samples) const {
  if (!parts_->manifest.local || samples == 0) return 0;
  const wire::Fragment fragment = wire::fragment_of(parts_->manifest, round);
  const std::span<const float> agreed = parts_->trainer->state().subspan(fragment.begin, fragment.count);
  double apart = 0;
  double length = 0;
  for (std::size_t i = 0; i < agreed.size(); ++i) {
    const double average = parts_->averaged[i];
    const double own = static_cast<double>(sum[i]) / static_cast<double>(samples);
    apart += (own - average) * (own - average);
    length += (agreed[i] - average) * (agreed[i] - average);
  }
  return length > 0 ? std::sqrt(apart / length) : 0;
}

}  // namespace starling::daemon
