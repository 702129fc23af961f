// How far members can be relied on, judged by the reports of others, and by their measurements.
//
// A complaint is one member's word about another, and a line between two may fail by either's fault. So a member is at
// fault when several others complain about it in the rounds that are remembered: most of those that were with it or, in
// larger groups, kVoicesEnough of them and more than a third, but no more than kVoicesMost. So fewer than a third that
// lie in one voice put out nobody. Others count by account, those of its own account one by one; an account without a
// voice (electorate.h) does not count. The words of others about that member are then believed. A member whose own
// complaints nobody shares, or about whom others complain one by one, is at odds with all of these; when they are as
// many, it is the one at fault. Those at odds with most are judged first, and the words of those at fault count against
// nobody.
//
// That a member did not come is judged apart from all else. A lost packet is enough for it, and all miss it at once:
// that makes nothing else true that a few say of it. Who says so is at odds with nobody.
//
// A member that says in a round that another is lost is believed by the others. Those that had no trouble with that one
// report the accusation: if most of them do, the two are at odds, as if the accuser had complained to the coordinator.
//
// Faults count less with every round, and are forgotten after kRemembered rounds: a computer that merely slept soon has
// its old place. Faults together make a member own less, then no part, and then sit out some rounds. When it is back,
// fewer faults are enough, and it sits out twice as many rounds. A member that would not have been put out by what is
// known meanwhile comes back at once, as if it never had been: its accusers turned out to be the ones at fault.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "coordinator/core/electorate.h"
#include "shared/base/ids.h"
#include "shared/protocol/round_report.h"
#include "shared/protocol/round_trouble.h"

namespace starling::core {

constexpr RoundIndex kRemembered = 32;
constexpr double kFaultHalfLife = 6;  // rounds
constexpr double kOwnsNothing = 3;    // faults, each weighted by its age
// spoiled rounds; with more, no other round is held open for it while it gets the state
constexpr int kNotWaitedFor = 2;
constexpr double kSitsOut = 4;        // faults from which it is left out; half of it the second time, and so on
constexpr double kSitsOutMin = 1;     // the threshold never falls below this
constexpr RoundIndex kRoundsOut = 8;  // the first time
constexpr RoundIndex kRoundsOutMax = 1024;
constexpr RoundIndex kForgiven = 64;  // rounds without a fault that make up for having sat out once
constexpr std::size_t kVoicesMin = 2;
constexpr std::size_t kVoicesEnough = 5;
constexpr std::size_t kVoicesMost = 16;  // in a group of 48 or more: each voice that lies is soon at odds itself

// The consequences for the next plan.
struct Standing {
  double reliance = 1;                    // the fraction it may own of the part that its line allows
  bool sits_out = false;                  // no place in a plan
  std::string kept_out;                   // nor here, for this reason: what audits found (AuditDesk::judge)
  bool waited_for = true;                 // false: no round is held open for it while it gets the state
  int rounds = 0;                         // rounds of the last kRemembered that it spoiled
  RoundIndex rounds_out = 0;              // rounds that it still sits out
  bool at_odds = false;                   // nobody shares its own complaints
  wire::Fault fault = wire::Fault::gone;  // if not at odds: the worst
};

// Explains to the volunteer why it owns less, and what ends that. Empty when the member is as good as any.
std::string explain(const Standing& standing);

// The record of each member.
class Reputation {
 public:
  struct Present {
    PeerId peer;
    bool callable = false;  // may own a part
    bool voice = true;      // its account's
  };

