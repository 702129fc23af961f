#include "client/daemon/project_run.h"

#include <cstdint>
#include <utility>

#include "client/daemon/run_parts.h"
#include "client/session/byte_tokens.h"
#include "shared/base/log.h"
#include "shared/run/epochs.h"
#include "shared/swarm/plausible.h"

namespace starling::daemon {
namespace {

// True if any of it must be given back.
bool is_less(const trainer_link::TrainerShare& now, const trainer_link::TrainerShare& before) {
  const auto memory = [](const trainer_link::TrainerShare& share) {
    return share.memory_bytes == 0 ? UINT64_MAX : share.memory_bytes;
  };
  return now.threads < before.threads || memory(now) < memory(before) ||
         now.gpu_memory_percent < before.gpu_memory_percent;
}

Result<std::string> continue_bytes(RunParts& parts, const std::string& prompt, int count, double temperature) {
  STARLING_ASSIGN(const std::vector<int> tokens,
                  parts.trainer->sample_tokens(session::tokens_of_bytes(prompt), count, temperature));
  return session::bytes_of_tokens(tokens);
}

Result<std::string> continue_tokens(RunParts& parts, const std::string& prompt, int count, double temperature) {
  if (!parts.tokenizer) {
    return Error{ErrorCode::unsupported,
                 "sample text: this run publishes no tokenizer, so nobody here knows what its tokens say; its operator "
                 "can make another run of text that `starling-coordinator data prepare` prepares now"};
  }
  STARLING_ASSIGN(std::vector<int> tokens, parts.tokenizer->tokens_of(prompt));
  const std::size_t prompt_tokens = tokens.size();
  STARLING_ASSIGN(const std::vector<int> more, parts.trainer->sample_tokens(tokens, count, temperature));
  tokens.insert(tokens.end(), more.begin(), more.end());
  return parts.tokenizer->text_of(tokens, prompt_tokens);
}

// For any other model the trainer says why it writes no text.
bool writes_tokens(const wire::RunManifest& manifest) {
  return wire::writes_text(manifest.model) && manifest.data.kind == wire::DataKind::tokens;
}

}  // namespace

SampleCount ProjectRun::samples_max() const {
  return swarm::member_samples_max(parts_->manifest.target_batch_size, parts_->manifest.micro_batch_size);
}

Result<std::unique_ptr<ProjectRun>> ProjectRun::create(const Threads& threads, const RunOptions& options,
                                                       const RunInputs& inputs) {
  STARLING_ASSIGN(RunParts parts, open_run(threads.clock, options, inputs));
  return std::unique_ptr<ProjectRun>(new ProjectRun(threads, options.outgoing, std::move(parts)));
}

ProjectRun::ProjectRun(const Threads& threads, Outgoing outgoing, RunParts parts)
    : threads_(threads), outgoing_(std::move(outgoing)), parts_(std::make_unique<RunParts>(std::move(parts))) {
  courier_.emplace();
  if (parts_->manifest.round.delay_parameter_updates) {
    parts_->stepper = std::make_unique<TaskLoop>(threads_.clock);
    parts_->stepper->start("stepper");
  }
  if (parts_->gossip != nullptr) {
    parts_->trainer->on_bucket_stepped([this](const wire::Bucket& bucket) { on_bucket_stepped(bucket); });
  }
  session::SessionOptions options;
  options.run_id = parts_->manifest.run_id;
  options.self = parts_->key.peer_id();
  options.micro_batch_size = parts_->manifest.micro_batch_size;
  options.samples_max = samples_max();
  options.leased = wire::samples_in_epochs(parts_->manifest);
  options.listen_port = parts_->network->port();
  options.delay_parameter_updates = parts_->manifest.round.delay_parameter_updates;
  options.initial_state_digest = parts_->manifest.initial_state_digest;
  options.seed = mix64(static_cast<std::uint64_t>(threads_.clock.wall_now().unix_ms) ^ options.self.bytes[0]);
  session::Session::Mediator& hands = *this;
  parts_->session = std::make_unique<session::Session>(options, parts_->initial, hands);
}

ProjectRun::~ProjectRun() = default;

void ProjectRun::start(const Permission& permission, Listener listener) {
  listener_ = std::move(listener);
  if (parts_->shards != nullptr) {
    parts_->shards->on_arrival([this] { deliver([this](TimePoint now) { parts_->session->retry_now(now); }); });
  }
  obey(permission);
  parts_->session->start(threads_.clock.now());
  after_event();
}

void ProjectRun::stop() {
  stopped_ = true;
  threads_.control.set_timer(kNever, nullptr);
  courier_.reset();
  if (parts_->shards != nullptr) parts_->shards->allow(false);
  parts_->network.reset();  // the others notice at once
  parts_->trainer->stop();  // a computation under way may be long, and nobody will hear its result
}

void ProjectRun::finish_on_trainer(bool keep_state) {
  parts_->stepper.reset();  // after the step under way
  if (keep_state) save_last_state();
  parts_->trainer.reset();
  parts_->shards.reset();
  parts_->port_mapper.reset();  // the router is asked to close the port
}

void ProjectRun::save_last_state() {
  const session::Session::View view = parts_->session->view(threads_.clock.now());
  // A download that was under way has not touched the state. A step was still finished, unknown to the session.
  const SnapshotKeeper::Held held = parts_->snapshots->held();
  if (held.digest.is_zero() || (view.rounds_done == 0 && !view.synced)) return;
  const bool stepped = held.digest != view.state_digest;
  const storage::CheckpointInfo info{parts_->manifest.run_id, stepped ? held.round : view.state_round, held.digest};
  if (const Status saved = parts_->checkpoints.save(info, parts_->trainer->state()); !saved.ok()) {
    log_error("save the model before leaving: {}", saved.error().message);
  }
}

// Called often, and each change waits for the net thread.
void ProjectRun::limit_traffic(const Permission& permission) {
  const std::pair limits(permission.upload_bytes_per_s, permission.download_bytes_per_s);
  if (limits == traffic_limits_) return;
  traffic_limits_ = limits;
  parts_->network->limit(limits.first, limits.second);
}

void ProjectRun::obey(const Permission& permission) {
  bool took_something = false;
  {
    const MutexLock lock(share_mutex_);
    const auto before = share_;
    if (permission.train) {
      share_ = permission.share;
    } else {
      share_.reset();
    }
    took_something = !share_ || (before && is_less(*share_, *before));
  }
  if (took_something) parts_->trainer->stop();
  if (parts_->shards != nullptr) {
    parts_->shards->allow(permission.train && permission.coordinator);
    parts_->shards->set_disk_bytes_left(permission.disk_bytes_left);
  }
  coordinator_allowed_ = permission.coordinator;
  if (std::exchange(spares_data_, permission.spares_data) && !spares_data_)
    parts_->session->tell_soon(threads_.clock.now());
  if (!coordinator_allowed_) courier_->end();
  relay_bytes_per_s_ = permission.relay_bytes_per_s;
  port_mapping_ = permission.port_mapping;
  keep_port_open();
  limit_traffic(permission);
  *parts_->serving = permission.train;
  if (!permission.train) stop_fetch();
  parts_->session->set_paused(threads_.clock.now(), !permission.train, permission.reason);
  after_event();
}

std::optional<trainer_link::TrainerShare> ProjectRun::allowed_share() const {
  const MutexLock lock(share_mutex_);
  return share_;
}

void ProjectRun::sample_text(const std::string& prompt, int count, double temperature,
                             std::function<void(Result<std::string>)> done) {
  threads_.trainer.post([this, prompt, count, temperature, done = std::move(done)] {
    if (stopped_) return done(Error{ErrorCode::unavailable, "the run was stopped"});
    const auto share = allowed_share();
    if (!share) return done(Error{ErrorCode::unavailable, "training was paused meanwhile"});
    parts_->trainer->set_share(*share);
    done(writes_tokens(parts_->manifest) ? continue_tokens(*parts_, prompt, count, temperature)
                                         : continue_bytes(*parts_, prompt, count, temperature));
  });
}

void ProjectRun::deliver(std::function<void(TimePoint now)> event) {
  threads_.control.post([this, event = std::move(event)] {
    if (stopped_) return;
    event(threads_.clock.now());
    after_event();
  });
}

void ProjectRun::after_event() {
  rest_trainer_if_paused();
  const TimePoint deadline = parts_->session->next_deadline(threads_.clock.now());
  threads_.control.set_timer(deadline, [this] {
    if (stopped_) return;
    parts_->session->on_timer(threads_.clock.now());
    after_event();
  });
  if (listener_.changed) listener_.changed();
}

TaskLoop& ProjectRun::step_loop() { return parts_->stepper != nullptr ? *parts_->stepper : threads_.trainer; }

void ProjectRun::rest_trainer_if_paused() {
  const bool paused = parts_->session->view(threads_.clock.now()).activity.phase == session::Phase::paused;
  if (paused && !trainer_resting_) {
    threads_.trainer.post([this] {
      if (!stopped_) parts_->trainer->stop();
    });
  }
  trainer_resting_ = paused;
}

}  // namespace starling::daemon
