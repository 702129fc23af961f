// Who is audited, by whom, and the consequences (shared/protocol/audit.h has the whole procedure).
//
// RunCoordinator tells of plans' groups (commitment), reports, decided rounds and members' answers, asks what is due at
// a member for each reply, and sweeps now and then. Auditors are drawn from the round's own members, since they hold
// its state: they keep it until the case is closed, each a few states at a time. Draws follow from the number
// to which the plan had bound the coordinator, and from the round's result, so that members can repeat them. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "coordinator/core/audit_case.h"
#include "coordinator/core/audit_standing.h"
#include "coordinator/core/numeric_classes.h"
#include "coordinator/core/part_owners.h"
#include "coordinator/core/types.h"
#include "shared/base/clock.h"
#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/audit.h"
#include "shared/protocol/group_info.h"
#include "shared/protocol/round_report.h"
#include "shared/swarm/random_stream.h"

namespace starling::core {

constexpr std::size_t kAuditedRoundsMax = 256;  // that are kept, a grid's columns each; the oldest ends for a newer one

// One member of a decided round.
struct RoundMember {
  PeerId peer;
  AccountId account = 0;
  std::string network{};     // address prefix: two auditors of one member are of different ones, if that is possible
  std::string arithmetic{};  // numeric_class_of
  bool may_audit = false;    // it has a voice, holds the state and computes
  bool decides = false;      // AccountStanding::auditor
  bool watched = false;      // AccountStanding::watched
  std::int64_t part_first = 0;
  std::int64_t part_floats = 0;
  SampleCount samples = 0;  // in the result, as most have reported; 0: none
  // Samples that its contribution may be made of, from its first draw on, as many as are known.
  std::vector<DrawnSamples> drawn{};
};

// A decided round of one group, or of one column of a grid.
struct AuditedRound {
  RoundIndex round = 0;
  wire::GroupInfo plan;       // its members have the ranks of `members`
  bool checks_owners = true;  // false where sketches cannot tell whether owners have computed well
  GroupId group;
  Digest base_digest;
  Digest number;  // state::audit_number
  Hash128 result_digest;
  double codec_error = 0;  // the norm of the error that codecs leave in a contribution, over the contribution's own
  Duration patience = std::chrono::seconds(60);  // with somebody who was given an order
  std::vector<RoundMember> members;              // by rank
};

// The run's rules for audits.
struct AuditRules {
  double rate = 0;                 // wire::RoundOptions::audit_rate
  double lowest_tolerance = 1e-4;  // NumericClasses
  bool bans = true;                // not wire::RoundOptions::audit_never_bans
};

// The parts of a round whose result is not the mean of what members say that they have contributed, by their owners.
struct OwnersFinding {
  RoundIndex round = 0;
  std::size_t checked = 0;  // parts
  std::vector<PeerId> off{};
  double residual = 0;  // the largest, relative
};

// The end of a case.
struct AuditFinding {
  RoundIndex round = 0;
  AuditedClaim claim;
  AuditCase::Finding finding;
  std::optional<AuditStanding::Consequence> consequence{};  // unset unless it is a miss
  std::string why{};                                        // nobody could check it, for people
  bool untold_too_often = false;                            // for which it is out
};

class AuditBook {
 public:
  // secret: from which the numbers of plans are made; nobody else knows it. standings, misses: what is known of
  // computers, and how often all of an account were found false together.
  AuditBook(const AuditRules& rules, const Digest& secret, std::map<PeerId, AuditStanding> standings = {},
            std::map<AccountId, int> misses = {});

  [[nodiscard]] bool active() const { return rules_.rate > 0; }
  // The number of this group's audits, and GroupInfo::audit_commitment.
  [[nodiscard]] Digest number(const GroupId& group) const;
  [[nodiscard]] Digest commitment(const GroupId& group) const;

  // Takes the sketches in a report of a round that was decided, or will be soon.
  void on_report(const PeerId& reporter, const wire::RoundReport& report);
  void on_decided(TimePoint now, AuditedRound round);
  void on_answers(const PeerId& peer, const wire::AuditAnswers& answers);
  // The member is not heard of any more: its orders go to others.
  void on_gone(const PeerId& peer);
  [[nodiscard]] wire::AuditsDue due(const PeerId& peer) const;
  // Those who have an order, or may be given one.
  [[nodiscard]] std::vector<PeerId> asked() const;
  // Opens and closes cases, and hands out orders. Returns the cases that were closed. Call it several times a second.
  std::vector<AuditFinding> sweep(TimePoint now);
  // The oldest round whose work is being checked.
  [[nodiscard]] std::optional<RoundIndex> oldest_open() const;
  // Credit of rounds before this one is final once `round` is decided: none that a check which is still open takes back
  // if it finds its work false. 0: none yet, or all of it at once.
  [[nodiscard]] RoundIndex final_below(RoundIndex round) const;
  // Checks the owners of rounds about which all has been told, or nothing more is waited for. After sweep().
  std::vector<OwnersFinding> check_owners(TimePoint now);

