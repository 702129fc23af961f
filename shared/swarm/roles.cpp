#include "shared/swarm/roles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "shared/base/upper_median.h"

namespace starling::swarm {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1 + 1e-9;
constexpr std::size_t kCandidatesMax = 32;
constexpr std::size_t kImproveMax = 8;
constexpr int kImprovePasses = 2;

// A line that takes this much longer than the usual one, at least, is slow.
constexpr double kSlower = 1.5;

// Fraction of everybody's computing; a member that brings more is not asked to reduce only.
constexpr double kMinorRate = 0.1;

// A codec this much smaller is worth a choice.
constexpr double kNarrower = 0.95;

// Samples that error feedback brings in later count a little less than samples at once. Only the order of size matters:
// it keeps narrow codecs for the members whose time they save.
double worth_of(double bytes_per_float) {
  if (bytes_per_float >= 2) return 1;
  if (bytes_per_float >= 1) return 0.99;
  return bytes_per_float >= 0.4 ? 0.95 : 0.85;
}

// A role before its consequences are known.
struct Assignment {
  std::size_t codec = 0;
  bool sends = true;
  bool late = false;
  bool in = true;
};

struct Timing {
  double averaging_s = 0;
  double period_s = kInfinite;
};

class Planner {
 public:
  Planner(std::span<const Volunteer> volunteers, const RoleOptions& options) : options_(options) {
    std::vector<Link> links;
    for (const Volunteer& volunteer : volunteers) links.push_back(volunteer.link);
    links = with_typical_speeds(links);
    rates_ = typical_rates(volunteers);
    for (std::size_t i = 0; i < volunteers.size(); ++i) {
      loads_.push_back({links[i], front().bytes_per_float, false, std::clamp(volunteers[i].reliance, 0.0, 1.0),
                        std::clamp(volunteers[i].share_max, 0.0, 1.0)});
      measured_.push_back(is_measured(volunteers[i]));
    }
    find_unhurried();
    find_usual();
  }

  [[nodiscard]] std::size_t size() const { return loads_.size(); }
  [[nodiscard]] Timing time(const std::vector<Assignment>& assignments) const;
  [[nodiscard]] RoleChoice decide(const std::vector<Assignment>& assignments) const;
  // The time that the owners need while nobody's own line holds them up.
  [[nodiscard]] double unhurried_s() const { return unhurried_s_; }
  // Times at which assign() changes, ascending.
  [[nodiscard]] std::vector<double> candidates() const;
  // The shortest possible period: computing with everybody and then averaging for averaging_s.
  [[nodiscard]] double period_min(double averaging_s) const;
  // Returns the widest codecs that hold `seconds`, for the slow ones.
  [[nodiscard]] std::vector<Assignment> assign(double seconds) const;
  // True if a plan may be like that.
  [[nodiscard]] bool may_go(const std::vector<Assignment>& assignments) const;
  // Returns `wanted`, with no more deferred than is allowed, and without members whose absence makes rounds shorter.
  [[nodiscard]] std::vector<Assignment> best_like(const std::vector<Assignment>& wanted) const;
  // Leaves out members whose absence makes rounds shorter, the slowest first.
  void leave_out(std::vector<Assignment>& assignments) const;
  // Changes one member's assignment at a time while that makes rounds shorter.
  void improve(std::vector<Assignment>& assignments) const;

 private:
  [[nodiscard]] const CodecCost& front() const { return options_.codecs.front(); }
  [[nodiscard]] Vector vector() const { return {options_.vector_floats, options_.result_bytes}; }
  static std::vector<double> typical_rates(std::span<const Volunteer> volunteers);
  [[nodiscard]] double seconds_up(std::size_t i, std::size_t codec) const {
    return options_.vector_floats * options_.codecs[codec].bytes_per_float / loads_[i].link.upload;
  }
  [[nodiscard]] double seconds_down(std::size_t i) const {
    return options_.vector_floats * options_.result_bytes / loads_[i].link.download;
  }
  // The time that its line takes for all that it sends and gets at most, at full width.
  [[nodiscard]] double line_s(std::size_t i) const { return std::max(seconds_up(i, 0), seconds_down(i)); }
  // True if its own line takes longer than the owners would need, and than usual. A line that was not measured counts
  // as fast.
  [[nodiscard]] bool slow(std::size_t i) const {
    return measured_[i] && line_s(i) > std::max(unhurried_s_, kSlower * usual_s_) * kSlack;
  }
  // True if it computes little, beside the others.
  [[nodiscard]] bool minor(std::size_t i) const {
    return rates_[i] <= kMinorRate * std::accumulate(rates_.begin(), rates_.end(), 0.0);
  }
  static bool is_measured(const Volunteer& volunteer);
  void find_unhurried();
  void find_usual();
  [[nodiscard]] std::vector<Assignment> alternatives(std::size_t i, const Assignment& now) const;
  [[nodiscard]] std::vector<Load> loads(const std::vector<Assignment>& assignments) const;
  [[nodiscard]] double ready_s(std::size_t i, const Assignment& assignment, double averaging_s) const;
  [[nodiscard]] double period(const std::vector<Assignment>& assignments, double averaging_s) const;

