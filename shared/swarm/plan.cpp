#include "shared/swarm/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

namespace starling::swarm {
namespace {

// What opening a link may take on a bad line: a connect, TLS, a retransmission or two.
constexpr std::int64_t kLinkSetupMs = 4000;
// A micro-batch may take this much longer than the last ones did before its volunteer is left out.
constexpr double kBatchMargin = 1.5;

// The last segments of all owners reach a slow line together, and nothing else flows meanwhile: short ones keep that
// moment short.
constexpr double kSegmentSeconds = 0.01;
constexpr std::int64_t kPlannedSegmentFloatsMin = 1 << 12;

bool known(double speed) { return std::isfinite(speed) && speed > 0; }

// The slower direction; one direction stands for both when the other was never measured. 0: unknown.
double speed_of(const Link& link) {
  if (known(link.upload) && known(link.download)) return std::min(link.upload, link.download);
  if (known(link.upload)) return link.upload;
  return known(link.download) ? link.download : 0;
}

std::int64_t segment_floats_for(std::span<const Link> links, std::int64_t vector_floats) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const Link& link : links) slowest = speed_of(link) > 0 ? std::min(slowest, speed_of(link)) : slowest;
  const double floats_max = slowest * kSegmentSeconds / sizeof(float);
  const auto segments = [vector_floats](std::int64_t floats) {
    return static_cast<std::size_t>(vector_floats / floats);
  };
  std::int64_t floats = wire::kSegmentFloatsDefault;
  while (floats > kPlannedSegmentFloatsMin && static_cast<double>(floats) > floats_max &&
         segments(floats) < wire::kSegmentsMax / 4) {
    floats /= 2;
  }
  return floats;
}

std::vector<double> speeds_of(std::span<const Link> links) {
  std::vector<double> speeds;
  std::vector<double> measured;
  for (const Link& link : links) {
    speeds.push_back(speed_of(link));
    if (speeds.back() > 0) measured.push_back(speeds.back());
  }
  double typical = 1;
  if (!measured.empty()) {
    const auto middle = measured.begin() + static_cast<std::ptrdiff_t>(measured.size() / 2);
    std::nth_element(measured.begin(), middle, measured.end());
    typical = *middle;
  }
  for (double& speed : speeds) speed = speed > 0 ? speed : typical;
  return speeds;
}

