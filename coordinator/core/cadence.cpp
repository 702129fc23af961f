#include "coordinator/core/cadence.h"

#include <algorithm>
#include <vector>

namespace starling::core {
namespace {

constexpr double kSmoothing = 0.3;  // weight of the newest round
constexpr double kLagGain = 0.15;   // small: a single round's figure is chance for the most part
// limit as a fraction of the batch, before the gain: a round that waited for a member is no measure
constexpr double kLagStepMax = 0.25;
constexpr double kLagMin = -0.5, kLagMax = 1;  // in batches
constexpr std::size_t kArrivalsKept = 256;
constexpr std::size_t kArrivalsEnough = 16;
constexpr double kNearlyAll = 0.97;
constexpr double kLeadOfRound = 0.12;  // fraction of a round's length
// The part of the lead over which calls are spread: not at its very beginning, since intervals are rounded and
// forecasts waver, and not so late that the answer could miss the start.
constexpr double kSpreadFrom = 0.1;
constexpr double kSpreadTo = 0.45;
constexpr double kFarLeads = 10;        // number of leads beyond which the forecast is checked on the way
constexpr double kFarStep = 0.7;        // fraction of the remaining time
constexpr double kJoinGraceRounds = 2;  // longest round that waits, in usual rounds
constexpr double kDownloadSlack = 1.5;  // multiple of the time that the line alone would take
constexpr int kDoublingsMax = 10;
constexpr Duration kUnknown = std::chrono::milliseconds(500);  // nobody has a rate yet

void smooth(Duration& value, Duration newest) {
  value = value == Duration{} ? newest : value + from_seconds(kSmoothing * to_seconds(newest - value));
}

Duration scaled(Duration d, double factor) { return from_seconds(to_seconds(d) * factor); }

// The interval at which this number of members stays within the budget.
Duration budget_interval(std::size_t members, const CoordinatorOptions& options) {
  return from_seconds(static_cast<double>(members) / options.heartbeats.per_s_max);
}

}  // namespace

void Rhythm::on_arrival(Duration late) {
  arrivals.push_back(std::max(late, Duration{}));
  if (arrivals.size() > kArrivalsKept) arrivals.pop_front();
}

Duration Rhythm::arrivals_within() const {
  if (arrivals.size() < kArrivalsEnough) return {};
  std::vector<Duration> sorted(arrivals.begin(), arrivals.end());
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(kNearlyAll * static_cast<double>(sorted.size()));
  std::nth_element(sorted.begin(), at, sorted.end());
  return std::max<Duration>(*at, std::chrono::milliseconds(1));
}

void Rhythm::on_round(Duration took) { smooth(round, took); }
void Rhythm::on_averaging(Duration took) { smooth(averaging, took); }
void Rhythm::on_catching_up(Duration took) { smooth(catching_up, took); }

// Integral control: the mean of the rounds meets the target whatever makes forecasts wrong, and no single round, or
// claim, moves it far.
void Rhythm::on_filled(double later_s, double batch_s) {
  const double step_s = kLagGain * std::clamp(later_s, -kLagStepMax * batch_s, kLagStepMax * batch_s);
  lag = from_seconds(std::clamp(to_seconds(lag) + step_s, kLagMin * batch_s, kLagMax * batch_s));
}

Duration plan_lead(const Rhythm& rhythm, std::size_t members, const CoordinatorOptions& options) {
  const Duration usual = std::clamp(scaled(rhythm.round, kLeadOfRound), options.plans.lead_min, options.plans.lead_max);
  return std::max(usual, scaled(budget_interval(members, options), 1.5));
}

Duration until_next_call(TimePoint now, TimePoint full, Duration lead, double spread) {
  if (full == kNever) return kUnknown;
  const Duration left = full - now;
  if (left > scaled(lead, kFarLeads)) return scaled(left, kFarStep);
  return left - lead + scaled(lead, kSpreadFrom + (kSpreadTo - kSpreadFrom) * spread);
}

Duration usual_join_grace(const Rhythm& rhythm, const CoordinatorOptions& options) {
  return std::max(options.join_grace.max, scaled(rhythm.round, kJoinGraceRounds));
}

Duration bounded_interval(Duration wanted, std::size_t members, const CoordinatorOptions& options) {
  const Duration least = std::max(options.heartbeats.min, budget_interval(members, options));
  return std::clamp(wanted, least, std::max(least, options.heartbeats.max));
}

Duration join_grace(const Rhythm& rhythm, int rounds_held, Duration download, const CoordinatorOptions& options) {
  const int tries = std::min(rounds_held, kDoublingsMax);
  const Duration as_others = std::min(scaled(rhythm.catching_up, 2.0), usual_join_grace(rhythm, options));
  return std::max({as_others, options.join_grace.min * (1 << tries), scaled(download, kDownloadSlack * (1 + tries))});
}

Duration report_grace(const Rhythm& rhythm, const CoordinatorOptions& options) {
  return std::clamp(scaled(rhythm.averaging, 2.0), options.patience.column_claims_min,
                    options.patience.column_claims_max);
}

}  // namespace starling::core