  RoleOptions options_;
  std::vector<Load> loads_;     // everybody alike, speeds filled in
  std::vector<double> rates_;   // samples per second; all 0 when none is known
  std::vector<bool> measured_;  // line and computing speed
  double unhurried_s_ = 0;
  double usual_s_ = 0;
};

bool Planner::is_measured(const Volunteer& volunteer) {
  const auto known = [](double value) { return std::isfinite(value) && value > 0; };
  return known(volunteer.samples_per_s) && (known(volunteer.link.upload) || known(volunteer.link.download));
}

// The faster one of every two lines may be the usual: with equally many slow and fast ones, the slow ones are slow.
void Planner::find_usual() {
  std::vector<double> times;
  for (std::size_t i = 0; i < size(); ++i) times.push_back(line_s(i));
  if (times.empty()) return;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  usual_s_ = *middle;
}

std::vector<double> Planner::typical_rates(std::span<const Volunteer> volunteers) {
  std::vector<double> rates;
  std::vector<double> known;
  for (const Volunteer& volunteer : volunteers) {
    const double rate = volunteer.samples_per_s;
    rates.push_back(std::isfinite(rate) && rate > 0 ? rate : 0);
    if (rates.back() > 0) known.push_back(rates.back());
  }
  if (known.empty()) return rates;
  const double usual = upper_median(std::move(known));
  for (double& rate : rates) rate = rate > 0 ? rate : usual;
  return rates;
}

// Returns the loads of the members that are in.
std::vector<Load> Planner::loads(const std::vector<Assignment>& assignments) const {
  std::vector<Load> loads;
  loads.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    if (!assignments[i].in) continue;
    loads.push_back(loads_[i]);
    loads.back().sent_bytes = assignments[i].sends ? options_.codecs[assignments[i].codec].bytes_per_float : 0;
    loads.back().late = assignments[i].late;
  }
  return loads;
}

double Planner::ready_s(std::size_t i, const Assignment& assignment, double averaging_s) const {
  return assignment.late ? std::max(averaging_s, seconds_down(i) + options_.overhead_s) : averaging_s;
}

// Not overlapped: member i computes from ready_s on, so the period P solves sum rate_i (P - ready_i) = batch. A member
// that has a place in the plan is waited for.
double Planner::period(const std::vector<Assignment>& assignments, double averaging_s) const {
  double rate = 0;
  double idle = 0;  // samples that are not computed while averaging
  double last = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!assignments[i].in) continue;
    const double ready = ready_s(i, assignments[i], averaging_s);
    last = std::max(last, ready);
    if (!assignments[i].sends) continue;
    const double worth = rates_[i] * options_.codecs[assignments[i].codec].worth;
    rate += worth;
    idle += options_.overlapped ? 0 : worth * ready;
  }
  return rate > 0 ? std::max((options_.target_batch + idle) / rate, last) : kInfinite;
}

Timing Planner::time(const std::vector<Assignment>& assignments) const {
  Timing timing;
  timing.averaging_s = round_seconds(loads(assignments), vector()) + options_.overhead_s;
  if (std::isfinite(timing.averaging_s)) timing.period_s = period(assignments, timing.averaging_s);
  return timing;
}

RoleChoice Planner::decide(const std::vector<Assignment>& assignments) const {
  const Shares shares = share_out(loads(assignments), vector());
  RoleChoice choice;
  choice.averaging_s = shares.round_s + options_.overhead_s;
  choice.period_s = period(assignments, choice.averaging_s);
  choice.unhurried_s = unhurried_s_;
  choice.duties.resize(size());
  std::size_t place = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    Duty& duty = choice.duties[i];
    duty.left_out = !assignments[i].in;
    if (duty.left_out) continue;
    duty.codec = assignments[i].codec;
    duty.share = shares.of[place++];
    duty.ready_s = ready_s(i, assignments[i], choice.averaging_s);
    if (assignments[i].late) {
      duty.role = wire::MemberRole::deferred;
    } else if (!assignments[i].sends) {
      duty.role = wire::MemberRole::auxiliary;
    } else if (!loads_[i].link.dialable) {
      duty.role = wire::MemberRole::client_only;
    }
  }
  return choice;
}

