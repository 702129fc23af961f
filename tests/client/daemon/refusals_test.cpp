#include "client/daemon/refusals.h"

#include <doctest/doctest.h>

#include <string>

#include "shared/crypto/wrong_clock.h"
#include "shared/run/cells.h"
#include "shared/run/model_layout.h"
#include "tests/client/trainer_link/decoder_run.h"

using namespace starling;
using namespace starling::daemon;

namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;

// A run with 1.0 GB of state and moments, 1.7 of gradients, 0.2 of programs, and the memory for a sample.
wire::RunManifest a_large_run() {
  wire::RunManifest manifest;
  manifest.model = {.layers = 12, .width = 768, .heads = 12, .context = 256};
  return manifest;
}

}  // namespace

TEST_CASE("a run that fits is not refused, nor one where the memory is not known") {
  const auto needed = static_cast<std::int64_t>(wire::memory_needs(a_large_run()).total());
  CHECK_FALSE(refuse_for_memory(a_large_run(), {4 * needed, needed + 1}));
  CHECK_FALSE(refuse_for_memory(a_large_run(), {0, 0}));
  CHECK(refuse_for_memory(a_large_run(), {4 * needed, needed - 1}));
}

TEST_CASE("a run above the owner's limits says what is needed, what there is, and what would be enough") {
  const auto needed = static_cast<std::int64_t>(wire::memory_needs(a_large_run()).total());
  const auto refusal = refuse_for_memory(a_large_run(), {2 * needed, needed / 2});
  REQUIRE(refusal);
  CHECK(refusal->reason.find("than you allow: ") != std::string::npos);
  CHECK(refusal->ends_when == "you allow more memory");
  CHECK(refusal->command == "prefs set memory_idle_percent 50");
  CHECK_FALSE(refuse_for_memory(a_large_run(), {2 * needed, 2 * needed / 100 * 51}));
}

TEST_CASE("who has no room for the trunk needs some for one cell") {
  const wire::RunManifest trunk = trainer_link::testing::decoder_run("no program", wire::kTrunk, 4).manifest;
  const wire::RunManifest none = wire::piece_of(trunk, wire::kNoPiece);
  const MemoryHere ample{8 * kGigabyte, 6 * kGigabyte}, little{4 * kGigabyte, kGigabyte / 2};
  CHECK(bytes_needed(trunk, ample) == wire::memory_needs(trunk).total() + 256e6);
  CHECK(bytes_needed(trunk, little) == wire::memory_needs(trunk).total() + 64e6);
  CHECK(bytes_needed(none, little) < bytes_needed(trunk, little));
  CHECK(bytes_needed(a_large_run(), ample) == wire::memory_needs(a_large_run()).total());
  const std::int64_t enough = static_cast<std::int64_t>(bytes_needed(none, little)) + wire::held_bytes(none, 0) + 1;
  CHECK_FALSE(refuse_for_memory(none, {4 * enough, enough}));
  CHECK(refuse_for_memory(none, {4 * enough, enough - 2}));
}

TEST_CASE("a program of the project's own is refused until it is allowed, and no other model is") {
  wire::RunManifest manifest = a_large_run();
  CHECK_FALSE(refuse_program(manifest, "birds.example.org:4443", false));
  manifest.model.architecture = wire::Architecture::script;
  manifest.model.script.program.bytes = 1'000'000;
  const auto refusal = refuse_program(manifest, "birds.example.org:4443", false);
  REQUIRE(refusal);
  CHECK(refusal->command == "projects allow birds.example.org:4443");
  CHECK_FALSE(refuse_program(manifest, "birds.example.org:4443", true));
}

TEST_CASE("a program's own memory counts like any other model's") {
  wire::RunManifest manifest = a_large_run();
  manifest.model.architecture = wire::Architecture::script;
  manifest.model.script.tensors = {{"w", {1000, 1000}}};
  CHECK_FALSE(refuse_for_memory(manifest, {8 * kGigabyte, 7 * kGigabyte}));
  manifest.model.script.activation_bytes = 30 * kGigabyte;
  const auto refusal = refuse_for_memory(manifest, {8 * kGigabyte, 7 * kGigabyte});
  REQUIRE(refusal);
  CHECK(refusal->reason.find("than this computer has: 30.2 GB, and 8.0 are here") != std::string::npos);
}

TEST_CASE("a run that no limit could let in says so") {
  const auto refusal = refuse_for_memory(a_large_run(), {kGigabyte, kGigabyte / 2});
  REQUIRE(refusal);
  CHECK(refusal->reason.find("than this computer has: ") != std::string::npos);
  CHECK(refusal->reason.find("1.0 are here") != std::string::npos);
  CHECK(refusal->command.empty());
  CHECK_FALSE(refusal->action.empty());
}

TEST_CASE("a preparation that failed says what ends that, and whether somebody has to mend it") {
  const auto obstacle = [](ErrorCode code, const std::string& message) { return obstacle_of({code, message}); };
  const Obstacle port = obstacle(ErrorCode::io, std::string(kOpenPort) + ": listen: Address already in use");
  CHECK(port.is_problem);
  CHECK(port.ends_when.find("port is free") != std::string::npos);
  const Obstacle clock =
      obstacle(ErrorCode::unauthenticated,
               "get the run from the coordinator: certificate is not yet valid" + std::string(crypto::kWrongClock));
  CHECK(clock.is_problem);
  CHECK(clock.ends_when.find("clocks") != std::string::npos);
  CHECK(obstacle(ErrorCode::unauthenticated, "refused our certificate").ends_when.find("certificate") !=
        std::string::npos);
  CHECK(obstacle(ErrorCode::resource_exhausted, "this run needs 3 GB more of the disk").ends_when ==
        "there is room for it");
  CHECK(obstacle(ErrorCode::resource_exhausted, "").is_problem);
  CHECK_FALSE(obstacle(ErrorCode::unavailable, "connect: refused").is_problem);
  CHECK(obstacle(ErrorCode::unavailable, "").ends_when == "the coordinator answers");
  CHECK_FALSE(obstacle(ErrorCode::not_found, "the project has no run").is_problem);
}
