// One member as of its last heartbeat, and the table of all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordinator/core/devices_in_use.h"
#include "coordinator/core/failing_members.h"
#include "coordinator/core/forecast.h"
#include "coordinator/core/reputation.h"
#include "coordinator/core/types.h"
#include "shared/base/clock.h"
#include "shared/base/hash.h"
#include "shared/protocol/compute_device.h"
#include "shared/protocol/group_info.h"
#include "shared/protocol/states.h"

namespace starling::wire {
struct Heartbeat;
}

namespace starling::core {

// The coordinator's knowledge about dialling a member.
struct Reach {
  std::string address;  // the address that the other fields are about
  int port = 0;
  wire::Reachability verdict = wire::Reachability::unknown;
  TimePoint test_at{};  // when the next test is due
  TimePoint again{};    // when the next test of another port or address is allowed
  Duration retry{};     // wait after a failed test
};

// The relay at which a member that nobody can dial should be posted.
struct RelayPlace {
  std::optional<wire::Endpoint> endpoint;  // in the form that others will see
  TimePoint since{};                       // since when it should be there, or when it was last seen there
  int failed = 0;                          // in a row: relays that it was sent to and did not get into
};

// The words of a member's last call.
struct Reported {
  wire::MemberPhase phase = wire::MemberPhase::joining;
  RoundIndex state_round = 0;
  Digest state_digest;
  SampleCount samples = 0;  // toward state_round, when it called
  int listen_port = 0;
  PeerId posted_at;                           // the relay at which it says others can call it
  bool reports_left = false;                  // its call had no room for all reports of the rounds that it has finished
  std::string failure;                        // why its trainer fails; empty: it does not
  std::optional<wire::ComputeDevice> device;  // its trainer's; unset: not told
};

// A member's upload as others have seen it (upload_book.h).
struct SeenUpload {
  double bytes_per_s = 0;  // the median
  double upper = 0;        // a third of the figures are above it
  std::size_t accounts = 0;
};

// A member's figures for its computer and its line; 0: not known.
struct Speeds {
  double samples_per_s = 0;   // smoothed over its calls
  double credited_per_s = 0;  // samples a second of the rounds that it was credited with; 0: of none yet
  double proven_per_s = 0;    // the most of these, rising by a limit and falling slowly; 0: of none yet
  double batch_seconds = 0;   // 0: it has computed nothing since its trainer was started
  double batch_jitter = 0;
  double upload_bytes_per_s = 0;
  double download_bytes_per_s = 0;
  SeenUpload seen_upload;        // at the beginning of the round in work
  double relay_bytes_per_s = 0;  // rate that it offers to relay
  double round_trip_s = 0;       // to other members
};

// A member's reports about rounds that are not decided yet.
struct Results {
  enum class State : std::uint8_t {
    none,    // nothing is undecided
    open,    // it reported a result of the round in work
    early,   // it reports results of later rounds only: the rounds before them are not decided
    voided,  // it reported a result that does not count: it must return to the canonical state
  };
  State state = State::none;
  TimePoint early_since = kNever;  // kNever unless early, or void after that
  // It reported as many results as a call may carry: more wait, of rounds without a coordinator.
  bool more = false;
};

// A member's copy of the state that the swarm trains.
enum class Copy : std::uint8_t {
  other,      // none, or another state
  assumed,    // it was averaged into the round that has just been decided, and has not called since
  canonical,  // it holds the state of the round in work: it is ready
};

// A member's word on the canonical state, and its proofs (holders.h).
struct Holding {
  enum class Verdict : std::uint8_t {
    open,    // it has proven nothing yet
    alone,   // its proof cannot be told from a lie: too few others have given one
    agreed,  // most accounts give its proof
    refuted  // its proof is another one, or it goes on giving none
  };
  Copy copy = Copy::other;
  Verdict verdict = Verdict::open;
  Digest judged_at;   // the canonical state at that verdict
  Hash128 challenge;  // the newest proof: of `state`
  Digest proof;
  Digest state;
  bool asked = false;  // a reply has brought it a challenge
  int unanswered = 0;  // calls in a row that claim to hold the state and prove nothing
  [[nodiscard]] bool refuted() const { return verdict == Verdict::refuted; }
};

// A member's place in the newest plan that it belongs to.
struct PlannedSeat {
  std::uint64_t plan = 0;  // serial of that plan; 0: none
  std::size_t group = 0;   // which of that plan's groups
  wire::MemberRole role = wire::MemberRole::full;
  bool told = false;      // an answer has brought it: before that it averages in an older one, if it says that it does
  bool attended = false;  // was seen averaging in that plan
  // When a deferred member has the result of that plan's round, at the latest. The others are done long before, and go
  // on. kNever if it is not deferred.
  TimePoint result_due = kNever;
};

// The plans that waited for a member, and to which it did not come. They outlive the member, which may fall silent
// until it is forgotten, and call again.
struct Absences {
  // Its next call tells whether it could have come: whoever is late with that lost an answer, or was busy.
  struct Open {
    RoundIndex round = 0;
    double rounds = 0;  // the length of the wait, in usual rounds
  };
  RoundIndex last = -1;               // the newest of these plans' rounds; -1: none
  bool called_on = false;             // while that plan waited
  bool said_so = false;               // that it averaged in that plan, and the others did not see it
  bool stayed_away = false;           // from the last plan that waited for it, until it comes
  std::optional<Open> open{};         // the last absence, until the next call
  std::vector<RoundIndex> excused{};  // those of which it could not be told whether it could have come
};

// The join grace that a member has had since it was last ready.
struct Grace {
  TimePoint behind_since = kNever;  // first call that said it needs the state
  int rounds_held = 0;              // number of rounds that were held open for it
  TimePoint again{};                // when the next round may be held open for it
};

// A member, by its own words, the coordinator's findings and its part in plans.
struct Member {
  MemberIdentity who;
  bool voice = true;  // its account's (AccountStanding)
  int lane = 0;
  Standing standing;  // from the reports of the others