void Planner::find_unhurried() {
  std::vector<Assignment> assignments(size());
  const double everybody = owners_seconds(loads(assignments), vector());
  for (std::size_t i = 0; i < size(); ++i) assignments[i].late = seconds_down(i) > everybody * kSlack;
  unhurried_s_ = std::min(everybody, owners_seconds(loads(assignments), vector()));
}

std::vector<Assignment> Planner::assign(double seconds) const {
  std::vector<Assignment> assignments(size());
  for (std::size_t i = 0; i < size(); ++i) {
    if (!slow(i)) continue;
    Assignment& mine = assignments[i];
    while (mine.codec + 1 < options_.codecs.size() && seconds_up(i, mine.codec) > seconds * kSlack) ++mine.codec;
    mine.late = seconds_down(i) > seconds * kSlack;
  }
  return assignments;
}

std::vector<double> Planner::candidates() const {
  std::vector<double> times{unhurried_s_};
  for (std::size_t i = 0; i < size(); ++i) {
    if (!slow(i)) continue;
    for (std::size_t codec = 0; codec < options_.codecs.size(); ++codec) times.push_back(seconds_up(i, codec));
    times.push_back(seconds_down(i));
  }
  std::sort(times.begin(), times.end());
  if (times.size() <= kCandidatesMax) return times;
  // If there are many, some at equal ratios are enough: those between them differ little.
  const double ratio = std::pow(times.back() / std::max(times.front(), 1e-9), 1.0 / kCandidatesMax);
  std::vector<double> some;
  for (const double time : times) {
    if (some.empty() || time >= some.back() * ratio) some.push_back(time);
  }
  return some;
}

double Planner::period_min(double averaging_s) const {
  const double rate = std::accumulate(rates_.begin(), rates_.end(), 0.0);
  const double computing_s = options_.target_batch / rate;
  return options_.overlapped ? std::max(computing_s, averaging_s) : computing_s + averaging_s;
}

// True if the plan is for most of the members present, with one that can be dialled if there is any, and most of those
// in it are not deferred (wire::check_group).
bool Planner::may_go(const std::vector<Assignment>& assignments) const {
  bool keeps_dialable = false;
  bool loses_dialable = false;
  for (std::size_t i = 0; i < size(); ++i) {
    if (loads_[i].link.dialable) (assignments[i].in ? keeps_dialable : loses_dialable) = true;
  }
  if (loses_dialable && !keeps_dialable) return false;
  const auto in = std::count_if(assignments.begin(), assignments.end(), [](const Assignment& a) { return a.in; });
  const auto late =
      std::count_if(assignments.begin(), assignments.end(), [](const Assignment& a) { return a.in && a.late; });
  return 2 * static_cast<std::size_t>(in) > size() && 2 * late < in;
}

void Planner::leave_out(std::vector<Assignment>& assignments) const {
  if (!options_.may_leave_out) return;
  std::vector<std::size_t> demoted;
  for (std::size_t i = 0; i < size(); ++i) {
    if (assignments[i].in && slow(i)) demoted.push_back(i);
  }
  const auto need = [&](std::size_t i) {
    return std::max(seconds_up(i, assignments[i].codec), assignments[i].late ? seconds_down(i) : 0.0);
  };
  std::stable_sort(demoted.begin(), demoted.end(), [&](std::size_t a, std::size_t b) { return need(a) > need(b); });
  double period_s = time(assignments).period_s;
  std::size_t out = 0;
  // Leaves out members while it pays, in leaps that are halved when one does not.
  for (std::size_t leap = std::bit_floor(demoted.size()); leap > 0;) {
    const std::size_t end = std::min(out + leap, demoted.size());
    const auto set_in = [&](bool in) {
      for (std::size_t k = out; k < end; ++k) assignments[demoted[k]].in = in;
    };
    set_in(false);
    const double without = may_go(assignments) ? time(assignments).period_s : kInfinite;
    if (end > out && without * kSlack < period_s) {
      period_s = without;
      out = end;
    } else {
      set_in(true);
      leap /= 2;
    }
  }
}

std::vector<Assignment> Planner::best_like(const std::vector<Assignment>& wanted) const {
  std::vector<std::size_t> late;  // the slowest first
  for (std::size_t i = 0; i < size(); ++i) {
    if (wanted[i].late) late.push_back(i);
  }
  std::stable_sort(late.begin(), late.end(),
                   [&](std::size_t a, std::size_t b) { return seconds_down(a) > seconds_down(b); });
  std::vector<Assignment> assignments = wanted;
  for (std::size_t k = late.size(); k > 0 && !may_go(assignments); --k) assignments[late[k - 1]].late = false;
  leave_out(assignments);
  std::vector<Assignment> later = assignments;  // with some gone, others may be deferred again
  for (const std::size_t i : late) {
    if (!later[i].in || later[i].late) continue;
    later[i].late = true;
    if (!may_go(later)) later[i].late = false;
  }
  return time(later).period_s < time(assignments).period_s ? later : assignments;
}

