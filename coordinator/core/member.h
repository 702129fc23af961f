// One member as of its last heartbeat, and the table of all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/forecast.h"
#include "coordinator/core/reputation.h"
#include "coordinator/core/types.h"
#include "shared/base/clock.h"
#include "shared/protocol/messages.h"

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

struct Member {
  MemberIdentity who;
  int lane = 0;

  wire::MemberPhase phase = wire::MemberPhase::joining;
  RoundIndex state_round = 0;
  Digest state_digest;
  SampleCount samples = 0;  // toward state_round, at `seen`
  double samples_per_s = 0;
  double batch_seconds = 0;  // 0: it has computed nothing since its trainer was started
  double batch_jitter = 0;   // 0: not known
  int listen_port = 0;
  Reach reach;
  PeerId posted_at;                     // the relay at which it says others can call it
  std::optional<wire::Endpoint> relay;  // where it should be posted, in the form that others will see
  TimePoint relay_since{};              // since when it should be there, or when it was last seen there
  int relays_failed = 0;                // in a row: relays that it was sent to and did not get into
  double relay_bytes_per_s = 0;         // rate that it offers to relay
  double upload_bytes_per_s = 0;
  double download_bytes_per_s = 0;
  double round_trip_s = 0;  // to other members; 0: not known

  TimePoint seen{};
  Duration told{};  // when to call again, counted from `seen`

  bool open_reports = false;  // reported a result of the round that is not decided yet
  // since when it reports results of later rounds only: the rounds before them are not decided
  TimePoint waits_since = kNever;
  bool holds_void_result = false;  // reported a result that does not count: it must return to the canonical state
  // reported as many results as a call may carry: more wait, of rounds without a coordinator
  bool more_reports = false;
  bool ready = false;         // holds the canonical state
  bool was_training = false;  // since it last stopped; a round may still end while it stops
  bool assumed = false;       // was averaged into the round that has just been decided, and has not called since
  bool counted = false;       // is part of the forecast
  Growth growth;              // its part of the forecast

  TimePoint behind_since = kNever;  // first call, since it was last ready, that said it needs the state
  int welcomes = 0;                 // number of rounds that were held open for it since behind_since
  TimePoint welcome_again{};        // when the next round may be held open for it

  RoundIndex met_in = -1;         // the last round that it averaged in
  std::uint64_t planned_in = 0;   // serial of the plan it belongs to; 0: none
  std::size_t planned_group = 0;  // which of that plan's groups
  bool attended = false;          // was seen averaging in that plan
  bool late = false;              // was not there when that plan was made: nobody waits for it
  // When a deferred member has the result of that plan's round, at the latest. The others are done long before, and go
  // on. kNever if it is not deferred.
  TimePoint result_due = kNever;
  Standing standing;           // from the reports of the others
  TimePoint left_out_until{};  // the others' rounds are too short for its line: no plan and no download before

  [[nodiscard]] bool works() const {
    return phase == wire::MemberPhase::training || phase == wire::MemberPhase::averaging;
  }
  // True if its trainer has shown that it runs. One that still starts would keep a group waiting.
  [[nodiscard]] bool has_computed() const { return batch_seconds > 0; }
  // True while it measures: it has no place in a plan, but may come to the meeting late.
  [[nodiscard]] bool evaluates() const { return phase == wire::MemberPhase::evaluating; }
  // True while its rounds or minutes out last: it gets no place in plans and needs no state.
  [[nodiscard]] bool sits_out(TimePoint now) const { return standing.sits_out || now < left_out_until; }
  [[nodiscard]] bool deferred() const { return result_due != kNever; }
  // True if it is about to get the state, so that it could soon be planned.
  [[nodiscard]] bool catches_up() const {
    return !ready && (phase == wire::MemberPhase::joining || phase == wire::MemberPhase::downloading);
  }
  [[nodiscard]] bool dialable() const { return reach.verdict == wire::Reachability::reachable; }
  [[nodiscard]] TimePoint next_call() const { return seen + told; }
  [[nodiscard]] wire::Endpoint endpoint() const;  // the address at which others can call it, if any
  [[nodiscard]] wire::MemberInfo info() const;
};

// True if it has not called although it should have, so that its last word cannot be relied on.
bool missed_its_call(const Member& member, TimePoint now);

// Members by id: the order of every walk is the same in every run of a simulation.
class MemberTable {
 public:
  // Returns the member after this heartbeat, found or made.
  Member& touch(TimePoint now, const MemberIdentity& who, const wire::Heartbeat& heartbeat);
  [[nodiscard]] Member* find(const PeerId& peer);
  void remove(const PeerId& peer);
  // Drops members that were silent for three times the interval they were given, and for at least `floor`. Those that
  // merely missed their call stop counting.
  void forget_silent(TimePoint now, Duration floor);
  // Returns how often a working member vanishes without a word, from the last hours.
  [[nodiscard]] double vanishings_per_s() const;
  // Returns how often a working member stops for any reason: it vanishes, leaves, pauses, starts again, or has to load
  // the state.
  [[nodiscard]] double departures_per_s() const;
  // Judges all members by the canonical state. `averaged` holds the peers that took part in making it.
  void judge(TimePoint now, const Digest& canonical, const std::vector<PeerId>& averaged);
  // Judges one member after its heartbeat, and brings the forecast up to date.
  void judge(TimePoint now, Member& member, const Digest& canonical);
  // Ends the assumption that members are ready, where it has not been confirmed.
  void end_assumptions(TimePoint now, const Digest& canonical);
  // Returns up to `count` ready members that can be called, starting after the last one handed out.
  std::vector<wire::Endpoint> donors(const PeerId& asking, std::size_t count);

  [[nodiscard]] const Forecast& forecast() const { return forecast_; }
  [[nodiscard]] std::map<PeerId, Member>& all() { return members_; }
  [[nodiscard]] const std::map<PeerId, Member>& all() const { return members_; }

 private:
  void count_as(Member& member, const Growth& growth);
  void stop_counting(Member& member);

  std::map<PeerId, Member> members_;
  Forecast forecast_;
  PeerId last_donor_;
  double vanished_ = 0;  // the rates fade over hours
  double departed_ = 0;
  double member_s_ = 0;
  TimePoint counted_at_ = kNever;
};

}  // namespace starling::core