  // Takes one member's report of a round that it finished in a group with these seats. Only the first report of a
  // member in a round is heard.
  void on_report(const PeerId& reporter, const wire::RoundReport& report, std::span<const Seat> seats);
  // Notes that the coordinator itself knows that the member's word in `round` is false: others measured another
  // held-out loss (EvaluationTurn), or it reported a result that it cannot have. False if that was known before.
  // `times`: it counts as if it had been said in this number of rounds.
  bool on_false_word(RoundIndex round, const PeerId& peer, int times = 1);
  // Takes one member's complaints about a round that failed for it, which are heard as a report's, and the accusations
  // that it heard there.
  void on_trouble(const PeerId& reporter, const wire::RoundTrouble& trouble, std::span<const Seat> seats);
  // Notes that the member's lie in `round` is proven by its own signatures: it sits out. False if that was known.
  bool on_proven_lie(RoundIndex round, const PeerId& peer);
  // Notes that a group waited for the member in `round` for long, and it did not come. `rounds`: the
  // length of the wait, in usual rounds; the longest of a round counts.
  void on_absence(RoundIndex round, const PeerId& peer, double rounds);
  // Returns the members that have not begun in this group's round, as most of the accounts say that have reported it
  // and were with them, two at least.
  [[nodiscard]] std::set<PeerId> unseen_by_most(RoundIndex round, const GroupId& group) const;
  [[nodiscard]] bool has_heard(const PeerId& reporter, const wire::RoundReport& report) const;
  // Judges everybody by the rounds before `round`. No more than a third of the members present that have a voice sits
  // out, and never all that others can call: the fault lies elsewhere then. Accounts are easily made, so any number of
  // members on probation may sit out: their number protects nobody.
  void judge(RoundIndex round, std::span<const Present> present);
  [[nodiscard]] Standing of(const PeerId& peer) const;

 private:
  struct Word {
    PeerId accuser;
    PeerId accused;
    wire::Fault fault = wire::Fault::gone;
    bool told = true;  // to the coordinator; otherwise only to its group
  };
  struct Meeting {
    std::map<PeerId, Seat> seats;
    std::set<PeerId> reporters;
    std::vector<Word> words;
    std::map<std::pair<PeerId, PeerId>, std::set<AccountId>> accusations;  // (accuser, accused), with who heard it
  };
  // A member's words about the others of one group.
  struct Account {
    RoundIndex round = 0;
    GroupId group;
    std::span<const wire::Complaint> complaints;
  };
  void hear(const PeerId& reporter, const Account& account, std::span<const Seat> seats);
  using Pairs = std::map<PeerId, std::set<PeerId>>;

  // Those whose word about a member of the account `about` counts.
  struct Voices {
    AccountId about = 0;
    std::set<AccountId> accounts;
    std::set<PeerId> own;  // members of that account
    void add(const Seat& seat);
    [[nodiscard]] std::size_t count() const { return accounts.size() + own.size(); }
  };

  [[nodiscard]] std::size_t voices_among(const std::set<PeerId>& others, const PeerId& about) const;
  [[nodiscard]] std::size_t voices_needed(const PeerId& about) const;
  [[nodiscard]] Seat newest_seat(const PeerId& peer) const;
  // The seat with the voice that its account has now, and not that of then.
  [[nodiscard]] Seat with_voice_of_now(const Seat& seat) const;
  [[nodiscard]] std::vector<const Meeting*> meetings_of(RoundIndex round, const GroupId& group) const;
  Meeting& meeting_of(RoundIndex round, const GroupId& group, std::span<const Seat> seats);
  static void confirm_accusations(Meeting& meeting);
  // Those at fault by the words on one matter, and those at odds there with most. Nobody is both.
  struct Culprits {
    std::set<PeerId> guilty;
    std::set<PeerId> at_odds;
    [[nodiscard]] bool contains(const PeerId& peer) const { return guilty.contains(peer) || at_odds.contains(peer); }
  };
  enum class Matter : std::uint8_t { absence, all_else };
  [[nodiscard]] Culprits culprits(Matter matter) const;
  void weigh(RoundIndex round, const Culprits& absent, const Culprits& faulty);
  void acquit(RoundIndex round);
  void seat(RoundIndex round, std::span<const Present> present);

  // By round, group, and the first member: a grid's group has a meeting of each column.
  std::map<std::tuple<RoundIndex, GroupId, PeerId>, Meeting> meetings_;
  std::map<RoundIndex, std::map<PeerId, int>> false_words_;  // with the times that each counts
  std::map<RoundIndex, std::set<PeerId>> proven_lies_;
  std::map<RoundIndex, std::map<PeerId, double>> absences_;  // the weight of each
  struct Record {
    double faults = 0;
    int times_out = 0;         // those that count against it
    RoundIndex out_from = 0;   // when it was put out last
    RoundIndex out_until = 0;  // takes part from this round on
    RoundIndex good_from = 0;  // the first round without a fault since
    Standing standing;
  };
  std::map<PeerId, Record> records_;  // only peers with something against them
  std::map<PeerId, bool> voices_;     // true: the account has one; the members present
};

}  // namespace starling::core