std::vector<Assignment> Planner::alternatives(std::size_t i, const Assignment& now) const {
  std::vector<Assignment> others;
  if (!measured_[i]) return others;
  if (!now.in) {
    others.push_back({options_.codecs.size() - 1, true, true, true});
    return others;
  }
  if (minor(i) && options_.may_only_reduce) others.push_back({now.codec, !now.sends, false, true});
  if (!slow(i) || !now.sends) return others;
  others.push_back({now.codec, true, !now.late, true});
  if (now.codec > 0) others.push_back({now.codec - 1, true, now.late, true});
  if (now.codec + 1 < options_.codecs.size()) others.push_back({now.codec + 1, true, now.late, true});
  if (options_.may_leave_out) others.push_back({now.codec, true, now.late, false});
  return others;
}

void Planner::improve(std::vector<Assignment>& assignments) const {
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The slow ones first, the slowest before others; then those whose samples are the fewest.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (slow(a) != slow(b)) return slow(a);
    return slow(a) ? seconds_up(a, 0) > seconds_up(b, 0) : rates_[a] < rates_[b];
  });
  if (order.size() > kImproveMax) order.resize(kImproveMax);
  double period_s = time(assignments).period_s;
  for (int pass = 0; pass < kImprovePasses; ++pass) {
    for (const std::size_t i : order) {
      for (const Assignment& other : alternatives(i, assignments[i])) {
        const Assignment before = std::exchange(assignments[i], other);
        const double changed = may_go(assignments) ? time(assignments).period_s : kInfinite;
        if (changed * kSlack < period_s) {
          period_s = changed;
        } else {
          assignments[i] = before;
        }
      }
    }
  }
}

}  // namespace

std::vector<CodecCost> narrower_codecs(wire::Codec widest, bool error_feedback) {
  constexpr std::size_t kMeasured = 1 << 16;
  const auto bytes_of = [](wire::Codec codec) {
    return static_cast<double>(wire::encoded_bytes(codec, kMeasured)) / static_cast<double>(kMeasured);
  };
  const double bytes_max = bytes_of(widest);
  std::vector<CodecCost> codecs{{widest, bytes_max, 1}};
  for (std::uint8_t number = 0; wire::codec_from_number(number); ++number) {
    const wire::Codec codec = *wire::codec_from_number(number);
    if (!error_feedback && bytes_of(codec) < 1) continue;
    if (bytes_of(codec) < bytes_max * kNarrower) codecs.push_back({codec, bytes_of(codec), 1});
  }
  std::sort(codecs.begin(), codecs.end(),
            [](const CodecCost& a, const CodecCost& b) { return a.bytes_per_float > b.bytes_per_float; });
  for (std::size_t i = 1; i < codecs.size(); ++i) codecs[i].worth = worth_of(codecs[i].bytes_per_float);
  return codecs;
}

RoleChoice everybody_alike(std::span<const Volunteer> volunteers, const RoleOptions& options) {
  const Planner planner(volunteers, options);
  RoleChoice choice = planner.decide(std::vector<Assignment>(planner.size()));
  if (!std::isfinite(choice.period_s)) choice.period_s = 0;
  return choice;
}

RoleChoice choose_roles(std::span<const Volunteer> volunteers, const RoleOptions& options) {
  RoleChoice alike = everybody_alike(volunteers, options);
  if (volunteers.size() < 2 || options.target_batch <= 0 || alike.period_s <= 0) return alike;
  const Planner planner(volunteers, options);
  std::vector<Assignment> best(planner.size());
  planner.improve(best);
  double period_s = planner.time(best).period_s;
  for (const double seconds : planner.candidates()) {
    if (planner.period_min(seconds) > period_s) break;
    std::vector<Assignment> assignments = planner.best_like(planner.assign(seconds));
    planner.improve(assignments);
    const double candidate = planner.time(assignments).period_s;
    // The one with wider codecs wins between two that are equally good.
    if (candidate > period_s * kSlack) continue;
    period_s = candidate;
    best = assignments;
  }
  RoleChoice choice = planner.decide(best);
  return choice.period_s * kGainMin < alike.period_s ? choice : alike;
}

}  // namespace starling::swarm