  Reported reported;
  Speeds speeds;
  TimePoint seen{};  // its last call
  Duration told{};   // when to call again, counted from `seen`

  Reach reach;
  RelayPlace relay;

  Results results;
  Holding holding;
  std::optional<Growth> counted;  // its part of the forecast, if it counts there
  bool was_training = false;      // since it last stopped; a round may still end while it stops

  Grace grace;
  PlannedSeat seat;
  Absences away;
  RoundIndex met_in = -1;      // the last round that it averaged in
  TimePoint left_out_until{};  // the others' rounds are too short for its line: no plan and no download before

  // True if it holds the canonical state.
  [[nodiscard]] bool ready() const { return holding.copy == Copy::canonical; }
  [[nodiscard]] bool works() const {
    return reported.phase == wire::MemberPhase::training || reported.phase == wire::MemberPhase::averaging;
  }
  // True if its trainer should compute now.
  [[nodiscard]] bool should_compute() const { return works() || evaluates(); }
  // True if its trainer fails, by its own word, in a run that it should train.
  [[nodiscard]] bool fails() const { return works() && !reported.failure.empty(); }
  [[nodiscard]] bool averages() const { return reported.phase == wire::MemberPhase::averaging; }
  // True while it measures: it has no place in a plan, but may come to the meeting late.
  [[nodiscard]] bool evaluates() const { return reported.phase == wire::MemberPhase::evaluating; }
  // True if it is about to get the state, so that it could soon be planned.
  [[nodiscard]] bool catches_up() const {
    return !ready() &&
           (reported.phase == wire::MemberPhase::joining || reported.phase == wire::MemberPhase::downloading);
  }
  // True if it holds cells of the model alone, and no state of this run.
  [[nodiscard]] bool only_holds() const { return reported.phase == wire::MemberPhase::holding; }
  // True if its trainer has shown that it runs. One that still starts would keep a group waiting.
  [[nodiscard]] bool has_computed() const { return speeds.batch_seconds > 0; }
  // True while its rounds or minutes out last: it gets no place in plans and needs no state.
  [[nodiscard]] bool sits_out(TimePoint now) const { return is_out() || now < left_out_until; }
  [[nodiscard]] bool is_out() const { return standing.sits_out || !standing.kept_out.empty(); }
  // True if nobody waits for it in its plan: it was not there when that plan was made.
  [[nodiscard]] bool late() const { return seat.role == wire::MemberRole::late; }
  [[nodiscard]] bool deferred() const { return seat.role == wire::MemberRole::deferred; }
  [[nodiscard]] bool dialable() const { return reach.verdict == wire::Reachability::reachable; }
  [[nodiscard]] TimePoint next_call() const { return seen + told; }
  [[nodiscard]] wire::Endpoint endpoint() const;  // the address at which others can call it, if any
  [[nodiscard]] wire::MemberInfo info() const;
};

// True if it has not called although it should have, so that its last word cannot be relied on.
bool missed_its_call(const Member& member, TimePoint now);

// The record of a member that was forgotten, or has left.
struct GoneMember {
  Absences away;
  PlannedSeat seat;
};

// Members by id: the order of every walk is the same in every run of a simulation.
class MemberTable {
 public:
  // Returns the member after this heartbeat, found or made; one that was gone, with its absences and its seat.
  Member& touch(TimePoint now, const MemberIdentity& who, const wire::Heartbeat& heartbeat);
  [[nodiscard]] Member* find(const PeerId& peer);
  [[nodiscard]] const Member* find(const PeerId& peer) const;
  void remove(const PeerId& peer);
  // Drops members that were silent for three times the interval they were given, and for at least `floor`; those that
  // average only after as long as a group's vote waits for a lost call (Patience::quorum). Those that merely missed
  // their call stop counting.
  void forget_silent(TimePoint now, Duration floor, const Patience& patience = {});
  // Returns what is known of a member, or of one that is gone; null for others.
  [[nodiscard]] Absences* absences_of(const PeerId& peer);
  [[nodiscard]] PlannedSeat* seat_of(const PeerId& peer);
  // Drops what is kept of members that are gone, and were in no plan's way since this round.
  void forget_gone(RoundIndex before);
  // Members were credited with these samples of a round that took so long. From then on they count in the forecast for
  // little more than that, whatever they say; one that was never credited for no more than a usual member.
  void note_credit(std::span<const wire::Contribution> credited, Duration round_took);
  // Returns the most samples that the member is believed to have for the present round by `then`, at least 1: by what
  // it was credited with, or as a usual member could, and some more. kMemberSamplesMax as long as nobody was credited.
  [[nodiscard]] SampleCount samples_max(const Member& member, TimePoint then, SampleCount micro_batch) const;
  // Returns how often a working member vanishes without a word, from the last hours.
  [[nodiscard]] double vanishings_per_s() const;
  // Returns how often a working member stops for any reason: it vanishes, leaves, pauses, starts again, or has to load
  // the state.
  [[nodiscard]] double departures_per_s() const;
  // Judges all members by a new canonical state. `averaged` holds the peers that took part in making it: they are
  // assumed to hold it until they call, or until `assumed_until`.
  void judge(TimePoint now, const Digest& canonical, const std::vector<PeerId>& averaged, TimePoint assumed_until);
  // Judges one member after its heartbeat, and brings the forecast up to date.
  void judge(TimePoint now, Member& member, const Digest& canonical);
  // Ends the assumption that members hold the state where it has not been confirmed in time. Call it now and then.
  void end_assumptions(TimePoint now, const Digest& canonical);
  // True if the member is assumed to hold the state, and there is still time for its own word.
  [[nodiscard]] bool is_due(const Member& member, TimePoint now) const {
    return member.holding.copy == Copy::assumed && assumed_until_ && now <= *assumed_until_;
  }
  [[nodiscard]] FailingMembers failing() const;
  [[nodiscard]] DeviceSums device_sums() const;
  [[nodiscard]] DevicesInUse devices() const;
  // Returns up to `count` ready members that can be called, starting after the last one handed out: those with a proof
  // that most others give; if there are none, those with a proof; else those that were not asked for one in time.
  std::vector<wire::Endpoint> donors(const PeerId& asking, std::size_t count);

