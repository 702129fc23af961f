#include "client/daemon/state_keeper.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "shared/state/initial_state.h"
#include "shared/state/state_digest.h"
#include "tests/client/trainer_link/tiny_run.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::daemon;

namespace {

// A replica at the state of round 0. Its trainer has no child, so that steps are taken by the process object itself.
struct Replica {
  Replica() {
    auto made = trainer_link::TrainerProcess::create(trainer_link::testing::tiny_options("no such program"));
    REQUIRE(made.ok());
    trainer = std::move(*made);
    auto snapshots = std::make_unique<SnapshotKeeper>(trainer->state());
    const auto named = snapshots->change(0, [&] { return trainer->initialize(); });
    REQUIRE(named.ok());
    first = *named;
    keeper = std::make_unique<StateKeeper>(
        threads, manifest, *trainer, [this](std::span<float> into) { return trainer->make_initial_state(into); },
        StateParts{std::move(snapshots), std::make_shared<std::atomic<bool>>(true), checkpoints(),
                   storage::PreviousState(folder.path())});
  }
  [[nodiscard]] storage::CheckpointStore checkpoints() const {
    const session::StateLayout layout = trainer->layout();
    return {folder.path() / "checkpoints", manifest.run_id, layout.parameter_count, layout.optimizer_vectors};
  }
  Digest step(RoundIndex round) {
    const std::vector<float> gradient(trainer->layout().parameter_count, 0.5F);
    const auto stepped = keeper->step(round, gradient);
    REQUIRE(stepped.ok());
    return *stepped;
  }
  // Returns the name of the newest checkpoint, or nothing.
  [[nodiscard]] std::optional<storage::CheckpointInfo> saved() const {
    std::vector<float> state(trainer->layout().size());
    auto newest = checkpoints().load_newest(state);
    if (!newest.ok()) return std::nullopt;
    CHECK(state::state_digest(state) == newest->state_digest);
    return *newest;
  }

  testing::TempDir folder;
  CorrectedClock clock;
  TaskLoop control{clock};
  TaskLoop other{clock};
  RunThreads threads{{control, other, other, clock}, false, [] {}};
  wire::RunManifest manifest = trainer_link::testing::tiny_manifest();
  std::unique_ptr<trainer_link::TrainerProcess> trainer;
  std::unique_ptr<StateKeeper> keeper;
  Digest first;
};

}  // namespace

TEST_CASE("a step can be taken back to the bit, until it is known to count") {
  Replica replica;
  const Digest second = replica.step(0);
  CHECK(second != replica.first);
  CHECK(replica.keeper->find(1, second) != nullptr);
  REQUIRE(replica.keeper->restore_previous(0, replica.first).ok());
  CHECK(replica.keeper->find(1, second) == nullptr);
  CHECK(replica.keeper->find(0, replica.first) != nullptr);
  CHECK(state::state_digest(replica.trainer->state()) == replica.first);

  CHECK(replica.step(0) == second);
  replica.keeper->forget_previous();
  CHECK(replica.keeper->restore_previous(0, replica.first).error().code == ErrorCode::not_found);
}

TEST_CASE("an installed state takes the place of the replica's") {
  Replica replica;
  std::vector<float> other(replica.keeper->floats(), 0.25F);
  const Digest digest = state::state_digest(other);
  replica.keeper->install(9, digest, other);
  CHECK(replica.trainer->state().back() == 0.25F);
  CHECK(replica.keeper->find(9, digest) != nullptr);
}

TEST_CASE("the state of round 0 is made beside the replica's, and is the one that was signed or none") {
  Replica replica;
  const Digest second = replica.step(0);
  replica.manifest.initial_state_digest = replica.first;
  const auto made = replica.keeper->make_initial();
  REQUIRE(made.ok());
  CHECK(state::state_digest(*made) == replica.first);
  CHECK(state::state_digest(replica.trainer->state()) == second);
  replica.manifest.initial_state_digest = second;
  CHECK(replica.keeper->make_initial().error().code == ErrorCode::failed_precondition);
}

TEST_CASE("the state at the end of a run is saved under the name that it has") {
  Replica replica;
  session::Session::View view;
  view.state_digest = replica.first;
  replica.keeper->save_last(view);
  CHECK_FALSE(replica.saved());  // the coordinator has never agreed to it

  view.synced = true;
  replica.keeper->save_last(view);
  REQUIRE(replica.saved());
  CHECK(replica.saved()->state_digest == replica.first);

  const Digest second = replica.step(0);  // the session never heard of its end
  replica.keeper->save_last(view);
  CHECK(replica.saved()->round == 1);
  CHECK(replica.saved()->state_digest == second);
}

TEST_CASE("a state that may be anything is not saved") {
  Replica replica;
  replica.step(0);
  replica.keeper->forget_previous();
  CHECK_FALSE(replica.keeper->restore_previous(0, replica.first).ok());
  session::Session::View view;
  view.synced = true;
  replica.keeper->save_last(view);
  CHECK_FALSE(replica.saved());
}
