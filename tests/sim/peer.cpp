#include "tests/sim/peer.h"

#include <algorithm>
#include <utility>

#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/state/holding_proof.h"
#include "shared/state/state_digest.h"
#include "shared/swarm/plausible.h"
#include "tests/sim/quadratic_problem.h"
#include "tests/sim/signatures.h"

namespace starling::sim {
namespace {

constexpr Duration kStepTime = std::chrono::milliseconds(2);

}  // namespace

Peer::Peer(World& world, int index, PeerId id, double samples_per_s)
    : world_(world),
      index_(index),
      id_(id),
      samples_per_s_(samples_per_s),
      rng_(mix64(world.options().seed ^ static_cast<std::uint64_t>(index))) {}

Peer::~Peer() = default;

Digest Peer::digest() const { return state::state_digest(state()); }

void Peer::start() {
  VERIFY(!up());
  ++incarnation_;
  frozen_until_ = {};
  waiting_.clear();
  session_timer_ = batch_done_ = kNever;
  has_gradients_ = false;
  gathered_at_ = world_.scheduler().now();
  session::InitialState initial;
  learner_ = std::make_unique<Learner>(world_.manifest(), disk_.state);
  if (!disk_.state.empty()) initial.round = disk_.round;
  for (Samples& leased : leased_in_) leased.clear();
  payload_.emplace(world_.manifest());
  check_.emplace(world_.manifest());
  gossip_ = rounds::Gossip::make(world_.manifest(), id_);
  VERIFY(gossip_ == nullptr || gossip_->buckets().size() == 1);
  initial.digest = digest();
  initial.unacknowledged = disk_.pending;
  session::SessionOptions options;
  options.run_id = world_.manifest().run_id;
  options.self = id_;
  options.micro_batch_size = world_.manifest().micro_batch_size;
  options.samples_max = swarm::member_samples_max(world_.manifest().target_batch_size, options.micro_batch_size);
  options.leased = world_.options().epoch_samples >= world_.options().target_batch_size;  // wire::samples_in_epochs
  options.listen_port = 1000 + index_;
  options.seed = mix64(world_.options().seed ^ static_cast<std::uint64_t>(index_) << 32 ^ incarnation_);
  options.checkpoint_interval = std::chrono::seconds(3);
  options.delay_parameter_updates = world_.manifest().round.delay_parameter_updates;
  options.audits = world_.manifest().round.audit_rate > 0;
  options.initial_state_digest = world_.manifest().initial_state_digest;
  options.trust = {verify_proof, disk_.known, [this](const session::KnownState& known) { disk_.known = known; }};
  session::Session::Mediator& hands = *this;
  session_ = std::make_unique<session::Session>(options, initial, hands);
  if (world_.options().speeds_known) {
    session_->set_line(line_.upload_bytes_per_s, line_.download_bytes_per_s, 0, received());
  }
  session_->start(world_.scheduler().now());
  after_session_event();
}

// The others' uplinks serve all alike, and so does the own downlink.
std::vector<session::Session::Received> Peer::received() {
  std::vector<session::Session::Received> rates;
  const int all = world_.options().peers + world_.options().liars;
  for (int other = 0; other < all; ++other) {
    if (other == index_) continue;
    const double rate =
        std::min(world_.network().rates(other).upload_bytes_per_s, world_.network().rates(index_).download_bytes_per_s);
    rates.push_back({world_.peer(other).id(), rate / (all - 1)});
  }
  return rates;
}

void Peer::crash() {
  ++incarnation_;
  session_.reset();
  current_.reset();
  before_.reset();
  meeting_.reset();
  payload_.reset();
  gossip_.reset();
  previous_state_.clear();
  ended_ = ended_meetings_ = averaging::EndedRounds();
  partings_.clear();
  early_.clear();
}

void Peer::freeze_until(TimePoint thaws) {
  if (!up() || thaws <= frozen_until_) return;
  frozen_until_ = thaws;
  world_.scheduler().at(thaws, [this, thaws, life = incarnation_] {
    if (life == incarnation_ && thaws == frozen_until_) thaw();
  });
}

void Peer::pause(bool paused) {
  schedule(world_.scheduler().now(), [this, paused] {
    session_->set_paused(world_.scheduler().now(), paused, "its owner has paused");
    after_session_event();
  });
}

void Peer::on_gradients() {
  schedule(world_.scheduler().now(), [this] {
    has_gradients_ = true;
    session_->retry_now(world_.scheduler().now());
    after_session_event();
  });
}

void Peer::thaw() {
  for (const std::uint64_t life = incarnation_; !waiting_.empty() && life == incarnation_;) {
    const std::function<void()> event = std::move(waiting_.front());
    event();
    if (life == incarnation_) waiting_.pop_front();
  }
}

session::Session::View Peer::view() const { return session_->view(world_.scheduler().now()); }

void Peer::schedule(TimePoint when, std::function<void()> event) {
  world_.scheduler().at(when, [this, life = incarnation_, event = std::move(event)]() mutable {
    if (life != incarnation_) return;
    if (frozen()) {
      waiting_.push_back(std::move(event));
    } else {
      event();
    }
  });
}

void Peer::after_session_event() {
  world_.on_session_event(*this);
  const TimePoint now = world_.scheduler().now();
  const TimePoint deadline = session_->next_deadline(now);
  if (deadline == kNever || (session_timer_ != kNever && session_timer_ <= deadline && session_timer_ > now)) return;
  session_timer_ = deadline;
  schedule(deadline, [this, deadline] {
    if (session_timer_ != deadline) return;
    session_timer_ = kNever;
    session_->on_timer(world_.scheduler().now());
    after_session_event();
  });
}

void Peer::send_heartbeat(const wire::Heartbeat& heartbeat) { world_.deliver_heartbeat(*this, heartbeat); }

void Peer::on_reply(const Result<wire::HeartbeatReply>& reply) {
  schedule(world_.scheduler().now(), [this, reply] {
    const TimePoint now = world_.scheduler().now();
    if (reply.ok()) {
      session_->on_heartbeat_reply(now, *reply);
    } else {
      session_->on_heartbeat_failed(now, reply.error());
    }
    after_session_event();
  });
}

void Peer::start_evaluation() {
  schedule(world_.scheduler().now() + kStepTime, [this] {
    session_->on_evaluated(world_.scheduler().now(), session::Evaluation{kHeldOutLoss, 1});
    after_session_event();
  });
}

void Peer::fetch_checkpoint(const wire::Artefact&, RoundIndex round, const Digest& wanted) {
  end_meeting();
  const double bytes = static_cast<double>(state().size_bytes());
  const Duration took = from_seconds(bytes / world_.network().rates(index_).download_bytes_per_s);
  schedule(world_.scheduler().now() + took, [this, round, wanted, serial = ++fetches_] {
    if (serial != fetches_) return;  // given up for a newer one
    Status fetched;
    const std::vector<float>& kept = world_.kept_state();
    if (state::state_digest(std::span<const float>(kept)) == wanted) {
      learner_->load(kept);
    } else {
      fetched = Error{ErrorCode::not_found, "the coordinator keeps another state by now"};
    }
    session_->on_state_fetched(world_.scheduler().now(), round, wanted, fetched);
    after_session_event();
  });
}

void Peer::make_initial_state(const Digest& wanted) {
  end_meeting();
  schedule(world_.scheduler().now() + kStepTime, [this, wanted, serial = ++fetches_] {
    if (serial != fetches_) return;  // given up for a newer one
    learner_->load(Learner(world_.manifest(), {}).state());
    session_->on_state_fetched(world_.scheduler().now(), 0, wanted, Status());
    after_session_event();
  });
}

void Peer::restore_previous_state(RoundIndex round, const Digest& wanted) {
  end_meeting();
  schedule(world_.scheduler().now() + kStepTime, [this, round, wanted, serial = ++fetches_] {
    if (serial != fetches_) return;  // given up for a newer one
    Status restored;
    if (state::state_digest(std::span<const float>(previous_state_)) == wanted) {
      learner_->load(previous_state_);
    } else {
      restored = Error{ErrorCode::not_found, "the state before the last step is not kept here"};
    }
    session_->on_state_fetched(world_.scheduler().now(), round, wanted, restored);
    after_session_event();
  });
}

// Sends at once, so that it is the state that was asked for.
void Peer::send_checkpoint(RoundIndex round, const Digest& wanted) { world_.take_checkpoint(*this, round, wanted); }

void Peer::record_round(const wire::RoundReport& report, Duration) {
  disk_.pending.push_back(report);
  world_.on_round_recorded(*this, report);
  begin_gossip(report);
}

void Peer::forget_reports(RoundIndex below) {
  world_.on_reports_forgotten(*this, below);
  std::erase_if(disk_.pending, [below](const wire::RoundReport& report) { return report.round < below; });
}

void Peer::withdraw_reports(RoundIndex from) {
  world_.on_reports_withdrawn(*this, from);
  std::erase_if(disk_.pending, [from](const wire::RoundReport& report) { return report.round >= from; });
}

std::optional<Digest> Peer::prove_state(const Hash128& challenge, const Digest& wanted) {
  if (digest() != wanted) return std::nullopt;
  return state::holding_proof(challenge.bytes, wanted, state());
}

void Peer::save_checkpoint(RoundIndex round, const Digest&) {
  disk_.round = round;
  disk_.state = learner_->state();
}

}  // namespace starling::sim
