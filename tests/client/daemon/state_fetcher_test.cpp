// Another state for the replica: from other volunteers over real links, made here, or kept from before the last step.
#include "client/daemon/state_fetcher.h"

#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "shared/crypto/certificates.h"
#include "shared/state/state_digest.h"
#include "tests/client/daemon/played_threads.h"
#include "tests/client/trainer_link/tiny_run.h"
#include "tests/client/transport/swarm.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::daemon;
using transport::testing::Member;

namespace {

constexpr RoundIndex kRound = 5;

struct Ended {
  RoundIndex round = 0;
  Digest digest;
  Status status;
};

storage::Project project_without_coordinator(const transport::testing::Project& project,
                                             const crypto::PrivateKey& key) {
  storage::Project known;
  known.host = "127.0.0.1";
  known.port = 1;
  known.ca_pem = project.ca_pem();
  known.certificate.renew(project.identity(key).certificate_pem);
  return known;
}

// A replica at the state of round 0, and its fetcher. Its trainer has no child.
struct Replica {
  explicit Replica(const transport::testing::Project& project) : member(project), files(open_files()) {
    const storage::Project known = project_without_coordinator(project, member.key);
    auto made_calls = CoordinatorCalls::create(known, member.key, threads.clock);
    REQUIRE(made_calls.ok());
    calls = std::move(*made_calls);
    context.emplace(RunContext{manifest, crypto::PrivateKey::generate().public_key(), 1, known, member.key, files,
                               *calls, line, files.dir()});
    threads.trainer.run_and_wait([this] { open_state(); });
    threads.on_control([this] {
      fetcher.emplace(threads.run, *context, *keeper, *member.net,
                      [this](TimePoint, RoundIndex round, const Digest& digest, const Status& status) {
                        ended->set({round, digest, status});
                      });
    });
  }
  ~Replica() {
    threads.on_control([this] {
      threads.run.stop();
      fetcher->stop();
    });
    member.leave();
    threads.trainer.run_and_wait([this] { trainer.reset(); });
    threads.end();
  }

  storage::ProjectFiles open_files() const {
    auto opened = storage::ProjectFiles::within(folder / "project");
    REQUIRE(opened.ok());
    return std::move(*opened);
  }
  void open_state() {
    auto made = trainer_link::TrainerProcess::create(trainer_link::testing::tiny_options("no such program"));
    REQUIRE(made.ok());
    trainer = std::move(*made);
    auto snapshots = std::make_unique<SnapshotKeeper>(trainer->state());
    const auto named = snapshots->change(0, [&] { return trainer->initialize(); });
    REQUIRE(named.ok());
    first = *named;
    manifest.initial_state_digest = first;
    const session::StateLayout layout = trainer->layout();
    keeper = std::make_unique<StateKeeper>(
        threads.run, manifest, *trainer, [this](std::span<float> into) { return trainer->make_initial_state(into); },
        StateParts{std::move(snapshots),
                   std::make_shared<std::atomic<bool>>(true),
                   {folder / "checkpoints", manifest.run_id, layout.parameter_count, layout.optimizer_vectors},
                   storage::PreviousState(folder.path())});
  }
  // Runs `begin` with the fetcher on the control thread, and waits for the end of what it began.
  Ended fetched(const std::function<void(StateFetcher&)>& begin) {
    ended = std::make_unique<daemon::testing::Awaited<Ended>>();
    threads.on_control([&] { begin(*fetcher); });
    Ended result = ended->wait();
    threads.settle();
    return result;
  }
  [[nodiscard]] Digest held() {
    Digest digest;
    threads.trainer.run_and_wait([&] { digest = state::state_digest(trainer->state()); });
    return digest;
  }

  starling::testing::TempDir folder;
  daemon::testing::PlayedThreads threads;
  Member member;
  storage::ProjectFiles files;
  net::Line line;
  wire::RunManifest manifest = trainer_link::testing::tiny_manifest();
  std::unique_ptr<CoordinatorCalls> calls;
  std::optional<RunContext> context;
  std::unique_ptr<trainer_link::TrainerProcess> trainer;
  std::unique_ptr<StateKeeper> keeper;
  std::unique_ptr<daemon::testing::Awaited<Ended>> ended;
  std::optional<StateFetcher> fetcher;
  Digest first;
};

// A volunteer that has a state of round kRound.
struct Donor {
  Donor(const transport::testing::Project& project, const Replica& replica)
      : floats(replica.keeper->floats(), 0.25F),
        snapshot(std::make_shared<const transport::StateSnapshot>(
            transport::snapshot_of(kRound, floats, wire::state_form(replica.manifest)))),
        member(project, true, [this](RoundIndex round, const Digest& digest) {
          if (hold_back.valid()) hold_back.wait();
          return round == kRound && digest == snapshot->digest ? snapshot : nullptr;
        }) {}

