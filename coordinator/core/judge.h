// Which results count. Judge takes the members' reports and decides a round when most accounts of a group that may
// decide it report one result. It also keeps what follows from reports: credit, claims that nobody confirms, the
// reputation of members, and the state that the swarm goes back to when nobody holds the canonical one.
//
// RunCoordinator brings every report (on_report), asks for decisions after calls and at timers (decide, sweep,
// find_lost_state), seats the groups of plans, and tells when another round is in work (begin_round). Members are only
// read, but for note_results and begin_round. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/claims.h"
#include "coordinator/core/credit_book.h"
#include "coordinator/core/electorate.h"
#include "coordinator/core/known_states.h"
#include "coordinator/core/lease_book.h"
#include "coordinator/core/member.h"
#include "coordinator/core/planner.h"
#include "coordinator/core/reports.h"
#include "coordinator/core/reputation.h"
#include "coordinator/core/run_status.h"
#include "coordinator/core/types.h"
#include "coordinator/core/upload_book.h"

namespace starling::core {

// A decided round, for those that go on from it.
struct Decision {
  GroupId group;
  SeatedGroup::Origin origin = SeatedGroup::Origin::dealt;
  Digest state_digest;
  std::vector<PeerId> contributors;  // members whose samples are in the result
  std::vector<PeerId> averaged;      // those of them that hold the new state, or are about to
  SampleCount samples = 0;           // samples of all contributors together
  Hash128 result_digest;
  std::vector<wire::Contribution> contributions;  // those that most have reported
  std::vector<wire::Contribution> credited;
  std::int64_t averaging_ms = 0;
};

// Decides rounds.
class Judge {
 public:
  // `settings` must outlive this object.
  Judge(const RunSettings& settings, const RecoveredRun& recovered);

  // The facts beyond reports that decide.
  struct Situation {
    TimePoint now{};
    WallTime wall;
    const RunStatus& run;
    const MemberTable& members;
    const Plan* plan = nullptr;  // null while the round is not planned
    RoundIndex final_below = 0;  // credit of rounds before it is final once the round in work is decided; 0: none yet
  };
  using Ops = std::vector<StoreOp>;

  // Takes a report about any round. Returns why it was refused; empty if it was taken.
  std::string on_report(const Situation& at, const PeerId& reporter, const wire::RoundReport& report, Ops& ops);
  // Takes a member's word about a round that failed for it, or in which somebody lied. A lie that is proven counts at
  // once: that member sits out the plan that comes. Returns why it was refused; empty if it was taken, or is not
  // understood here.
  std::string on_trouble(const Situation& at, MemberTable& members, const PeerId& reporter,
                         const wire::RoundTrouble& trouble, Ops& ops);
  // Sets member.results by the reports of its call, all of which on_report() has had.
  void note_results(const Situation& at, Member& member, const wire::Heartbeat& heartbeat) const;
  // This group may decide the round in work.
  void seat(SeatedGroup group) { electorates_.seat(std::move(group)); }
  // This group may not decide its round any more: the state stays, the round is planned again, and members that hold
  // the group's result return to the state and offer the same samples once more.
  void withdraw(const GroupId& group, RoundIndex round);
  // Withdraws the groups with reports that can come to no decision any more, and returns them. Call it now and then.
  std::vector<GroupId> sweep(const Situation& at);
  // True if this group can come to no decision any more. It was seated here.
  [[nodiscard]] bool is_hopeless(const Situation& at, const GroupId& group) const;
  // Decides the round in work if a group's accounts have. `leases`: null if the run's samples are not leased. The next
  // round is in work only after begin_round().
  std::optional<Decision> decide(const Situation& at, LeaseBook* leases, Ops& ops);
  // The round of `run` is in work now: members' standing is judged, and reports that cannot count are forgotten.
  void begin_round(const RunStatus& run, MemberTable& members, Ops& ops);
  // Judges all members' standing in `round`, the one in work. begin_round() does, too.
  void judge_members(RoundIndex round, MemberTable& members, Ops& ops);
  // Returns the state to go on from when nobody has held the canonical one for long. `kept`: the newest copy that the
  // coordinator has.
  std::optional<StateAdopted> find_lost_state(const Situation& at, const std::optional<wire::Checkpoint>& kept);

