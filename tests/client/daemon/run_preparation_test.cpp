#include "client/daemon/run_preparation.h"

#include <doctest/doctest.h>

#include <fstream>

#include "shared/run/model_layout.h"
#include "tests/client/trainer_link/decoder_run.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::daemon;

namespace {

PreparedRun a_run(const testing::TempDir& dir) {
  PreparedRun run;
  run.manifest.model = {.layers = 1, .width = 8, .heads = 1, .context = 8};
  run.manifest.data.train.bytes = 10'000;
  run.manifest.data.validation.bytes = 500;
  run.train_file = dir / "train";
  run.validation_file = dir / "validation";
  return run;
}

void put(const std::filesystem::path& path, std::size_t bytes) { std::ofstream(path) << std::string(bytes, 'x'); }

}  // namespace

TEST_CASE("room is asked for data that is missing and for the first two checkpoints") {
  const testing::TempDir dir;
  const PreparedRun run = a_run(dir);
  // Parameters and two moments, four bytes each.
  const auto checkpoints = static_cast<std::int64_t>(2 * 3 * 4 * wire::parameter_count(run.manifest.model));
  CHECK(check_room(run, dir.path(), 10'500 + checkpoints).ok());
  const Status refused = check_room(run, dir.path(), 10'499 + checkpoints);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
  CHECK(refused.error().message.find("prefs set disk_max_gb") != std::string::npos);
  put(run.validation_file, 500);
  CHECK(check_room(run, dir.path(), 10'000 + checkpoints).ok());
  std::filesystem::create_directory(dir / "checkpoints");
  put(dir / "checkpoints" / "one", 1);
  CHECK(check_room(run, dir.path(), 10'000).ok());
}

TEST_CASE("a run whose data is here needs no room") {
  const testing::TempDir dir;
  const PreparedRun run = a_run(dir);
  put(run.train_file, 10'000);
  put(run.validation_file, 500);
  CHECK(check_room(run, dir.path(), -1'000'000).ok());
}

TEST_CASE("of a large download's many pieces no more are told than can be shown, the first among them") {
  constexpr std::int64_t kBytes = 10'000'000'000;
  constexpr std::int64_t kPiece = 16'384;
  DownloadSteps steps(kBytes);
  CHECK(steps.is_news(kPiece));
  std::int64_t told = 1;
  for (std::int64_t done = 2 * kPiece; done < kBytes; done += kPiece) told += steps.is_news(done) ? 1 : 0;
  CHECK(told <= kDownloadStepsMax);
  CHECK(told > kDownloadStepsMax / 2);
}

TEST_CASE("a clock that makes certificates look bad is told once") {
  const Error cause{ErrorCode::unauthenticated, "set up TLS: certificate is not yet valid: a clock is wrong"};
  const Error told = without_certificate(cause.prefixed("get the run from the coordinator"),
                                         cause.prefixed("renew this computer's certificate"));
  CHECK(told.message ==
        "renew this computer's certificate: set up TLS: certificate is not yet valid: a clock is wrong");
  CHECK(told.code == ErrorCode::unauthenticated);
  const Error stranger = without_certificate(cause.prefixed("get the run from the coordinator"),
                                             {ErrorCode::failed_precondition, "this computer has not joined"});
  CHECK(stranger.message == "get the run from the coordinator: " + cause.message + "; this computer has not joined");
}

TEST_CASE("a run for a later version is refused with that version, whatever else it says") {
  std::string told;
  const auto too_old = [&told](const std::string& version) { told = version; };
  const Status refused =
      check_version(R"({"averaging":{"aggregation":"unheard-of"},"client_min":"99.1.0","reward":5})", too_old);
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == ErrorCode::unsupported);
  CHECK(refused.error().message.find("99.1.0") != std::string::npos);
  CHECK(told == "99.1.0");
  told.clear();
  for (const char* const json :
       {R"({"client_min":""})", R"({"client_min":"0.0.1"})", R"({"client_min":7})", "{}", "no"}) {
    CHECK(check_version(json, too_old).ok());
  }
  CHECK(told.empty());
}

TEST_CASE("a manifest from before the first state was signed does not take the place of one that names it") {
  wire::RunManifest open;
  open.run_id = "poems";
  wire::RunManifest named = open;
  named.initial_state_digest.bytes.fill(7);
  CHECK(check_beginning(open, named).ok());  // the project was updated
  CHECK(check_beginning(open, open).ok());
  CHECK(check_beginning(named, named).ok());
  CHECK(check_beginning(named, open).error().code == ErrorCode::permission_denied);
  open.run_id = "songs";
  CHECK(check_beginning(named, open).ok());
}

TEST_CASE("cells get the memory that the owner allows beyond the trunk and others' calls") {
  const wire::RunManifest trunk = trainer_link::testing::decoder_run("no program", wire::kTrunk, 4).manifest;
  const auto taken = static_cast<std::int64_t>(wire::memory_needs(trunk).total());
  CHECK(bytes_for_cells(trunk, {.installed = 8'000'000'000, .allowed = 4'000'000'000}) == 3'750'000'000 - taken);
  CHECK(bytes_for_cells(trunk, {.installed = 8'000'000'000}) == 7'744'000'000 - taken);
  CHECK(bytes_for_cells(trunk, {.installed = 8'000'000'000, .allowed = 200'000'000}) == 0);
  CHECK(bytes_for_cells(trunk, {}) == 0);
  CHECK(bytes_for_cells(trunk, {.installed = 8'000'000'000, .cells = 5'000'000}) == 5'000'000);
  CHECK(bytes_for_cells(trunk, {.installed = 1'000, .cells = 5'000'000}) == 0);
}
