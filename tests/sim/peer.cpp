#include "tests/sim/peer.h"

#include <algorithm>
#include <utility>

#include "client/transport/state_digest.h"
#include "shared/swarm/plausible.h"
#include "tests/sim/quadratic_problem.h"

namespace starling::sim {
namespace {

constexpr float kLearningRate = 0.05F;
constexpr Duration kStepTime = std::chrono::milliseconds(2);
constexpr std::size_t kEarlyBeginsMax = 4;
constexpr Duration kDonorAnswer = std::chrono::milliseconds(100);  // a donor without that state says so at once

}  // namespace

Peer::Peer(World& world, int index, PeerId id, double samples_per_s)
    : world_(world), index_(index), id_(id), samples_per_s_(samples_per_s) {}

Peer::~Peer() = default;

Digest Peer::digest() const { return transport::state_digest(std::span<const float>(parameters_)); }

void Peer::start() {
  VERIFY(!up());
  ++incarnation_;
  frozen_until_ = {};
  waiting_.clear();
  session_timer_ = engine_timer_ = kNever;
  session::InitialState initial;
  if (disk_.parameters.empty()) {
    parameters_.assign(static_cast<std::size_t>(world_.options().parameters), kStart);
  } else {
    parameters_ = disk_.parameters;
    initial.round = disk_.round;
  }
  for (std::vector<float>& gradient : gradients_) gradient.assign(parameters_.size(), 0.0F);
  initial.digest = digest();
  initial.unacknowledged = disk_.pending;
  session::SessionOptions options;
  options.run_id = "sim";
  options.self = id_;
  options.micro_batch_size = kMicroBatch;
  options.samples_max = swarm::member_samples_max(world_.options().target_batch_size, kMicroBatch);
  options.leased = world_.options().epoch_samples >= world_.options().target_batch_size;  // wire::samples_in_epochs
  options.listen_port = 1000 + index_;
  options.seed = mix64(world_.options().seed ^ static_cast<std::uint64_t>(index_) << 32 ^ incarnation_);
  options.checkpoint_interval = std::chrono::seconds(3);
  options.delay_parameter_updates = world_.options().delay_parameter_updates;
  session::Session::Mediator& hands = *this;
  session_ = std::make_unique<session::Session>(options, initial, hands);
  if (world_.options().speeds_known) {
    session_->set_link_speeds(line_.upload_bytes_per_s, line_.download_bytes_per_s);
  }
  session_->start(world_.scheduler().now());
  after_session_event();
}

void Peer::crash() {
  ++incarnation_;
  session_.reset();
  current_.reset();
  ended_ = averaging::EndedRounds();
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

void Peer::start_batch(const wire::SampleRange& samples, const session::BatchTarget& target) {
  const double seconds = static_cast<double>(samples.count) / samples_per_s_;
  const std::size_t target_gradient = target.next_round ? 1 - present_ : present_;
  schedule(world_.scheduler().now() + from_seconds(seconds),
           [this, samples, first = target.first, target_gradient, seconds] {
             std::vector<float>& gradient = gradients_[target_gradient];
             auto& leased = leased_in_[target_gradient];
             if (first) {
               std::fill(gradient.begin(), gradient.end(), 0.0F);
               leased.clear();
             }
             for (SampleCount k = 0; samples.epoch != wire::kNoEpoch && k < samples.count; ++k) {
               leased.emplace_back(samples.epoch, samples.first + k);
             }
             add_gradient(samples, world_.options().seed, parameters_, gradient);
             session_->on_batch_done(world_.scheduler().now(), session::BatchReport{samples.count, 1.0, seconds});
             after_session_event();
           });
}

void Peer::start_averaging(const wire::GroupInfo& group, averaging::Rank self, const averaging::Stake& stake) {
  take_leave();
  current_ = std::make_unique<Averaging>();
  Averaging& round = *current_;
  round.group = group;
  note_members(round);
  round.self = self;
  round.input = gradients_[present_];
  round.output.assign(round.input.size(), 0.0F);
  round.began = world_.scheduler().now();
  world_.on_gradient_brought(*this, group, stake, leased_in_[present_]);
  const averaging::RoundVectors vectors{stake.weight, round.input, round.output, {}, stake.draw};
  averaging::AllReduceOptions options;
  options.weight_max = swarm::member_samples_max(world_.options().target_batch_size, kMicroBatch);
  round.engine = std::make_unique<averaging::StagedReduce>(group, self, vectors, options);
  round.engine->start(world_.scheduler().now());
  // The session must not hear of an end before start_averaging has returned.
  schedule(world_.scheduler().now(), [this, id = group.id] {
    if (averages(id)) greet(*current_);
  });
}

void Peer::take_leave() {
  if (!current_) return;
  ended_.add(current_->group);
  for (averaging::Rank rank = 0; rank < current_->peer_of.size(); ++rank) {
    if (rank == current_->self || current_->engine->finished_with(rank)) continue;
    partings_.emplace_back(current_->peer_of[rank], current_->group.id);
  }
  current_.reset();
}

void Peer::note_members(Averaging& round) const {
  for (const wire::Endpoint& contact : wire::contacts(round.group)) {
    const Peer* peer = world_.find(contact.peer);
    VERIFY(peer != nullptr);
    const auto index = static_cast<std::size_t>(peer->index());
    if (round.rank_of.size() <= index) round.rank_of.resize(index + 1, -1);
    round.rank_of[index] = static_cast<std::int32_t>(round.peer_of.size());
    round.peer_of.push_back(peer->index());
  }
  round.life_of.resize(round.peer_of.size());
}

// Who is down refuses the connection; who was faster has sent its greeting.
void Peer::greet(Averaging& round) {
  const TimePoint now = world_.scheduler().now();
  for (averaging::Rank rank = 0; rank < round.peer_of.size(); ++rank) {
    if (rank == round.self) continue;
    if (!world_.peer(round.peer_of[rank]).up()) round.engine->on_link_lost(now, rank, "connection refused");
    std::erase_if(early_[round.peer_of[rank]], [&](const Frame& frame) {  // a begin
      if (!wire::has_stage(round.group, frame.header.group)) return false;
      round.life_of[rank] = frame.from_life;
      (void)round.engine->on_frame(now, rank, frame.header, frame.payload);
      return true;
    });
  }
  after_engine_event(round);
}

bool Peer::averages(const GroupId& group) const { return current_ && wire::has_stage(current_->group, group); }

void Peer::on_frame(const Frame& frame) {
  if (frame.to_life != incarnation_ || !up()) return;
  if (!frozen()) return take_frame(frame);
  waiting_.push_back([this, frame] { take_frame(frame); });
}

void Peer::on_uplink_free() {
  if (!up()) return;
  if (!frozen()) return pump();
  waiting_.push_back([this] { pump(); });
}

void Peer::take_frame(const Frame& frame) {
  const wire::FrameHeader& header = frame.header;
  if (averages(header.group) || (current_ && wire::is_sign_of_life(header.type))) return take_round_frame(frame);
  if (header.type != wire::FrameType::begin) return;
  if (ended_.has(header.group)) {
    partings_.emplace_back(frame.from, header.group);
    return pump();
  }
  std::deque<Frame>& begins = early_[frame.from];
  std::erase_if(begins, [&](const Frame& begin) { return begin.header.group == header.group; });
  if (begins.size() == kEarlyBeginsMax) begins.pop_front();
  begins.push_back(frame);
}

void Peer::take_round_frame(const Frame& frame) {
  const auto from = static_cast<std::size_t>(frame.from);
  if (from >= current_->rank_of.size() || current_->rank_of[from] < 0) return;
  const auto rank = static_cast<averaging::Rank>(current_->rank_of[from]);
  const TimePoint now = world_.scheduler().now();
  link_holds(*current_, rank, frame.from_life);
  if (frame.header.type == wire::FrameType::over) {
    current_->engine->on_link_lost(now, rank, "the round is over there", std::nullopt);
  } else {
    world_.on_frame_taken(*this, world_.peer(frame.from),
                          current_->engine->on_frame(now, rank, frame.header, frame.payload));
  }
  after_engine_event(*current_);
}

bool Peer::link_holds(Averaging& averaging, averaging::Rank rank, std::uint64_t life) {
  const std::uint64_t known = std::exchange(averaging.life_of[rank], life);
  if (known == 0 || known == life) return true;
  averaging.engine->on_link_lost(world_.scheduler().now(), rank, "connection reset");
  return false;
}

void Peer::on_link_lost(int from) {
  schedule(world_.scheduler().now(), [this, from = static_cast<std::size_t>(from)] {
    if (!current_) return;
    if (from < current_->rank_of.size() && current_->rank_of[from] >= 0) {
      const auto rank = static_cast<averaging::Rank>(current_->rank_of[from]);
      current_->engine->on_link_lost(world_.scheduler().now(), rank, "connection reset");
    }
    after_engine_event(*current_);
  });
}

void Peer::after_engine_event(Averaging& averaging) {
  pump();
  const TimePoint now = world_.scheduler().now();
  const TimePoint deadline = averaging.engine->next_deadline();
  if (deadline != kNever && (engine_timer_ == kNever || engine_timer_ <= now || deadline < engine_timer_)) {
    engine_timer_ = std::max(deadline, now);
    schedule(engine_timer_, [this, when = engine_timer_] {
      if (engine_timer_ != when) return;
      engine_timer_ = kNever;
      if (!current_) return;
      current_->engine->on_timer(world_.scheduler().now());
      after_engine_event(*current_);
    });
  }
  if (averaging.engine->outcome() == nullptr || averaging.told) return;
  averaging.told = true;
  const averaging::AveragingOutcome outcome = *averaging.engine->outcome();
  world_.on_averaging_ended(*this, now - averaging.began, outcome);
  session_->on_averaged(now, outcome);
  after_session_event();
}

void Peer::pump() {
  if (world_.scheduler().now() < frozen_until_ || !world_.network().uplink_free(index_)) return;
  if (!partings_.empty()) return send_parting();
  if (current_) send_next(*current_);
}

bool Peer::send_next(Averaging& averaging) {
  while (true) {
    for (const averaging::Rank rank : averaging.engine->take_ready()) averaging.ready.push_back(rank);
    if (averaging.ready.empty()) return false;
    const averaging::Rank rank = averaging.ready.front();
    averaging.ready.pop_front();
    averaging::OutgoingFrame outgoing;
    if (!averaging.engine->next_frame(world_.scheduler().now(), rank, outgoing)) continue;
    averaging.ready.push_back(rank);  // there may be more for this peer; the others go first
    const Peer& to = world_.peer(averaging.peer_of[rank]);
    if (!to.up() || !link_holds(averaging, rank, to.incarnation())) continue;
    std::unique_ptr<Frame> frame = frame_to(to);
    frame->header = *wire::decode_header(
        std::span<const std::uint8_t, wire::kFrameHeaderBytes>(outgoing.head.data(), wire::kFrameHeaderBytes));
    frame->payload.assign(outgoing.head.begin() + wire::kFrameHeaderBytes, outgoing.head.end());
    frame->payload.insert(frame->payload.end(), outgoing.payload.begin(), outgoing.payload.end());
    if (sends_garbage() && frame->header.type == wire::FrameType::contribution) {
      std::fill(frame->payload.begin(), frame->payload.end(), std::uint8_t{0xff});
    }
    world_.network().send(std::move(frame));
    return true;
  }
}

std::unique_ptr<Frame> Peer::frame_to(const Peer& to) {
  std::unique_ptr<Frame> frame = world_.network().blank_frame();
  frame->from = index_;
  frame->to = to.index();
  frame->from_life = incarnation_;
  frame->to_life = to.incarnation();
  return frame;
}

void Peer::send_parting() {
  const auto [index, group] = partings_.front();
  partings_.pop_front();
  const Peer& to = world_.peer(index);
  if (!to.up()) return pump();
  std::unique_ptr<Frame> frame = frame_to(to);
  frame->header = {.type = wire::FrameType::over, .payload_bytes = 0, .group = group};
  frame->payload.clear();
  world_.network().send(std::move(frame));
}

void Peer::start_step(RoundIndex) {
  schedule(world_.scheduler().now() + kStepTime, [this] {
    for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i] -= kLearningRate * current_->output[i];
    present_ = 1 - present_;
    session_->on_step_done(world_.scheduler().now(), digest());
    after_session_event();
  });
}

void Peer::start_evaluation() {
  schedule(world_.scheduler().now() + kStepTime, [this] {
    session_->on_evaluated(world_.scheduler().now(), session::Evaluation{1.0, 1});
    after_session_event();
  });
}

void Peer::fetch_state(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& wanted) {
  // The donor copies its state when asked; the copy then takes its time on the wire.
  Peer* donor = nullptr;
  for (const wire::Endpoint& endpoint : donors) {
    Peer* candidate = world_.find(endpoint.peer);
    if (candidate != nullptr && candidate->up() && candidate->digest() == wanted) donor = candidate;
  }
  const auto end_in = [&](Duration took, std::function<Status()> end) {
    schedule(world_.scheduler().now() + took, [this, end = std::move(end), round, wanted, serial = ++fetches_] {
      if (serial != fetches_) return;  // given up for a newer one
      session_->on_state_fetched(world_.scheduler().now(), round, wanted, end());
      after_session_event();
    });
  };
  if (donor == nullptr) {
    end_in(kDonorAnswer, [] { return Error{ErrorCode::unavailable, "no donor holds that state"}; });
    return;
  }
  const double bytes = static_cast<double>(parameters_.size() * sizeof(float));
  const double rate = std::min(world_.network().rates(donor->index()).upload_bytes_per_s,
                               world_.network().rates(index_).download_bytes_per_s);
  const Duration took = 2 * world_.network().path(donor->index(), index_) +
                        from_seconds(std::max(bytes / rate, world_.options().download_s_min));
  end_in(took, [this, donor, life = donor->incarnation(), copy = donor->parameters_]() -> Status {
    if (donor->incarnation() != life) return Error{ErrorCode::unavailable, "the donor vanished"};
    parameters_ = copy;
    return {};
  });
}

void Peer::fetch_checkpoint(const wire::Artefact&, RoundIndex round, const Digest& wanted) {
  const double bytes = static_cast<double>(parameters_.size() * sizeof(float));
  const Duration took = from_seconds(bytes / world_.network().rates(index_).download_bytes_per_s);
  schedule(world_.scheduler().now() + took, [this, round, wanted, serial = ++fetches_] {
    if (serial != fetches_) return;  // given up for a newer one
    Status fetched;
    const std::vector<float>& kept = world_.kept_state();
    if (transport::state_digest(std::span<const float>(kept)) == wanted) {
      parameters_ = kept;
    } else {
      fetched = Error{ErrorCode::not_found, "the coordinator keeps another state by now"};
    }
    session_->on_state_fetched(world_.scheduler().now(), round, wanted, fetched);
    after_session_event();
  });
}

// At once, so that it is the state that was asked for.
void Peer::send_checkpoint(RoundIndex round, const Digest& wanted) { world_.take_checkpoint(*this, round, wanted); }

void Peer::record_round(const wire::RoundReport& report, Duration) {
  disk_.pending.push_back(report);
  world_.on_round_recorded(*this, report);
}

void Peer::forget_reports(RoundIndex below) {
  world_.on_reports_forgotten(*this, below);
  std::erase_if(disk_.pending, [below](const wire::RoundReport& report) { return report.round < below; });
}

void Peer::save_checkpoint(RoundIndex round, const Digest&) {
  disk_.round = round;
  disk_.parameters = parameters_;
}

}  // namespace starling::sim
