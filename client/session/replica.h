// The model's state that this volunteer holds: whether it is the swarm's, and where the swarm's can be had from. Pure.
//
//   unsynced -> fetching -> synced -> unsynced -> …
//
// A replica is *synced* if its state is the one that the coordinator names for the round, or if it has just stepped
// together with its group and nothing has contradicted it since.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/session/state_chain.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/limited_log.h"
#include "shared/base/result.h"
#include "shared/protocol/group_info.h"
#include "shared/run/run_manifest.h"

namespace starling::wire {
struct HeartbeatReply;
}

namespace starling::session {

// Where a state comes from.
struct FromNobody {};
struct FromPreviousStep {};  // this volunteer kept it before its last step
struct FromSeed {};          // the state of round 0, which is made here

// Members that hold the swarm's state; several are asked at once.
struct FromDonors {
  std::vector<wire::Endpoint> donors;
};

// The coordinator's copy, for a swarm in which nobody holds the state.
struct FromCopy {
  wire::Artefact file;  // the coordinator's
};
using StateSource = std::variant<FromNobody, FromPreviousStep, FromSeed, FromDonors, FromCopy>;

class Replica {
 public:
  // initial_state_digest: the one that the project has signed for round 0; zero: the coordinator's is taken.
  Replica(StateName held, const Digest& initial_state_digest, StateTrust trust = {});

  [[nodiscard]] const StateName& state() const { return held_; }
  [[nodiscard]] RoundIndex round() const { return held_.round; }
  [[nodiscard]] const Digest& digest() const { return held_.digest; }
  [[nodiscard]] bool synced() const { return sync_ == Sync::synced; }
  [[nodiscard]] bool fetching() const { return sync_ == Sync::fetching; }
  // Says why it is not synced.
  [[nodiscard]] const std::string& unsynced_reason() const { return unsynced_reason_; }

  // The heartbeat that goes out next asks for a proof of the swarm's state.
  [[nodiscard]] bool wants_proof() const { return chain_.wants_proof(); }
  // A heartbeat goes out that names the held state.
  void on_told() {
    told_ = held_;
    chain_.on_told();
  }
  // See StateChain.
  [[nodiscard]] std::optional<Digest> result_of(RoundIndex round) const { return chain_.result_of(round); }
  // Keeps what is known of the swarm's states for the next session.
  void remember() const { chain_.remember(); }
  // The replica has stepped. The state before is kept by the Mediator until that step is known to count.
  void on_step(const Digest& new_state);
  // All rounds below this count. Returns true if the state before the last step is not needed any more.
  [[nodiscard]] bool forget_previous(RoundIndex counted);
  // The held state is not the swarm's.
  void lose_sync(TimePoint now, std::string reason);

  enum class Verdict : std::uint8_t {
    open,        // the answer says nothing about the held state
    unproven,    // it names a state that has to be proven first, which the next heartbeat asks for
    current,     // it is the swarm's
    renumbered,  // it is the swarm's, which counts another round now
    foreign,     // it is another one than the swarm's; it was so before, too
    lost,        // it was the swarm's, and is another one now
    superseded   // the state that is being fetched is old: newer_source() has the present one
  };
  // Judges the held state by an answer that names the swarm's. reports_wait: rounds were reported that are not settled.
  [[nodiscard]] Verdict judge(TimePoint now, const wire::HeartbeatReply& reply, bool reports_wait);

  // The state that is fetched, or that will be.
  [[nodiscard]] const StateName& wanted() const { return wanted_; }
  // Returns the source to fetch wanted() from now, and is fetching from then on; FromNobody: nothing to do.
  [[nodiscard]] StateSource begin_fetch(TimePoint now);
  // While fetching: the source of wanted().
  [[nodiscard]] const StateSource& source() const { return source_; }
  // The next moment at which begin_fetch() may return a source, if there is one.
  [[nodiscard]] TimePoint fetch_not_before() const { return fetch_not_before_; }

  enum class FetchEnd : std::uint8_t {
    ignored,   // it was not the fetch under way
    loaded,    // the replica is synced, until the next answer says otherwise
    restored,  // loaded, with the state before the last step
    failed
  };
  [[nodiscard]] FetchEnd on_fetched(TimePoint now, const StateName& state, const Status& status);

 private:
  enum class Sync : std::uint8_t { unsynced, fetching, synced };

  [[nodiscard]] bool refuses_beginning(const wire::HeartbeatReply& reply) const;
  [[nodiscard]] Verdict refuse_beginning(TimePoint now, const wire::HeartbeatReply& reply);
  [[nodiscard]] Verdict refuse(TimePoint now, std::string reason);
  [[nodiscard]] Verdict judge_while_fetching(const wire::HeartbeatReply& reply);
  void note_source(TimePoint now, const wire::HeartbeatReply& reply);
  [[nodiscard]] bool previous_is_wanted() const { return previous_ && previous_->digest == wanted_.digest; }

  Digest initial_state_digest_;
  StateChain chain_;
  StateName held_;
  StateName told_;                     // in the last heartbeat
  std::optional<StateName> previous_;  // the state before the last step, until that step is known to count
  Sync sync_ = Sync::unsynced;
  std::string unsynced_reason_;
  StateName wanted_;
  StateSource source_;
  int fetch_failures_ = 0;  // in a row
  TimePoint fetch_not_before_{};
  LimitedLog losses_;
  LimitedLog beginnings_;  // refused ones
  LimitedLog downloads_;   // failed ones
};

}  // namespace starling::session