  [[nodiscard]] bool keeps_out(const PeerId& peer, RoundIndex round) const;
  [[nodiscard]] const PartOwners& owners() const { return owners_; }
  [[nodiscard]] std::string advice(const PeerId& peer, RoundIndex round) const;
  [[nodiscard]] const std::map<PeerId, AuditStanding>& standings() const { return standings_; }
  [[nodiscard]] const NumericClasses& classes() const { return classes_; }

 private:
  struct Order {
    std::int64_t number = 0;
    std::size_t slice = 0;
    Auditor auditor;
    TimePoint given{};
  };
  // One contribution that is to be audited.
  struct Open {
    std::size_t rank = 0;
    bool by_three = false;                // one auditor more than it takes
    std::optional<double> on_auditors{};  // they get samples that begin at this fraction of the member's own
    std::vector<std::size_t> reserve{};   // ranks of auditors, in the order in which they are asked
    std::optional<AuditCase> work{};      // once it is known what owners received
    std::vector<Order> orders{};          // not answered
  };
  struct Round {
    AuditedRound facts;
    std::unordered_map<PeerId, std::size_t> ranks;
    TimePoint decided_at{};
    std::map<std::size_t, wire::MeasuredParts> measured{};  // by the owner's rank
    std::map<std::size_t, wire::OwnSketches> own{};
    std::map<std::size_t, wire::OwnTerms> terms{};
    std::vector<Open> open{};
    bool owners_checked = false;
  };
  // The words of a report that audits need.
  struct Told {
    RoundIndex round = 0;
    PeerId reporter;
    GroupId group;
    std::optional<wire::OwnTerms> own{};
    std::optional<wire::MeasuredParts> measured{};
  };

  // Members that keep as many states as they may, and those that keep this round's.
  struct Keepers {
    std::set<PeerId> busy;
    std::set<PeerId> here;
  };

  static bool take(Round& round, Told& told);
  void draw(Round& round);
  // Returns the ranks of those who may be asked to audit this one, in the order in which they are.
  [[nodiscard]] std::vector<std::size_t> auditors_for(const Round& round, std::size_t rank, swarm::RandomStream& random,
                                                      const Keepers& keepers) const;
  [[nodiscard]] bool is_in_doubt(const Round& round, std::size_t rank) const;
  // The evidence that it takes to find this member's work false.
  [[nodiscard]] AuditBar bar_for(const AuditedRound& round, std::size_t rank) const;
  [[nodiscard]] AuditBar bar_for(const Round& round, const Open& open) const;
  [[nodiscard]] static bool is_told(const Round& round, const Open& open, TimePoint now);
  [[nodiscard]] static bool is_sketched(const Round& round, TimePoint now);
  [[nodiscard]] OwnersFinding check(const Round& round);
  void note_silence(const Round& round);
  [[nodiscard]] static bool is_received_whole(const Round& round, std::size_t rank);
  // The error says what is not known: invalid_argument where the member itself should have told it.
  [[nodiscard]] Result<AuditCase> case_of(const Round& round, const Open& open) const;
  // Those that it has not answered, of all rounds.
  [[nodiscard]] std::size_t orders_at(const PeerId& peer) const;
  // Hands out the orders that are wanted. False if one is wanted that nobody can take.
  bool hand_out(TimePoint now, const Round& round, Open& open);
  [[nodiscard]] std::optional<AuditFinding> conclude(TimePoint now, const Round& round, Open& open);
  [[nodiscard]] AuditFinding close(const Round& round, const AuditedClaim& claim, AuditCase::Finding finding);
  void note_classes(const Round& round, const AuditedClaim& claim, const AuditCase::Finding& finding);
  void set_aside(const Round& round, const std::vector<Auditor>& contradicted);
  void settle_dispute(const Round& round, const AuditedClaim& claim, AuditCase::Finding& finding);
  [[nodiscard]] std::map<PeerId, std::size_t> keepers_of_states() const;

  AuditRules rules_;
  Digest secret_;
  NumericClasses classes_;
  std::map<PeerId, AuditStanding> standings_;
  std::deque<Round> rounds_;
  std::deque<Told> early_;  // about groups that have not decided
  PartOwners owners_;
  std::map<AccountId, int> misses_;                    // found false; all computers of an account
  std::map<PeerId, RoundIndex> audits_nothing_until_;  // contradicted auditors
  std::int64_t orders_made_ = 0;
};

}  // namespace starling::core