  [[nodiscard]] StateChainBook& chain() { return chain_; }
  [[nodiscard]] const ReportBook& reports() const { return reports_; }
  [[nodiscard]] Standing standing_of(const PeerId& peer) const { return reputation_.of(peer); }
  // The held-out loss that the member measured in this round is false, or its proof that it holds the state.
  void on_false_word(RoundIndex round, const PeerId& peer) { (void)reputation_.on_false_word(round, peer); }
  // A group waited for the member in this round for long, and it did not come.
  void on_absence(RoundIndex round, const PeerId& peer, double rounds) { reputation_.on_absence(round, peer, rounds); }
  // Returns the members that have not begun in this group's round, as most of those say that have reported it.
  [[nodiscard]] std::set<PeerId> unseen_by_most(RoundIndex round, const GroupId& group) const {
    return reputation_.unseen_by_most(round, group);
  }
  [[nodiscard]] CreditBook& credit() { return credit_; }
  [[nodiscard]] const CreditBook& credit() const { return credit_; }

 private:
  struct Verdict;

  void note_lie(RoundIndex round, const PeerId& reporter, Ops& ops);
  void note_contradiction(const PeerId& reporter, const wire::RoundReport& report, Ops& ops);
  [[nodiscard]] std::set<PeerId> contradicting(RoundIndex round, const ResultClass& result) const;
  void note_claim(const Situation& at, RoundIndex round, const PeerId& peer, SampleCount claimed, Ops& ops);
  [[nodiscard]] Status check(const RunStatus& run, const wire::RoundReport& report, const PeerId& reporter);
  [[nodiscard]] bool is_voucher(const PeerId& peer) const;
  void seat_vouched(const GroupId& id, RoundIndex round);
  void hear_of_members(RoundIndex round, const PeerId& reporter, const wire::RoundReport& report);
  void restart_probation(const PeerId& peer, Ops& ops) const;
  [[nodiscard]] std::optional<Verdict> decided_now(const Situation& at) const;
  // `at`, `group` and `results` outlive the function that it returns.
  [[nodiscard]] std::function<Ballot(const PeerId&)> ballots(const Situation& at, const SeatedGroup& group,
                                                             const std::vector<HeldResult>& results) const;
  [[nodiscard]] bool has_come_unheard(const Situation& at, const GroupId& group, const PeerId& peer) const;
  [[nodiscard]] bool may_still_report(const Situation& at, const SeatedGroup& group, const PeerId& peer) const;
  [[nodiscard]] bool add_column_claims(const Situation& at, const SeatedGroup& group, const ResultClass& version,
                                       Verdict& verdict) const;
  std::vector<wire::Contribution> credit_contributors(const Situation& at, const Verdict& verdict, LeaseBook* leases,
                                                      RoundDecided& decided, Ops& ops);
  void seat_successor(const Verdict& verdict, const std::optional<SeatedGroup>& successor);
  [[nodiscard]] std::vector<AccountId> confirmed_accounts(const Verdict& verdict,
                                                          const std::vector<CreditedContribution>& credited) const;
  [[nodiscard]] std::vector<Seat> seats_of(const std::vector<wire::Contribution>& contributions) const;
  [[nodiscard]] std::optional<StateAdopted> state_to_adopt(const Situation& at,
                                                           const std::optional<wire::Checkpoint>& kept) const;
  [[nodiscard]] std::optional<StateAdopted> vouched_state(const Situation& at) const;

  const RunSettings& settings_;
  ElectorateBook electorates_;
  std::vector<Seat> last_electorate_;  // the seats of the group that decided the round before
  std::vector<Seat> vouchers_;         // the electorate of the round before, while groups may have been forgotten
  KnownStates known_states_;
  ReportBook reports_;
  StateChainBook chain_;
  struct DecidedResult {
    GroupId group;
    Digest state_digest;
  };
  std::map<RoundIndex, DecidedResult> decided_;  // the last kRemembered rounds
  std::int64_t dealt_in_row_ = 0;                // rounds that this coordinator dealt, since it was last away
  ClaimBook claims_;
  CreditBook credit_;
  Reputation reputation_;
  UploadBook uploads_;
  TimePoint without_holder_since_ = kNever;
};

}  // namespace starling::core
