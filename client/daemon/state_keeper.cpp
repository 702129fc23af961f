#include "client/daemon/state_keeper.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "shared/base/log.h"
#include "shared/base/verify.h"
#include "shared/state/initial_state.h"
#include "shared/state/state_digest.h"

namespace starling::daemon {

Result<session::InitialState> load_state(const wire::RunManifest& manifest, session::Trainer& trainer,
                                         StateParts& parts) {
  storage::CheckpointStore& checkpoints = parts.checkpoints;
  session::InitialState initial;
  while (true) {
    std::optional<storage::CheckpointInfo> loaded;
    auto digest = parts.snapshots->change(0, [&]() -> Status {
      auto newest = checkpoints.load_newest(trainer.state());
      if (newest.ok()) {
        loaded = *newest;
        return {};
      }
      if (newest.error().code != ErrorCode::not_found) return newest.error();
      return trainer.initialize();
    });
    if (!digest.ok()) return digest.error().prefixed("prepare the model");
    initial.digest = *digest;
    const Status first = state::check_initial_state(manifest, *digest);
    if (!loaded.has_value()) {
      STARLING_TRY(first);
      return initial;
    }
    const bool whole = loaded->state_digest == *digest;
    if (whole && (loaded->round > 0 || first.ok())) {
      initial.round = loaded->round;
      return initial;
    }
    STARLING_TRY(checkpoints.set_newest_aside(whole ? "it is of round 0, and not the state that the project has signed"
                                                    : "its content does not have the digest it claims"));
  }
}

StateKeeper::StateKeeper(RunThreads& threads, const wire::RunManifest& manifest, session::Trainer& trainer,
                         MakeInitial make_initial, StateParts parts)
    : threads_(threads),
      manifest_(manifest),
      trainer_(trainer),
      make_initial_(std::move(make_initial)),
      snapshots_(std::move(parts.snapshots)),
      serving_(std::move(parts.serving)),
      checkpoints_(std::move(parts.checkpoints)),
      previous_(std::move(parts.previous)),
      memory_(trainer.state()),
      floats_(trainer.layout().size()),
      damaged_(checkpoints_.problems()) {}

Result<Digest> StateKeeper::step(RoundIndex round, std::span<const float> average) {
  // The step is taken even if the state before it cannot be kept: should it not count, the state is downloaded.
  const Status kept = previous_.keep(trainer_.state(), snapshots_->held().digest);
  if (!kept.ok()) log_warning("{}", kept.error().message);
  return snapshots_->change(round + 1, [&] { return trainer_.step(round, average); });
}

void StateKeeper::keep_audited(RoundIndex round) {
  storage::PreviousState::Given given = previous_.give();
  if (!given.file) return;  // the order is refused, and another member gets it
  const Status kept = audited_.keep(round, std::move(given), trainer_.layout().parameter_count);
  if (!kept.ok()) log_warning("{}", kept.error().message);
}

Status StateKeeper::save(RoundIndex round, const Digest& digest) {
  return checkpoints_.save({manifest_.run_id, round, digest}, trainer_.state());
}

void StateKeeper::install(RoundIndex round, const Digest& digest, std::span<const float> state) {
  threads_.wait_for_steps();  // one may still save the state before
  auto installed = snapshots_->change(round, [&]() -> Status {
    std::copy(state.begin(), state.end(), trainer_.state().begin());
    return {};
  });
  VERIFY(installed.ok() && *installed == digest);
}

Status StateKeeper::restore_previous(RoundIndex round, const Digest& digest) {
  threads_.wait_for_steps();
  auto restored = snapshots_->change(round, [&] { return previous_.restore(digest, trainer_.state()); });
  if (restored.ok() && *restored != digest) {
    return Error{ErrorCode::corrupt, "the state before the last step is not what was kept"};
  }
  return restored.status();
}

Result<std::vector<float>> StateKeeper::make_initial() const {
  std::vector<float> state(floats_);
  STARLING_TRY(make_initial_(state));
  STARLING_TRY(state::check_initial_state(manifest_, state::state_digest(state)));
  return state;
}

void StateKeeper::save_last(const session::Session::View& view) {
  // A download that was under way has not touched the state. A step was still finished, unknown to the session.
  const SnapshotKeeper::Held held = snapshots_->held();
  if (held.digest.is_zero() || (view.rounds_done == 0 && !view.synced)) return;
  const bool stepped = held.digest != view.state_digest;
  if (const Status saved = save(stepped ? held.round : view.state_round, held.digest); !saved.ok()) {
    log_error("save the model before leaving: {}", saved.error().message);
  }
}

std::shared_ptr<const transport::StateSnapshot> StateKeeper::find(RoundIndex round, const Digest& digest) {
  return snapshots_->find(round, digest);
}

}  // namespace starling::daemon
