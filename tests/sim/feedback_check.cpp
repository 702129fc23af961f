#include "tests/sim/feedback_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "shared/run/fragments.h"

namespace starling::sim {
namespace {

constexpr double kTolerance = 1e-4;  // relative to the values that were summed, in single precision
constexpr std::size_t kRoundsKept = 64;

}  // namespace

std::string FeedbackCheck::on_contributed(const PeerId& peer, const wire::GroupInfo& plan, std::span<const float> own,
                                          std::span<const float> sent) {
  if (manifest_.round.error_feedback == 0 || manifest_.round.low_rank > 0)
    return {};  // factors have a residual of their own
  const int fragment = wire::fragment_of(manifest_, plan.round).number;
  std::string wrong;
  if (const auto last = last_[peer].find(fragment); last != last_[peer].end()) {
    const auto round = rounds_.find(last->second);
    if (round != rounds_.end() && !round->second.left_out.empty()) {
      if (sent.empty() || !round->second.heard.contains(peer)) round->second.whole = false;
      for (std::size_t i = 0; i < sent.size(); ++i) {
        round->second.left_out[i] -= (static_cast<double>(sent[i]) - own[i]) / manifest_.round.error_feedback;
      }
      if (--round->second.awaited == 0) {
        wrong = close(round->second);
        rounds_.erase(round);
      }
    } else if (round != rounds_.end()) {
      round->second.whole = false;  // it did not hear how that round ended
    }
  }
  last_[peer][fragment] = plan.id;
  Round& round = rounds_[plan.id];
  round.members = plan.members.size();
  if (sent.empty() || plan.grid || round.sent.contains(peer)) round.whole = false;
  round.sent[peer].assign(sent.begin(), sent.end());
  return wrong;
}

void FeedbackCheck::on_averaged(const PeerId& peer, const wire::GroupInfo& plan,
                                const averaging::AveragingOutcome& outcome, std::span<const float> average) {
  const auto found = rounds_.find(plan.id);
  if (found == rounds_.end()) return;
  found->second.heard.insert(peer);
  if (!outcome.scaled.empty()) found->second.whole = false;
  if (!found->second.left_out.empty()) return;
  Round& round = found->second;
  const bool all = round.whole && round.sent.size() == round.members && outcome.lost.empty() &&
                   outcome.contributors.size() == 1 && outcome.contributors.front().members.count() == round.members;
  if (!all) {
    rounds_.erase(found);
    return;
  }
  round.left_out.assign(average.size(), 0);
  for (const auto& [peer, sent] : round.sent) {
    for (std::size_t i = 0; i < sent.size(); ++i) {
      round.left_out[i] += sent[i];
      round.scale = std::max(round.scale, std::abs(static_cast<double>(sent[i])));
    }
  }
  for (std::size_t i = 0; i < average.size(); ++i) {
    round.left_out[i] -= static_cast<double>(average[i]) * static_cast<double>(outcome.weight_total);
  }
  round.awaited = round.members;
  round.sent.clear();
  while (rounds_.size() > kRoundsKept)
    rounds_.erase(rounds_.begin()->first == plan.id ? std::next(rounds_.begin()) : rounds_.begin());
}

void FeedbackCheck::on_lost(const PeerId& peer) {
  for (const auto& [fragment, group] : last_[peer]) rounds_.erase(group);
  last_.erase(peer);
}

std::string FeedbackCheck::close(Round& round) {
  if (!round.whole) return {};
  ++checked_;
  const double scale = static_cast<double>(round.members) * round.scale;
  for (std::size_t i = 0; i < round.left_out.size(); ++i) {
    if (std::abs(round.left_out[i]) <= kTolerance * scale) continue;
    return fmt::format("coordinate {}: codecs have left out {} more than {} members bring again", i, round.left_out[i],
                       round.members);
  }
  return {};
}

}  // namespace starling::sim
