// The run as the session's mediator: a request starts on the thread whose work it is, and its end is delivered.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "client/daemon/project_run.h"
#include "client/daemon/run_parts.h"
#include "shared/base/log.h"
#include "shared/protocol/heartbeat.h"
#include "shared/run/moments.h"
#include "shared/state/initial_state.h"
#include "shared/state/state_digest.h"

namespace starling::daemon {
namespace {

constexpr std::int64_t kSparingHeartbeatMs = 10 * 60 * 1000;  // some 13 MB in a month
// a caller that is not a member any more is refused each time
constexpr Duration kRenewRetry = std::chrono::minutes(1);

}  // namespace

struct ProjectRun::Fetch {
  Fetch(RoundIndex of_round, const Digest& with_digest) : round(of_round), digest(with_digest) {}
  RoundIndex round;
  Digest digest;
  std::atomic<bool> ended{false};  // set on the net thread
};

void ProjectRun::send_heartbeat(const wire::Heartbeat& session_heartbeat) {
  if (!coordinator_allowed_) {
    deliver([this](TimePoint now) {
      parts_->session->on_heartbeat_failed(now, Error{ErrorCode::unavailable, "the network is switched off"});
    });
    return;
  }
  wire::Heartbeat heartbeat = session_heartbeat;
  tell_reach(heartbeat);
  threads_.coordinator.post([this, heartbeat = std::move(heartbeat)]() mutable {
    if (stopped_) return;
    if (outgoing_.heartbeat) outgoing_.heartbeat(heartbeat);
    auto reply = parts_->calls.heartbeat(heartbeat);
    deliver([this, reply = std::move(reply)](TimePoint now) mutable {
      if (!reply.ok()) {
        if (reply.error().code == ErrorCode::unauthenticated) renew_refused_certificate(now);
        if (reply.error().code == ErrorCode::not_found) listener_.not_served(parts_->manifest.run_id);
        parts_->session->on_heartbeat_failed(now, reply.error());
        return;
      }
      note_line();
      if (!reply->notice.empty() && reply->notice != notice_) log_warning("coordinator: {}", reply->notice);
      notice_ = reply->notice;
      follow_reach(*reply);
      if (reply->renew_certificate) renew_certificate();
      if (spares_data_) reply->next_heartbeat_ms = std::max(reply->next_heartbeat_ms, kSparingHeartbeatMs);
      parts_->session->on_heartbeat_reply(now, *reply);
    });
  });
}

void ProjectRun::note_line() {
  const transport::NetworkStats stats = parts_->network->stats();
  parts_->session->set_line(stats.upload_bytes_per_s, stats.download_bytes_per_s, to_seconds(stats.round_trip));
}

// The certificate runs out while this computer sleeps or the coordinator is away: then no heartbeat comes back that
// asks for a new one.
void ProjectRun::renew_refused_certificate(TimePoint now) {
  if (now < renew_not_before_) return;
  renew_not_before_ = now + kRenewRetry;
  renew_certificate();
}

void ProjectRun::renew_certificate() {
  if (renewing_) return;
  renewing_ = true;
  threads_.coordinator.post([this] {
    if (stopped_) return;
    auto fresh = parts_->calls.renew_certificate();
    deliver([this, fresh = std::move(fresh)](TimePoint) {
      renewing_ = false;
      if (!fresh.ok()) {
        log_warning("renew this computer's certificate: {}", fresh.error().message);
        return;
      }
      parts_->project.certificate_pem = *fresh;
      if (const Status saved = parts_->files.save_project(parts_->project); !saved.ok()) {
        log_warning("keep the new certificate: {}", saved.error().message);
      }
      auto tls = crypto::TlsContext::peer(parts_->project.ca_pem, {*fresh, parts_->key});
      if (tls.ok()) parts_->network->renew_certificate(std::move(*tls));
    });
  });
}

void ProjectRun::report_unusable(const wire::UnusableSamples& samples) {
  if (!coordinator_allowed_) return;
  threads_.coordinator.post([this, samples] {
    if (stopped_) return;
    const Status told = parts_->calls.report_unusable(samples);
    log_warning("{} sample(s) can not be trained on{}", samples.draws.size(),
                told.ok() ? "; the coordinator knows" : ": " + told.error().message);
  });
}

void ProjectRun::start_evaluation() {
  threads_.trainer.post([this] {
    if (stopped_) return;
    const auto share = allowed_share();
    if (share) parts_->trainer->set_share(*share);
    auto evaluation = share ? parts_->trainer->evaluate()
                            : Result<session::Evaluation>(Error{ErrorCode::unavailable, "training is paused"});
    deliver(
        [this, evaluation = std::move(evaluation)](TimePoint now) { parts_->session->on_evaluated(now, evaluation); });
  });
}

void ProjectRun::fetch_state(std::span<const wire::Endpoint> donors, RoundIndex round, const Digest& digest) {
  end_meetings();
  // The download has memory of its own: a failed one must leave the replica unchanged.
  auto state = std::make_shared<std::vector<float>>(parts_->trainer->layout().size());
  transport::StateFetch fetch;
  fetch.donors.assign(donors.begin(), donors.end());
  fetch.round = round;
  fetch.state_digest = digest;
  fetch.out = *state;
  fetch.form = wire::state_form(parts_->manifest);
  fetch_ = std::make_shared<Fetch>(round, digest);
  fetch.done = [this, state, round, digest, under_way = fetch_](const Status& status) {
    under_way->ended = true;
    if (status.ok()) {
      install_state(round, digest, state);
    } else {
      state_fetched(round, digest, status);
    }
  };
  parts_->network->cancel_fetch();
  courier_->end();
  if (const Status begun = parts_->network->fetch_state(std::move(fetch)); !begun.ok()) {
    fetch_->ended = true;
    state_fetched(round, digest, begun);
  }
}

void ProjectRun::fetch_checkpoint(const wire::Artefact& file, RoundIndex round, const Digest& digest) {
  end_meetings();
  parts_->network->cancel_fetch();
  fetch_ = std::make_shared<Fetch>(round, digest);
  const auto bytes = static_cast<std::int64_t>(parts_->trainer->layout().size() * sizeof(float));
  auto calls = CoordinatorCalls::create(parts_->project, parts_->key, threads_.clock, &parts_->line);
  if (!calls.ok() || file.bytes != bytes) {
    fetch_->ended = true;
    const Error other_size{ErrorCode::corrupt, "the copy that the coordinator keeps has another size than the model"};
    return state_fetched(round, digest, calls.ok() ? other_size : calls.error());
  }
  courier_->fetch(std::move(*calls), {file, digest, parts_->files.dir() / "fetched-state"},
                  [this, round, digest, under_way = fetch_](const Result<CheckpointCourier::State>& state) {
                    if (under_way->ended.exchange(true)) return;
                    if (!state.ok()) return state_fetched(round, digest, state.error());
                    install_state(round, digest, *state);
                  });
}

void ProjectRun::make_initial_state(const Digest& digest) {
  end_meetings();
  parts_->network->cancel_fetch();
  courier_->end();
  fetch_ = std::make_shared<Fetch>(0, digest);
  fetch_->ended = true;  // seconds at most: no pause interrupts it
  threads_.trainer.post([this, digest] {
    if (stopped_) return;
    auto state = std::make_shared<std::vector<float>>(parts_->trainer->layout().size());  // like in fetch_state
    Status made = parts_->trainer->make_initial_state(*state);
    if (made.ok()) made = state::check_initial_state(parts_->manifest, state::state_digest(*state));
    if (!made.ok()) return state_fetched(0, digest, made);
    install_state(0, digest, std::move(state));
  });
}

// The step is taken even if this fails: should it not count, the state is downloaded.
void ProjectRun::keep_previous_state() {
  const Status kept = parts_->previous.keep(parts_->trainer->state(), parts_->snapshots->held().digest);
  if (!kept.ok()) log_warning("{}", kept.error().message);
}

void ProjectRun::forget_previous_state() {
  step_loop().post([this] {
    if (!stopped_) parts_->previous.forget();
  });
}

void ProjectRun::restore_previous_state(RoundIndex round, const Digest& digest) {
  end_meetings();
  parts_->network->cancel_fetch();
  courier_->end();
  fetch_ = std::make_shared<Fetch>(round, digest);
  fetch_->ended = true;  // seconds at most: no pause interrupts it
  threads_.trainer.post([this, round, digest] {
    if (stopped_) return;
    if (parts_->stepper != nullptr) parts_->stepper->run_and_wait([] {});
    auto restored =
        parts_->snapshots->change(round, [&] { return parts_->previous.restore(digest, parts_->trainer->state()); });
    Status status = restored.status();
    if (restored.ok() && *restored != digest) {
      status = Error{ErrorCode::corrupt, "the state before the last step is not what was kept"};
    }
    state_fetched(round, digest, status);
  });
}

void ProjectRun::send_checkpoint(RoundIndex round, const Digest& digest) {
  if (!coordinator_allowed_ || courier_->is_sending(digest)) return;
  auto state = parts_->snapshots->find(round, digest);
  auto calls = CoordinatorCalls::create(parts_->project, parts_->key, threads_.clock, &parts_->line);
  if (state == nullptr || !calls.ok()) return;
  courier_->send(std::move(*calls), std::move(state));
}

// A download whose end is on its way already is left to arrive.
void ProjectRun::stop_fetch() {
  if (fetch_ == nullptr || fetch_->ended) return;
  parts_->network->cancel_fetch();
  courier_->end();
  if (fetch_->ended.exchange(true)) return;
  state_fetched(fetch_->round, fetch_->digest, Error{ErrorCode::unavailable, "interrupted by a pause"});
}

void ProjectRun::state_fetched(RoundIndex round, const Digest& digest, const Status& status) {
  deliver([this, round, digest, status](TimePoint now) {
    note_line();  // the download's figures, for the plan of the first round
    parts_->session->on_state_fetched(now, round, digest, status);
  });
}

void ProjectRun::install_state(RoundIndex round, const Digest& digest, std::shared_ptr<std::vector<float>> state) {
  threads_.trainer.post([this, round, digest, state = std::move(state)] {
    if (stopped_) return;
    if (parts_->stepper != nullptr) parts_->stepper->run_and_wait([] {});  // it may still save the one before
    auto installed = parts_->snapshots->change(round, [&]() -> Status {
      std::copy(state->begin(), state->end(), parts_->trainer->state().begin());
      return {};
    });
    VERIFY(installed.ok() && *installed == digest);  // every chunk was checked on arrival
    state_fetched(round, digest, Status());
  });
}

void ProjectRun::record_round(const wire::RoundReport& report, Duration round_duration) {
  // On failure the coordinator still gets the report; only a crash before that would lose it.
  note_saving("keep finished rounds on disk", parts_->journal.record(report, round_duration), journal_problem_);
  note_round(report);
  begin_gossip(report);
}

void ProjectRun::forget_reports(RoundIndex below) {
  if (below <= forgotten_below_) return;
  forgotten_below_ = below;
  note_saving("keep finished rounds on disk", parts_->journal.forget(below), journal_problem_);
}

void ProjectRun::withdraw_reports(RoundIndex from) {
  forgotten_below_ = std::min(forgotten_below_, from);
  note_saving("keep finished rounds on disk", parts_->journal.withdraw(from), journal_problem_);
}

void ProjectRun::save_checkpoint(RoundIndex round, const Digest& digest) {
  step_loop().post([this, round, digest] {
    if (stopped_) return;
    const storage::CheckpointInfo info{parts_->manifest.run_id, round, digest};
    const Status saved = parts_->checkpoints.save(info, parts_->trainer->state());
    deliver([this, saved](TimePoint) { note_saving("save the model", saved, checkpoint_problem_); });
  });
}

void ProjectRun::note_saving(const char* what, const Status& saved, std::string& problem) {
  if (saved.ok()) {
    if (!problem.empty()) log_info("{}: the disk takes it again", what);
    problem.clear();
    return;
  }
  std::string now = fmt::format("{}: {}", what, saved.error().message);
  if (problem.empty()) log_error("{}; training goes on, and it is tried again", now);
  problem = std::move(now);
}

}  // namespace starling::daemon
