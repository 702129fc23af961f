// Error feedback loses nothing: where everybody of a group was averaged in whole and unscaled, and contributes again
//   sum of contributions - average x samples = sum of the residuals that the members bring the next time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "client/averaging/all_reduce.h"
#include "shared/protocol/group_info.h"
#include "shared/run/run_manifest.h"

namespace starling::sim {

class FeedbackCheck {
 public:
  explicit FeedbackCheck(const wire::RunManifest& manifest) : manifest_(manifest) {}

  // A member contributes `sent`, which is `own` and its share of the residual; both empty if it only listens. Returns
  // what is wrong; empty if nothing is.
  [[nodiscard]] std::string on_contributed(const PeerId& peer, const wire::GroupInfo& plan, std::span<const float> own,
                                           std::span<const float> sent);
  // The member has this average of the group's round.
  void on_averaged(const PeerId& peer, const wire::GroupInfo& plan, const averaging::AveragingOutcome& outcome,
                   std::span<const float> average);
  // Its process has died, and the residual with it.
  void on_lost(const PeerId& peer);
  [[nodiscard]] std::int64_t checked() const { return checked_; }

 private:
  struct Round {
    std::map<PeerId, std::vector<float>> sent;  // contributions; empty once there is an average
    std::set<PeerId> heard;                     // members that have the average
    std::size_t members = 0;
    std::vector<double> left_out;  // sum of contributions - average x samples - residuals so far; empty: no average yet
    double scale = 0;              // largest of the values that were summed
    std::size_t awaited = 0;       // members whose residual is not known yet
    bool whole = true;
  };
  [[nodiscard]] std::string close(Round& round);

  const wire::RunManifest& manifest_;
  std::map<GroupId, Round> rounds_;
  std::map<PeerId, std::map<int, GroupId>> last_;  // by fragment: the round to which the member contributed last
  std::int64_t checked_ = 0;
};

}  // namespace starling::sim
