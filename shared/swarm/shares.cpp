#include "shared/swarm/shares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "shared/base/upper_median.h"

namespace starling::swarm {
namespace {

constexpr int kSteps = 60;
constexpr double kRounding = 1e-10;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Ratio of the slowest and the fastest measurement among eight lines of equal speed.
constexpr double kAlike = 1.08;

bool known(double speed) { return std::isfinite(speed) && speed > 0; }

// The slower direction; one direction stands for both when the other was never measured. 0: unknown.
double speed_of(const Link& link) {
  if (known(link.upload) && known(link.download)) return std::min(link.upload, link.download);
  if (known(link.upload)) return link.upload;
  return known(link.download) ? link.download : 0;
}

// Makes equal the slowest and those that are like it, then the slowest of the others, and so on.
void make_like_ones_equal(std::span<double*> speeds) {
  std::sort(speeds.begin(), speeds.end(), [](const double* a, const double* b) { return *a < *b; });
  while (!speeds.empty()) {
    const double most = kAlike * *speeds.front();
    const auto end = std::find_if(speeds.begin(), speeds.end(), [most](const double* speed) { return *speed > most; });
    const std::span<double*> like(speeds.begin(), end);
    double sum = 0;
    for (const double* speed : like) sum += *speed;
    for (double* speed : like) *speed = sum / static_cast<double>(like.size());
    speeds = speeds.subspan(like.size());
  }
}

// The shares that a time allows each member: the linear programme for one T.
class Programme {
 public:
  Programme(std::span<const Load> loads, const Vector& vector) : loads_(loads), vector_(vector) {
    for (const Load& load : loads) {
      sent_ += load.sent_bytes;
      takers_ += load.late ? 0 : 1;
      late_speed_ += load.late ? load.link.download : 0;
      nobody_dialable_ = nobody_dialable_ && !load.link.dialable;
    }
    double entrusted = 0;
    for (const Load& load : loads) entrusted += may_own(load) ? load.reliance : 0;
    if (entrusted > 0) scale_ = 1 / std::min(1.0, entrusted);
    double limits = 0;
    for (const Load& load : loads) limits += may_own(load) ? std::min(load.share_max, this->entrusted(load)) : 0;
    if (limits > 0) limit_scale_ = 1 / std::min(1.0, limits);
  }

  [[nodiscard]] double takers() const { return takers_; }
  [[nodiscard]] bool may_own(const Load& load) const {
    return !load.late && load.reliance > 0 && (load.link.dialable || nobody_dialable_);
  }
  // The largest share that `load` can own within `seconds`; 0 when it cannot even do the rest of its work.
  [[nodiscard]] double largest(const Load& load, double seconds) const {
    if (!may_own(load)) return 0;
    const double up = per_float(load.link.upload, seconds);
    const double down = per_float(load.link.download, seconds);
    const double result = vector_.result_bytes;
    const double late = late_speed_ * seconds / vector_.floats;
    const double results_sent = result * (takers_ - 1) + std::min(late, result * late_count());
    const double fits = std::min(fit(up, load.sent_bytes, results_sent - load.sent_bytes),
                                 fit(down, result, sent_ - load.sent_bytes - result));
    return std::min(1.0, limit_scale_ * std::min(load.share_max, entrusted(load) * fits));
  }
  // Returns how much more than the vector they could own; rises with the time.
  [[nodiscard]] double surplus(double seconds) const {
    double sum = kRounding - 1;
    for (const Load& load : loads_) sum += largest(load, seconds);
    return sum;
  }
  // Returns the time that a member with that share needs: its uplink while late ones still take results, or until they
  // have them.
  [[nodiscard]] double seconds(const Load& load, double share) const {
    const double up = load.sent_bytes * (1 - share) + vector_.result_bytes * share * (takers_ - 1);
    const double down = (sent_ - load.sent_bytes) * share + (load.late ? 0 : vector_.result_bytes * (1 - share));
    double up_s = (up + share * vector_.result_bytes * late_count()) / load.link.upload;
    const double free = load.link.upload - share * late_speed_;
    if (free > 0) up_s = std::min(up_s, up / free);
    return vector_.floats * std::max(up_s, down / load.link.download);
  }
  // Time in which `load` could own everything.
  [[nodiscard]] double alone(const Load& load) const {
    const double up = (vector_.result_bytes * (takers_ - 1 + late_count())) / load.link.upload;
    const double down = std::max(sent_ - load.sent_bytes, vector_.result_bytes) / load.link.download;
    return vector_.floats * std::max({up, down, load.sent_bytes / load.link.upload});
  }

 private:
  // Returns the most that it may own of the vector; those of all sum to at least 1.
  [[nodiscard]] double entrusted(const Load& load) const { return std::min(1.0, scale_ * load.reliance); }
  [[nodiscard]] double late_count() const { return static_cast<double>(loads_.size()) - takers_; }
  [[nodiscard]] double per_float(double speed, double seconds) const { return speed * seconds / vector_.floats; }
  // The largest s in 0 … 1 with base + s slope <= limit.
  static double fit(double limit, double base, double slope) {
    if (slope <= 0) return base + slope <= limit ? 1 : 0;
    return std::clamp((limit - base) / slope, 0.0, 1.0);
  }

