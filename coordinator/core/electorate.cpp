#include "coordinator/core/electorate.h"

#include <algorithm>
#include <map>
#include <set>

namespace starling::core {
namespace {

struct AccountBallots {
  std::map<std::size_t, std::size_t> cast;  // seats by choice
  std::size_t cast_seats = 0;
  std::size_t open_seats = 0;

  // The choice of most of the seats that are cast or may still be.
  [[nodiscard]] std::optional<std::size_t> vote() const {
    for (const auto& [choice, seats] : cast) {
      if (2 * seats > cast_seats + open_seats) return choice;
    }
    return std::nullopt;
  }
};

std::map<AccountId, AccountBallots> by_account(std::span<const Seat> seats,
                                               const std::function<Ballot(const PeerId&)>& ballot_of) {
  std::map<AccountId, AccountBallots> accounts;
  for (const Seat& seat : seats) {
    if (seat.role == wire::MemberRole::late || !seat.voice) continue;
    AccountBallots& account = accounts[seat.account];
    const Ballot ballot = ballot_of(seat.peer);
    if (ballot.state == Ballot::State::open) ++account.open_seats;
    if (ballot.state != Ballot::State::cast) continue;
    ++account.cast[ballot.choice];
    ++account.cast_seats;
  }
  return accounts;
}

}  // namespace

std::vector<Seat> SeatedGroup::seats() const {
  std::vector<Seat> all;
  for (const std::vector<Seat>& column : columns) all.insert(all.end(), column.begin(), column.end());
  return all;
}

std::vector<PeerId> SeatedGroup::peers_of(std::size_t column) const {
  std::vector<PeerId> peers;
  if (column >= columns.size()) return peers;
  for (const Seat& seat : columns[column]) peers.push_back(seat.peer);
  std::sort(peers.begin(), peers.end());
  return peers;
}

Count count_votes(std::span<const Seat> seats, const std::function<Ballot(const PeerId&)>& ballot_of) {
  const std::map<AccountId, AccountBallots> accounts = by_account(seats, ballot_of);
  std::map<std::size_t, std::size_t> votes;  // by choice
  std::size_t undecided = 0;                 // accounts that may still come to a vote
  for (const auto& [account, ballots] : accounts) {
    if (const auto choice = ballots.vote()) {
      ++votes[*choice];
    } else if (ballots.open_seats > 0) {
      ++undecided;
    }
  }
  Count count;
  std::size_t most = 0;
  for (const auto& [choice, accounts_for_it] : votes) {
    most = std::max(most, accounts_for_it);
    if (2 * accounts_for_it > accounts.size()) count.decided = choice;
  }
  count.hopeless = 2 * (most + undecided) <= accounts.size();
  return count;
}

void let_somebody_decide(SeatedGroup& group) {
  const auto has_voice = [](const std::vector<Seat>& column) {
    return std::any_of(column.begin(), column.end(),
                       [](const Seat& seat) { return seat.voice && seat.role != wire::MemberRole::late; });
  };
  if (std::any_of(group.columns.begin(), group.columns.end(), has_voice)) return;
  for (std::vector<Seat>& column : group.columns) {
    for (Seat& seat : column) seat.voice = true;
  }
}

std::size_t accounts_among(std::span<const Seat> seats, const std::function<bool(const PeerId&)>& chosen) {
  std::set<AccountId> accounts;
  for (const Seat& seat : seats) {
    if (seat.voice && chosen(seat.peer)) accounts.insert(seat.account);
  }
  return accounts.size();
}

std::optional<SeatedGroup> successor_of(const SeatedGroup& group, std::span<const wire::Contribution> contributions,
                                        const Digest& state_digest) {
  if (group.is_grid() || group.columns.empty() || group.origin == SeatedGroup::Origin::vouched) return std::nullopt;
  const std::vector<Seat>& seats = group.columns.front();
  std::set<PeerId> contributors;
  for (const wire::Contribution& contribution : contributions) {
    if (contribution.samples > 0) contributors.insert(contribution.peer);
  }
  swarm::Seating seating{group.id, group.round, {}};
  std::vector<bool> contributed;
  for (const Seat& seat : seats) {
    seating.seats.push_back({seat.peer, seat.role});
    contributed.push_back(contributors.contains(seat.peer));
  }
  if (std::find(contributed.begin(), contributed.end(), true) == contributed.end()) return std::nullopt;
  const swarm::Seating next = swarm::succeed(seating, contributed, state_digest);
  SeatedGroup successor{SeatedGroup::Origin::successor, next.id, next.round, {{}}, group.samples_max};
  for (std::size_t rank = 0; rank < seats.size(); ++rank) {
    successor.columns.front().push_back(
        {seats[rank].peer, seats[rank].account, next.seats[rank].role, seats[rank].voice});
  }
  return successor;
}

void ElectorateBook::seat(SeatedGroup group) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.group.id == group.id; });
  if (entries_.size() == kGroupsMax) entries_.erase(entries_.begin());
  entries_.push_back({std::move(group)});
}

void ElectorateBook::withdraw(const GroupId& group) {
  for (Entry& entry : entries_) entry.withdrawn = entry.withdrawn || entry.group.id == group;
}

const SeatedGroup* ElectorateBook::find(const GroupId& group) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.group.id == group; });
  return found == entries_.end() ? nullptr : &found->group;
}

const SeatedGroup* ElectorateBook::deciding(RoundIndex round, const GroupId& group) const {
  for (const SeatedGroup* candidate : deciding(round)) {
    if (candidate->id == group) return candidate;
  }
  return nullptr;
}

std::vector<const SeatedGroup*> ElectorateBook::deciding(RoundIndex round) const {
  std::vector<const SeatedGroup*> groups;
  for (const Entry& entry : entries_) {
    if (!entry.withdrawn && entry.group.round == round) groups.push_back(&entry.group);
  }
  return groups;
}

}  // namespace starling::core
