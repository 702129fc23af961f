// A session whose world is the test: its requests are remembered, events are played.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/session/session.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/swarm/plan.h"
#include "tests/client/session/session_names.h"

namespace starling::session {

using averaging::AveragingOutcome;

// Remembers the session's requests; the test then plays the world.
struct Hands : Session::Mediator {
  std::vector<wire::Heartbeat> heartbeats;
  std::vector<wire::SampleRange> batches;
  std::vector<bool> batch_first;  // by batch: true if it starts the gradient from zero
  std::vector<bool> batch_ahead;  // by batch: true if it adds to the next round's gradient
  std::vector<bool> batch_anew;   // by batch: true if everything before it is forgotten
  std::vector<wire::GroupInfo> groups;
  std::vector<SampleCount> weights;
  std::vector<SampleCount> draws;
  std::vector<RoundIndex> steps;
  int evaluations = 0;
  std::vector<wire::UnusableSamples> unusable;
  std::vector<std::pair<RoundIndex, Digest>> fetches;
  std::vector<Digest> files_fetched;                // the fetches of the coordinator's copy
  std::vector<Digest> made;                         // states of round 0 that it was asked to make
  std::vector<std::pair<RoundIndex, Digest>> sent;  // copies for the coordinator
  std::vector<wire::RoundReport> recorded;
  RoundIndex forgotten = 0;
  std::vector<RoundIndex> withdrawn;                    // the first round of each withdrawal
  std::vector<std::pair<RoundIndex, Digest>> restored;  // states before a step that it was asked to return to
  int previous_forgotten = 0;
  int checkpoints = 0;
  bool can_prove = true;  // it has the floats of its state
  bool has_previous = true;
  std::vector<RoundIndex> audited;  // rounds whose first state it was asked to keep
  int audited_forgotten = 0;
  std::vector<wire::SampleRange> audits;
  std::size_t audit_parts = 0;
  std::optional<Hash128> sketched_with;

  void send_heartbeat(const wire::Heartbeat& heartbeat) override { heartbeats.push_back(heartbeat); }
  void start_batch(const wire::SampleRange& samples, const BatchTarget& target) override {
    batches.push_back(samples);
    batch_first.push_back(target.first);
    batch_ahead.push_back(target.next_round);
    batch_anew.push_back(target.anew);
  }
  void report_unusable(const wire::UnusableSamples& samples) override { unusable.push_back(samples); }
  void start_averaging(const wire::GroupInfo& group, averaging::Rank,
                       const averaging::ContributionTerms& terms) override {
    groups.push_back(group);
    weights.push_back(terms.weight);
    draws.push_back(terms.draw);
  }
  void start_step(RoundIndex round) override { steps.push_back(round); }
  void start_evaluation() override { ++evaluations; }
  void fetch_state(std::span<const wire::Endpoint>, RoundIndex round, const Digest& d) override {
    fetches.emplace_back(round, d);
  }
  void fetch_checkpoint(const wire::Artefact& file, RoundIndex round, const Digest& d) override {
    files_fetched.push_back(file.sha256);
    fetches.emplace_back(round, d);
  }
  void make_initial_state(const Digest& d) override { made.push_back(d); }
  void send_checkpoint(RoundIndex round, const Digest& d) override { sent.emplace_back(round, d); }
  void record_round(const wire::RoundReport& report, Duration) override { recorded.push_back(report); }
  void forget_reports(RoundIndex below) override { forgotten = below; }
  void withdraw_reports(RoundIndex from) override { withdrawn.push_back(from); }
  void forget_previous_state() override { ++previous_forgotten; }
  void restore_previous_state(RoundIndex round, const Digest& d) override { restored.emplace_back(round, d); }
  void save_checkpoint(RoundIndex, const Digest&) override { ++checkpoints; }
  std::optional<Digest> prove_state(const Hash128& challenge, const Digest& d) override {
    return can_prove ? std::optional(proof_of(challenge, d)) : std::nullopt;
  }
  bool keep_audited_state(RoundIndex round) override {
    if (has_previous) audited.push_back(round);
    return has_previous;
  }
  void forget_audited_state(RoundIndex) override { ++audited_forgotten; }
  void start_audit(const Audits::Piece& piece) override {
    audits.push_back(piece.samples);
    audit_parts = piece.parts.size();
  }
  std::optional<wire::OwnSketches> own_sketches(RoundIndex round, const Hash128& seed) override {
    sketched_with = seed;
    return wire::OwnSketches{round, {1}, {2}, {3}};
  }
  static Digest proof_of(const Hash128& challenge, Digest d) {
    for (std::size_t i = 0; i < challenge.bytes.size(); ++i) d.bytes[i] ^= challenge.bytes[i];
    return d;
  }
};

// One session at round 0 with state digest(1), unless the arguments differ, that has asked the coordinator; it is
// member 1 of 3.
struct Fixture {
  Hands hands;
  TimePoint now = kStart;
  Session session;

