// This volunteer's knowledge of the run's states, and so of those that it may load: the ones that it has made itself,
// and the ones that the project and the members have signed (shared/protocol/state_proof.h). Pure.
//
// A state that the coordinator names and that is not known here has to be proven: the next heartbeat asks for that. A
// proof must lead on from the state that is known of an earlier round; only a newer statement of the project that it
// went back, or that a state was lost, replaces what is known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/limited_log.h"
#include "shared/base/result.h"
#include "shared/manifest/signed_statement.h"

namespace starling::wire {
struct HeartbeatReply;
}

namespace starling::session {

// A state, by the round that begins with it.
struct StateName {
  RoundIndex round = 0;
  Digest digest;
  bool operator==(const StateName&) const = default;
};

// The knowledge that outlives a session.
struct KnownState {
  StateName state;          // the newest one that is known and settled; a zero digest: none
  std::int64_t serial = 0;  // the newest statement's that was seen here
};

// The session's way to judge proofs, and to keep what it knows.
struct StateTrust {
  // Returns the states of a proof whose signatures are right. Empty: the coordinator is believed.
  std::function<Result<manifest::ProvenStates>(const wire::StateProof& proof)> verify;
  KnownState known;
  std::function<void(const KnownState& known)> remember;  // durable when it returns; not empty if verify is not
};

class StateChain {
 public:
  explicit StateChain(StateTrust trust);

  // The heartbeat that goes out next asks for a proof.
  [[nodiscard]] bool wants_proof() const { return wants_proof_; }
  void on_told() { asked_ = wants_proof_; }

  enum class Verdict : std::uint8_t {
    known,    // the state that the answer names is the run's
    unknown,  // it has to be proven, and wants_proof()
    refused,  // it was not proven: refusal() says why
  };
  // Judges the state that an answer names. `held`: the one that is here.
  [[nodiscard]] Verdict judge(TimePoint now, const Digest& held, const wire::HeartbeatReply& reply);
  // A sentence for the volunteer; empty if the last state was not refused.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  // The state that this round of the run led to, as its members have signed, if the last proof leads through it. After
  // a loss the run may go on from another one, and the round counts all the same.
  [[nodiscard]] std::optional<Digest> result_of(RoundIndex round) const;

  // Keeps what is known for the next session.
  void remember() const;

 private:
  Status admit(const StateName& named, const std::optional<wire::StateProof>& proof);
  Status agree(const manifest::ProvenStates& proven);
  void settle(const StateName& named, const wire::HeartbeatReply& reply);

  StateTrust trust_;
  StateName proven_;  // the last one that was proven, or that the coordinator named while it was here
  std::vector<manifest::ProvenState> path_;  // the last proof's; the first one is the project's word
  bool wants_proof_ = false;
  bool asked_ = false;  // by the last heartbeat
  std::string refusal_;
  std::string logged_refusal_;  // the last one that the log tells, since a state was known
  int refusals_ = 0;            // in a row
  TimePoint ask_not_before_{};
  LimitedLog refused_;
};

}  // namespace starling::session
