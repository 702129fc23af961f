#include "shared/swarm/successor.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "shared/base/hash.h"
#include "shared/base/verify.h"
#include "shared/swarm/plan.h"

namespace starling::swarm {
namespace {

constexpr std::int64_t kBeginWithinMsMax = 60000;

// A hash over the group before, the round, the state and the members: survivors that disagree about any must never
// meet.
GroupId successor_id(const GroupId& last, const Seating& next, const Digest& state_digest) {
  std::vector<std::uint8_t> text(last.bytes.begin(), last.bytes.end());
  for (int shift = 0; shift < 64; shift += 8) text.push_back(static_cast<std::uint8_t>(next.round >> shift));
  text.insert(text.end(), state_digest.bytes.begin(), state_digest.bytes.end());
  for (const Seating::Seat& seat : next.seats) {
    text.insert(text.end(), seat.peer.bytes.begin(), seat.peer.bytes.end());
    text.push_back(static_cast<std::uint8_t>(seat.role));
  }
  GroupId id;
  id.bytes = hash128(text).bytes;
  return id;
}

// Makes deferred members full members if half or more of the voters are deferred.
void wait_for_most(Seating& seating) {
  std::size_t voters = 0;
  std::size_t deferred = 0;
  for (const Seating::Seat& seat : seating.seats) {
    voters += seat.role != wire::MemberRole::late ? 1 : 0;
    deferred += seat.role == wire::MemberRole::deferred ? 1 : 0;
  }
  if (2 * deferred < voters) return;
  for (Seating::Seat& seat : seating.seats) {
    if (seat.role == wire::MemberRole::deferred) seat.role = wire::MemberRole::full;
  }
}

}  // namespace

Seating seating_of(const wire::GroupInfo& group) {
  Seating seating{group.id, group.round, {}};
  for (const wire::GroupMember& member : group.members) seating.seats.push_back({member.endpoint.peer, member.role});
  return seating;
}

Seating succeed(const Seating& last, const std::vector<bool>& contributed, const Digest& state_digest) {
  VERIFY(contributed.size() == last.seats.size());
  VERIFY(std::any_of(contributed.begin(), contributed.end(), [](bool came) { return came; }));
  Seating next{{}, last.round + 1, last.seats};
  for (std::size_t rank = 0; rank < contributed.size(); ++rank) {
    wire::MemberRole& role = next.seats[rank].role;
    if (!contributed[rank]) {
      role = wire::MemberRole::late;
    } else if (role == wire::MemberRole::late) {
      role = wire::MemberRole::full;
    }
  }
  wait_for_most(next);
  next.id = successor_id(last.id, next, state_digest);
  return next;
}

wire::GroupInfo plan_successor(const wire::GroupInfo& last, std::span<const SampleCount> contributed,
                               const Digest& state_digest) {
  VERIFY(contributed.size() == last.members.size());
  std::vector<bool> came;
  for (const SampleCount samples : contributed) came.push_back(samples > 0);
  const Seating seating = succeed(seating_of(last), came, state_digest);
  wire::GroupInfo next = last;
  std::vector<double> shares;
  for (std::size_t rank = 0; rank < came.size(); ++rank) {
    wire::GroupMember& member = next.members[rank];
    member.role = seating.seats[rank].role;
    shares.push_back(came[rank] ? static_cast<double>(member.part_floats) : 0);
  }
  // When every owner is gone, members that came, and can be called, share evenly.
  double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (const bool callable : {true, false}) {
    for (std::size_t rank = 0; total <= 0 && rank < shares.size(); ++rank) {
      const bool could = !callable || wire::dialable(next.members[rank].endpoint);
      shares[rank] = came[rank] && could ? 1 : 0;
    }
    total = std::accumulate(shares.begin(), shares.end(), 0.0);
  }
  for (double& share : shares) share /= total;
  const std::vector<std::int64_t> parts = split_vector(last.vector_floats, shares);
  for (std::size_t rank = 0; rank < parts.size(); ++rank) next.members[rank].part_floats = parts[rank];
  next.round = seating.round;
  next.state_digest = state_digest;
  next.autonomous = true;
  next.id = seating.id;
  next.start_in_ms = 0;
  if (!last.autonomous) next.begin_within_ms = std::min(2 * last.begin_within_ms, kBeginWithinMsMax);
  return next;
}

}  // namespace starling::swarm