  [[nodiscard]] const WeightForecast& forecast() const { return forecast_; }
  [[nodiscard]] std::map<PeerId, Member>& all() { return members_; }
  [[nodiscard]] const std::map<PeerId, Member>& all() const { return members_; }
  [[nodiscard]] const std::map<PeerId, GoneMember>& gone() const { return gone_; }

 private:
  // The most samples a second that the member is believed to compute.
  [[nodiscard]] double rate_max(const Member& member, TimePoint now) const;
  // The highest rate that the next round may prove; 0: nobody was credited yet.
  [[nodiscard]] double provable_max(const Member& member) const;
  // A round has credited the member with this rate.
  void prove(Member& member, double rate) const;
  void count_as(Member& member, const Growth& growth);
  void stop_counting(Member& member);
  // Keeps the absences and the seat of a member that is gone.
  void part_with(Member& member);

  std::map<PeerId, Member> members_;
  std::map<PeerId, GoneMember> gone_;  // kGoneMax at most
  WeightForecast forecast_;
  std::optional<TimePoint> assumed_until_;  // while members are assumed to hold the state
  PeerId last_donor_;
  double usual_credited_per_s_ = 0;  // a usual member's, of those with a voice if lower; 0: nobody's
  Duration round_took_{};            // the last round that was credited; zero: none was
  TimePoint judged_at_{};            // when the canonical state became what it is
  double vanished_ = 0;              // the rates fade over hours
  double departed_ = 0;
  double member_s_ = 0;
  TimePoint counted_at_ = kNever;
};

}  // namespace starling::core
