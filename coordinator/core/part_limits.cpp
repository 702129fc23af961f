#include "coordinator/core/part_limits.h"

#include <algorithm>
#include <optional>

#include "coordinator/core/upload_book.h"
#include "shared/base/upper_median.h"

namespace starling::core {
namespace {

constexpr double kUplinkShares = 2;
constexpr double kVectorUnseenMax = 0.5;
constexpr std::size_t kUnlimitedMembers = 3;

// The members that may own a part, as swarm/plan.h takes them.
std::vector<const Member*> owners_among(std::span<Member* const> members) {
  std::vector<const Member*> direct;
  std::vector<const Member*> callable;
  for (const Member* member : members) {
    const wire::Endpoint endpoint = member->endpoint();
    if (wire::direct(endpoint)) direct.push_back(member);
    if (wire::dialable(endpoint)) callable.push_back(member);
  }
  if (!direct.empty()) return direct;
  return callable.empty() ? std::vector<const Member*>(members.begin(), members.end()) : callable;
}

// The uplinks of all of these; one that was not seen counts as a usual one. Nothing where none was seen.
std::optional<double> uplinks_of(std::span<const Member* const> owners, const Witnesses& witnesses) {
  std::vector<double> seen;
  double sum = 0;
  for (const Member* owner : owners) {
    if (!witnesses.have_seen(*owner)) continue;
    seen.push_back(owner->speeds.seen_upload.upper);
    sum += seen.back();
  }
  if (seen.empty()) return std::nullopt;
  const auto unseen = static_cast<double>(owners.size() - seen.size());
  return sum + unseen * upper_median(std::move(seen));
}

}  // namespace

Witnesses::Witnesses(std::span<Member* const> members) {
  for (const Member* member : members) {
    if (member->voice) accounts_.insert(member->who.account);
  }
}

bool Witnesses::have_seen(const Member& member) const {
  const std::size_t others = accounts_.size() - accounts_.count(member.who.account);
  const std::size_t most = 2 * std::min(others, kFiguresMax) / 3 + 1;
  return member.speeds.seen_upload.accounts >= std::max(kSeenByEnough, most);
}

std::vector<double> part_limits(std::span<Member* const> members, std::size_t columns, std::size_t coming) {
  const Witnesses witnesses(members);
  const std::vector<const Member*> owners = owners_among(members);
  const bool many_own = 2 * owners.size() >= members.size();
  const auto groups = static_cast<double>(columns);
  const double equal = groups / static_cast<double>(std::max<std::size_t>(1, members.size()));
  const double owned = many_own ? equal : groups / static_cast<double>(owners.size());
  const double unseen = std::min(kPartsUnseen * owned, kVectorUnseenMax);
  const std::optional<double> uplinks = uplinks_of(owners, witnesses);
  const bool limited = members.size() + coming > kUnlimitedMembers;
  std::vector<double> limits;
  for (const Member* member : members) {
    double limit = 1;
    if (limited) {
      const double share = uplinks ? groups * member->speeds.seen_upload.bytes_per_s / *uplinks : 0;
      limit = witnesses.have_seen(*member) ? std::max(kUplinkShares * share, owned) : unseen;
    }
    if (!member->voice) limit = std::min(limit, equal);
    limits.push_back(std::min(1.0, limit));
  }
  return limits;
}

}  // namespace starling::core