  explicit Fixture(InitialState initial = {0, digest(1), {}}, bool delay_parameter_updates = false, bool leased = false,
                   SampleCount samples_max = swarm::kMemberSamplesMax, const Digest& initial_state = {})
      : session({.run_id = "run",
                 .self = peer(1),
                 .micro_batch_size = 4,
                 .samples_max = samples_max,
                 .leased = leased,
                 .listen_port = 7000,
                 .delay_parameter_updates = delay_parameter_updates,
                 .audits = true,
                 .initial_state_digest = initial_state},
                std::move(initial), hands) {
    session.start(now);
  }
  // The states of others have to be proven.
  explicit Fixture(StateTrust trust)
      : session(
            {.run_id = "run", .self = peer(1), .micro_batch_size = 4, .listen_port = 7000, .trust = std::move(trust)},
            {0, digest(1), {}}, hands) {
    session.start(now);
  }

  wire::HeartbeatReply reply(RoundIndex round, const Digest& state) const {
    wire::HeartbeatReply reply;
    reply.run_state = wire::RunState::running;
    reply.round = round;
    reply.state_digest = state;
    reply.lane = 3;
    reply.swarm.target_batch_size = 16;
    reply.swarm.samples_per_s = 16;
    reply.next_heartbeat_ms = 1000;
    return reply;
  }

  // A plan that starts at once, for the state of that round: digest(round + 1).
  wire::GroupInfo group(RoundIndex round, const std::vector<std::uint8_t>& numbers = {1, 2, 3}) const {
    std::vector<wire::MemberInfo> members;
    for (const std::uint8_t n : numbers) {
      wire::MemberInfo member;
      member.endpoint = {peer(n), "127.0.0.1", 7000 + n};
      members.push_back(member);
    }
    swarm::PlanOptions options;
    options.run_id = "run";
    options.round = round;
    options.state_digest = digest(static_cast<std::uint8_t>(round + 1));
    options.vector_floats = 1000;
    return swarm::plan_group(members, options);
  }

  // The coordinator's answer to the heartbeat that is under way.
  void hear(const wire::HeartbeatReply& reply) { session.on_heartbeat_reply(now, reply); }
  void hear_nothing() { session.on_heartbeat_failed(now, Error{ErrorCode::unavailable, "away"}); }
  // This state is the swarm's: it begins to train.
  void begin_training() { hear(reply(0, digest(1))); }
  // A plan of round 0; the batch that is under way is finished first.
  void begin_averaging(const std::vector<std::uint8_t>& numbers = {1, 2, 3}) {
    auto planned = reply(0, digest(1));
    planned.group = group(0, numbers);
    hear(planned);
    batch_done();
  }
  // The swarm is elsewhere, and member 2 can hand its state over.
  [[nodiscard]] wire::HeartbeatReply reply_with_donor(RoundIndex round, const Digest& state) const {
    auto reply = this->reply(round, state);
    reply.donors = {{peer(2), "127.0.0.1", 7002}};
    return reply;
  }
  // The coordinator answers none of these calls; batches go on.
  void miss_coordinator(int calls) {
    for (int i = 0; i < calls; ++i) {
      now += std::chrono::seconds(6);
      session.on_timer(now);
      hear_nothing();
      batch_done();
    }
  }

  void batch_done() { session.on_batch_done(now, BatchReport{4, 8.0, 0.1}); }

  AveragingOutcome outcome(AveragingOutcome::Verdict verdict, std::vector<SampleCount> samples) const {
    AveragingOutcome outcome;
    outcome.verdict = verdict;
    outcome.samples = std::move(samples);
    for (const SampleCount s : outcome.samples) outcome.weight_total += s;
    return outcome;
  }

  // Plays a round from training to the next round, with all three members in it.
  void play_round(RoundIndex round, const Digest& next_state) {
    auto planned = reply(round, session.view(now).state_digest);
    planned.group = group(round);
    hear(planned);
    if (hands.groups.size() <= static_cast<std::size_t>(round)) batch_done();
    session.on_averaged(now, outcome(AveragingOutcome::Verdict::averaged, {4, 6, 6}));
    session.on_step_done(now, next_state);
  }
};

}  // namespace starling::session
