// Who decides a round: the accounts of the group that averaged it, with one vote each, however many computers they
// bring. A result counts when more than half of all accounts of the group vouch for it; no time-out replaces a vote.
// Pure.
//
// Words. A *seat* is a member's place in a group. A member *casts* a ballot by reporting a result. A seat is *open* as
// long as a report may still come, and *gone* when none will. An account's vote is what most of its seats that are cast
// or open say; an account whose seats contradict each other has none. Members that were late for the plan
// (MemberRole::late) have no vote: nobody waited for them. Nor do accounts on probation (Seat::voice).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/ids.h"
#include "shared/protocol/round_report.h"
#include "shared/swarm/successor.h"

namespace starling::core {

// A member's place in a group, and its account.
struct Seat {
  PeerId peer;
  AccountId account = 0;
  wire::MemberRole role = wire::MemberRole::full;
  bool voice = true;  // its account votes
  friend bool operator==(const Seat&, const Seat&) = default;
};

// A group whose accounts may decide a round.
struct SeatedGroup {
  enum class Origin : std::uint8_t {
    dealt,      // by a coordinator of this run
    successor,  // the group after the one that decided the round before, as its members compute it (swarm/successor.h)
    vouched,    // vouched for by the electorate of the round before, right after a restart: the store has not kept it
  };
  Origin origin = Origin::dealt;
  GroupId id;  // the id that members report; for a grid, the id of the whole grid
  RoundIndex round = 0;
  std::vector<std::vector<Seat>> columns;  // by rank; a single one, or the columns of a grid
  SampleCount samples_max = 0;  // the most that one member is credited with; a member that claims more gets nothing
  friend bool operator==(const SeatedGroup&, const SeatedGroup&) = default;

  [[nodiscard]] bool is_grid() const { return columns.size() > 1; }
  // The seats of all columns.
  [[nodiscard]] std::vector<Seat> seats() const;
  // Sorted, for look-ups; empty for a column that does not exist.
  [[nodiscard]] std::vector<PeerId> peers_of(std::size_t column) const;
};

// The state of one seat. `choice` tells results apart; it is set if the ballot is cast.
struct Ballot {
  enum class State : std::uint8_t { open, gone, cast };
  State state = State::gone;
  std::size_t choice = 0;
};

// The outcome of a vote so far.
struct Count {
  std::optional<std::size_t> decided;  // the choice that more than half of the accounts vouch for
  bool hopeless = false;               // no choice can get there any more
};
Count count_votes(std::span<const Seat> seats, const std::function<Ballot(const PeerId&)>& ballot_of);

// Accounts on probation have a voice only where nobody else could decide.
void let_somebody_decide(SeatedGroup& group);

// Counts the accounts with a voice that these members of the seats belong to.
std::size_t accounts_among(std::span<const Seat> seats, const std::function<bool(const PeerId&)>& chosen);

// Returns the group that the members of `group` form for the next round when nobody calls them together, given the
// samples that each brought and the state that they stepped to. Returns none for a grid, whose members know their own
// column only, and where the seats' order is not known.
std::optional<SeatedGroup> successor_of(const SeatedGroup& group, std::span<const wire::Contribution> contributions,
                                        const Digest& state_digest);

// The groups that may decide, and those that no longer may: the complaints that members report there still count.
class ElectorateBook {
 public:
  static constexpr std::size_t kGroupsMax = 64;  // the most groups that are remembered

  void seat(SeatedGroup group);
  // Withdraws a group because its round is planned without it. A result that its members hold does not count, whatever
  // they report later.
  void withdraw(const GroupId& group);
  // Returns null for a group that was never seated here; withdrawn groups are found. Pointers are good until the next
  // seat().
  [[nodiscard]] const SeatedGroup* find(const GroupId& group) const;
  // Like find(), but null for a group that is withdrawn, or of another round.
  [[nodiscard]] const SeatedGroup* deciding(RoundIndex round, const GroupId& group) const;
  [[nodiscard]] std::vector<const SeatedGroup*> deciding(RoundIndex round) const;

 private:
  struct Entry {
    SeatedGroup group;
    bool withdrawn = false;
  };
  std::vector<Entry> entries_;  // oldest first
};

}  // namespace starling::core
