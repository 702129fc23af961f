#include "coordinator/core/introductions.h"

#include "shared/protocol/heartbeat_reply.h"

namespace starling::core {

void Introductions::introduce(TimePoint now, const PeerId& newcomer, std::span<const wire::Endpoint> donors) {
  for (const wire::Endpoint& donor : donors) {
    auto& introduced = by_donor_[donor.peer];
    std::erase_if(introduced, [&](const Introduction& each) { return each.newcomer == newcomer; });
    if (introduced.size() >= wire::kNewcomersMax) introduced.pop_front();
    introduced.push_back({newcomer, now + kLast});
  }
}

std::vector<PeerId> Introductions::newcomers_of(TimePoint now, const PeerId& donor) {
  std::vector<PeerId> newcomers;
  const auto found = by_donor_.find(donor);
  if (found == by_donor_.end()) return newcomers;
  for (const Introduction& each : found->second) {
    if (now < each.until) newcomers.push_back(each.newcomer);
  }
  if (newcomers.empty()) by_donor_.erase(found);
  return newcomers;
}

void Introductions::sweep(TimePoint now) {
  for (auto& [donor, introduced] : by_donor_) {
    std::erase_if(introduced, [&](const Introduction& each) { return now >= each.until; });
  }
  std::erase_if(by_donor_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace starling::core