  std::vector<float> floats;
  std::shared_ptr<const transport::StateSnapshot> snapshot;
  std::shared_future<void> hold_back;  // it does not answer before this; set it before anybody asks
  Member member;
};

}  // namespace

TEST_CASE("a state that another volunteer holds takes the place of the replica's") {
  const transport::testing::Project project;
  Replica replica(project);
  const Donor donor(project, replica);
  const std::vector<wire::Endpoint> donors = {donor.member.endpoint()};
  const Ended ended =
      replica.fetched([&](StateFetcher& fetcher) { fetcher.from_donors(donors, kRound, donor.snapshot->digest); });
  CHECK_MESSAGE(ended.status.ok(), (ended.status.ok() ? "" : ended.status.error().message));
  CHECK(ended.round == kRound);
  CHECK(ended.digest == donor.snapshot->digest);
  CHECK(replica.held() == state::state_digest(donor.floats));
  CHECK(replica.keeper->find(kRound, donor.snapshot->digest) != nullptr);
}

TEST_CASE("a state that no donor has is not fetched, and the replica keeps its own") {
  const transport::testing::Project project;
  Replica replica(project);
  const Donor donor(project, replica);
  const std::vector<wire::Endpoint> donors = {donor.member.endpoint()};
  const Ended ended =
      replica.fetched([&](StateFetcher& fetcher) { fetcher.from_donors(donors, kRound + 1, donor.snapshot->digest); });
  CHECK_FALSE(ended.status.ok());
  CHECK(replica.held() == replica.first);
  CHECK(replica.keeper->find(0, replica.first) != nullptr);
}

TEST_CASE("the state of round 0 is made here, if it is the one that the project has signed") {
  const transport::testing::Project project;
  Replica replica(project);
  const Donor donor(project, replica);
  const std::vector<wire::Endpoint> donors = {donor.member.endpoint()};
  REQUIRE(replica.fetched([&](StateFetcher& fetcher) { fetcher.from_donors(donors, kRound, donor.snapshot->digest); })
              .status.ok());
  CHECK(replica.fetched([&](StateFetcher& fetcher) { fetcher.make_initial(replica.first); }).status.ok());
  CHECK(replica.held() == replica.first);
  replica.manifest.initial_state_digest = donor.snapshot->digest;
  CHECK_FALSE(replica.fetched([&](StateFetcher& fetcher) { fetcher.make_initial(replica.first); }).status.ok());
  CHECK(replica.held() == replica.first);
}

TEST_CASE("the state before the last step comes back, and another one does not") {
  const transport::testing::Project project;
  Replica replica(project);
  replica.threads.trainer.run_and_wait([&] {
    const std::vector<float> gradient(replica.trainer->layout().parameter_count, 0.5F);
    CHECK(replica.keeper->step(0, gradient).ok());
  });
  const Digest second = replica.held();
  CHECK(second != replica.first);
  CHECK_FALSE(replica.fetched([&](StateFetcher& fetcher) { fetcher.restore_previous(0, second); }).status.ok());
  CHECK(replica.held() == second);
  CHECK(replica.fetched([&](StateFetcher& fetcher) { fetcher.restore_previous(0, replica.first); }).status.ok());
  CHECK(replica.held() == replica.first);
}

TEST_CASE("a coordinator's copy of another size than the model is not even asked for") {
  const transport::testing::Project project;
  Replica replica(project);
  wire::Artefact file;
  file.bytes = 12;
  const Ended ended =
      replica.fetched([&](StateFetcher& fetcher) { fetcher.from_coordinator(file, kRound, replica.first); });
  CHECK(ended.status.error().code == ErrorCode::corrupt);
  CHECK(replica.fetcher->wire_bytes() == 0);
}

TEST_CASE("a pause ends the download under way") {
  const transport::testing::Project project;
  Replica replica(project);
  Donor donor(project, replica);
  std::promise<void> go_on;
  donor.hold_back = go_on.get_future().share();
  const std::vector<wire::Endpoint> donors = {donor.member.endpoint()};
  const Ended ended = replica.fetched([&](StateFetcher& fetcher) {
    fetcher.from_donors(donors, kRound, donor.snapshot->digest);
    fetcher.interrupt();
  });
  CHECK(ended.status.error().code == ErrorCode::unavailable);
  CHECK(replica.held() == replica.first);
  go_on.set_value();
}