  std::span<const Load> loads_;
  const Vector& vector_;
  double sent_ = 0;
  double takers_ = 0;
  double late_speed_ = 0;
  double scale_ = 1;
  double limit_scale_ = 1;
  bool nobody_dialable_ = true;
};

// True for two members that do equal work: they can share as they like, both directions carry one vector in any case.
bool pair_alike(std::span<const Load> loads) {
  if (loads.size() > 2) return false;
  return std::all_of(loads.begin(), loads.end(), [&](const Load& load) {
    return !load.late && load.share_max >= 1 && load.sent_bytes == loads.front().sent_bytes;
  });
}

// Returns the least time from `low` on whose largest shares sum to 1.
double least_time(std::span<const Load> loads, const Programme& programme, double low) {
  double high = kInfinite;
  for (const Load& load : loads) {
    if (programme.may_own(load)) high = std::min(high, std::max(low, programme.alone(load)));
  }
  if (high == kInfinite) return kInfinite;
  double above = programme.surplus(high);
  for (int doubling = 0; doubling < kSteps && above < 0; ++doubling) {
    low = high;
    above = programme.surplus(high *= 2);
  }
  // The surplus is made of straight pieces: false position (Illinois), and now and then a bisection.
  double below = programme.surplus(low);
  if (below >= 0) return low;
  for (int step = 0; step < kSteps && high - low > kRounding * high; ++step) {
    const double secant = low + (high - low) * below / (below - above);
    const double middle = step % 4 == 3 ? (low + high) / 2 : secant;
    const double found = programme.surplus(middle);
    if (found >= 0) {
      high = middle;
      above = found;
      below /= 2;
    } else {
      low = middle;
      below = found;
      above /= 2;
    }
    if (found >= 0 && found < kRounding) break;
  }
  return high;
}

// Returns the time that the lines of members that are not late need, to contribute and to take the result.
double own_seconds(std::span<const Load> loads, const Vector& vector) {
  double seconds = 0;
  for (const Load& load : loads) {
    seconds = std::max(seconds, vector.floats * load.sent_bytes / load.link.upload);
    if (!load.late) seconds = std::max(seconds, vector.floats * vector.result_bytes / load.link.download);
  }
  return seconds;
}

}  // namespace

std::vector<Link> with_typical_speeds(std::span<const Link> links) {
  std::vector<double> measured;
  for (const Link& link : links) {
    if (speed_of(link) > 0) measured.push_back(speed_of(link));
  }
  const double typical = measured.empty() ? 1 : upper_median(measured);
  std::vector<Link> complete(links.begin(), links.end());
  for (Link& link : complete) {
    const double speed = speed_of(link) > 0 ? speed_of(link) : typical;
    if (!known(link.upload)) link.upload = speed;
    if (!known(link.download)) link.download = speed;
  }
  return complete;
}

std::vector<Link> with_like_speeds(std::span<const Link> links) {
  std::vector<Link> levelled(links.begin(), links.end());
  for (double Link::*const direction : {&Link::upload, &Link::download}) {
    std::vector<double*> speeds;
    for (Link& link : levelled) {
      if (known(link.*direction)) speeds.push_back(&(link.*direction));
    }
    make_like_ones_equal(speeds);
  }
  return levelled;
}

Shares share_out(std::span<const Load> loads, const Vector& vector) {
  const Programme programme(loads, vector);
  Shares shares;
  shares.of.resize(loads.size());
  const bool pair = pair_alike(loads);
  const double least = pair ? 0 : least_time(loads, programme, 0);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!programme.may_own(loads[i])) continue;
    shares.of[i] = pair ? loads[i].reliance * speed_of(loads[i].link) : programme.largest(loads[i], least);
  }
  const double total = std::accumulate(shares.of.begin(), shares.of.end(), 0.0);
  for (double& share : shares.of) share = total > 0 ? share / total : 0;
  if (total <= 0) shares.owners_s = kInfinite;
  for (std::size_t i = 0; total > 0 && i < loads.size(); ++i) {
    const double seconds = programme.seconds(loads[i], shares.of[i]);
    shares.round_s = std::max(shares.round_s, seconds);
    if (shares.of[i] > 0) shares.owners_s = std::max(shares.owners_s, seconds);
  }
  shares.round_s = std::max(shares.round_s, shares.owners_s);
  return shares;
}

double owners_seconds(std::span<const Load> loads, const Vector& vector) {
  return least_time(loads, Programme(loads, vector), 0);
}

double round_seconds(std::span<const Load> loads, const Vector& vector) {
  const Programme programme(loads, vector);
  if (programme.takers() <= 2) return share_out(loads, vector).round_s;
  const double own_s = own_seconds(loads, vector);
  return programme.surplus(own_s) >= 0 ? own_s : least_time(loads, programme, own_s);
}

std::vector<std::int64_t> split_vector(std::int64_t vector_floats, std::span<const double> shares) {
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::int64_t> parts(shares.size(), 0);
  std::vector<double> remainders(shares.size(), 0.0);
  std::vector<std::size_t> order;  // members that may get one of the coordinates left over, largest remainder first
  std::int64_t left = vector_floats;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (!(shares[i] > 0)) continue;
    const double exact = static_cast<double>(vector_floats) * (shares[i] / total);
    parts[i] = std::min(left, static_cast<std::int64_t>(std::floor(exact)));
    remainders[i] = exact - static_cast<double>(parts[i]);
    left -= parts[i];
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t k = 0; left > 0 && !order.empty(); k = (k + 1) % order.size()) {
    ++parts[order[k]];
    --left;
  }
  return parts;
}

}  // namespace starling::swarm