// Collects what plans and their ids are made of, for hashing: fixed widths, lengths before texts.
class PlanBytes {
 public:
  void add(std::int64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
  }
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void add(std::span<const std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  [[nodiscard]] Hash128 hash() const { return hash128(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

PlanBytes agreed_bytes(const wire::GroupInfo& group) {
  PlanBytes bytes;
  bytes.add(std::string_view(group.run_id));
  bytes.add(group.round);
  bytes.add(group.state_digest.bytes);
  bytes.add(std::int64_t{group.autonomous ? 1 : 0});
  bytes.add(group.vector_floats);
  bytes.add(group.segment_floats);
  bytes.add(std::string_view(group.codec));
  bytes.add(static_cast<std::int64_t>(group.members.size()));
  for (const wire::GroupMember& member : group.members) {
    bytes.add(member.endpoint.peer.bytes);
    bytes.add(member.part_floats);
    bytes.add(std::string_view(member.codec));
    bytes.add(std::int64_t{wire::dialable(member.endpoint) ? 1 : 0});
  }
  return bytes;
}

GroupId group_id(const wire::GroupInfo& group, std::uint64_t nonce) {
  PlanBytes bytes = agreed_bytes(group);
  bytes.add(static_cast<std::int64_t>(nonce));
  GroupId id;
  static_assert(GroupId::kSize == Hash128::kSize);
  id.bytes = bytes.hash().bytes;
  return id;
}

std::int64_t begin_within_ms(std::span<const wire::MemberInfo> members, std::int64_t heartbeat_jitter_ms) {
  double slowest_batch_s = 0;
  for (const wire::MemberInfo& member : members) {
    if (known(member.batch_seconds)) slowest_batch_s = std::max(slowest_batch_s, member.batch_seconds);
  }
  const double batch_ms = std::min(kBatchMargin * 1000 * slowest_batch_s, static_cast<double>(wire::kPlanWaitMsMax));
  const std::int64_t wait_ms = kLinkSetupMs + heartbeat_jitter_ms + static_cast<std::int64_t>(batch_ms);
  return std::clamp<std::int64_t>(wait_ms, 0, wire::kPlanWaitMsMax);
}

}  // namespace

std::vector<double> allocate_shares(std::span<const Link> links) {
  const std::size_t n = links.size();
  std::vector<double> shares(n, 0.0);
  std::vector<std::size_t> owners;  // who can be dialled; everybody, where nobody can
  for (std::size_t i = 0; i < n; ++i) {
    if (links[i].dialable) owners.push_back(i);
  }
  if (owners.empty()) {
    owners.resize(n);
    std::iota(owners.begin(), owners.end(), std::size_t{0});
  }
  const std::vector<double> speeds = speeds_of(links);
  if (n <= 2) {
    double total = 0;
    for (const std::size_t i : owners) total += speeds[i];
    for (const std::size_t i : owners) shares[i] = speeds[i] / total;
    return shares;
  }
  std::stable_sort(owners.begin(), owners.end(), [&](std::size_t a, std::size_t b) { return speeds[a] > speeds[b]; });
  const double others = static_cast<double>(n - 2);
  // Fastest first, a member joins the owners while its share among them would be positive. If the k-th does not, no
  // slower one does: xi falls as k grows.
  double speed_sum = 0;
  double xi = 0;
  std::size_t count = 0;
  for (const std::size_t i : owners) {
    const double next_xi = (others + static_cast<double>(count + 1)) / (speed_sum + speeds[i]);
    if (next_xi * speeds[i] <= 1) break;
    speed_sum += speeds[i];
    xi = next_xi;
    ++count;
  }
  for (std::size_t k = 0; k < count; ++k) {
    shares[owners[k]] = std::max(0.0, (xi * speeds[owners[k]] - 1) / others);
  }
  return shares;
}

std::vector<std::int64_t> split_vector(std::int64_t vector_floats, std::span<const double> shares) {
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::int64_t> parts(shares.size(), 0);
  std::vector<double> remainders(shares.size(), 0.0);
  std::vector<std::size_t> order;  // who may get one of the coordinates left over, largest remainder first
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

wire::GroupInfo plan_group(std::span<const wire::MemberInfo> members, const PlanOptions& options) {
  std::vector<wire::MemberInfo> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const wire::MemberInfo& a, const wire::MemberInfo& b) { return a.endpoint.peer < b.endpoint.peer; });
  std::vector<Link> links;
  for (const wire::MemberInfo& member : sorted) {
    links.push_back({member.upload_bytes_per_s, member.download_bytes_per_s, wire::dialable(member.endpoint)});
  }
  const std::vector<std::int64_t> parts = split_vector(options.vector_floats, allocate_shares(links));
  wire::GroupInfo group;
  group.run_id = options.run_id;
  group.round = options.round;
  group.state_digest = options.state_digest;
  group.autonomous = options.autonomous;
  group.vector_floats = options.vector_floats;
  group.segment_floats =
      options.segment_floats > 0 ? options.segment_floats : segment_floats_for(links, options.vector_floats);
  group.codec = options.codec;
  group.start_in_ms = options.start_in_ms;
  group.begin_within_ms = begin_within_ms(sorted, options.heartbeat_jitter_ms);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    group.members.push_back({sorted[i].endpoint, parts[i], options.contribution_codec});
  }
  group.id = group_id(group, options.nonce);
  return group;
}

Hash128 plan_digest(const wire::GroupInfo& group) {
  PlanBytes bytes = agreed_bytes(group);
  bytes.add(group.id.bytes);
  return bytes.hash();
}

}  // namespace starling::swarm
