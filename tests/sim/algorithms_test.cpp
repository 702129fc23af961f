#include <doctest/doctest.h>

#include <chrono>

#include "shared/manifest/algorithms.h"
#include "tests/sim/swarm.h"
#include "tests/sim/swarm_manifest.h"
#include "tests/support/suite_form.h"

using namespace starling;
using namespace starling::sim;
using namespace std::chrono_literals;

namespace {

SwarmOptions options_of(std::string_view algorithm, std::uint64_t seed) {
  SwarmOptions options;
  options.algorithm = algorithm;
  options.seed = seed;
  options.peers = 4;
  options.length = 20s;
  options.seconds_between_faults = 4;
  return options;
}

SwarmResult run(const SwarmOptions& options) {
  const Result<SwarmResult> result = run_swarm(options);
  REQUIRE(result.ok());
  CHECK(result->broken == "");
  CHECK(result->rounds_decided > 5);
  return *result;
}

}  // namespace

TEST_CASE("every algorithm trains through faults, and no invariant breaks") {
  for (const manifest::Algorithm& algorithm : manifest::algorithms()) {
    for (std::uint64_t seed = 1; seed <= starling::testing::times(1U, 2U); ++seed) {
      CAPTURE(algorithm.name);
      CAPTURE(seed);
      SwarmOptions options = options_of(algorithm.name, seed);
      const Result<wire::RunManifest> manifest = manifest_of(options);
      REQUIRE(manifest.ok());
      const bool gossips = wire::gossips(manifest->local);
      if (gossips) options.mix_every = 2;
      options.calm = 40s;  // the momentum of outer steps after long rounds leads past the end at first
      const SwarmResult result = run(options);
      CHECK((result.gossips > 0) == gossips);
      CHECK((result.feedbacks_checked > 0) == (manifest->round.error_feedback > 0));
      // Values that sparse rounds leave out come back later, as the sum of many rounds, and eager steps lead on from
      // parts that died: while members die every few seconds, these few rounds do not show the end of it.
      const bool sparse =
          manifest->round.contribution_codec == wire::Codec::sparse || manifest->round.codec == wire::Codec::sparse;
      const bool eager = manifest->local && manifest->local->eager;
      if (!sparse && !eager) CHECK(result.distance_last < 0.5 * result.distance_first);
    }
  }
}

TEST_CASE(
    "what codecs leave out is found with the members again, in delayed rounds of whole vectors and of fragments") {
  for (const char* const algorithm : {"dedloc", "streaming-diloco"}) {
    CAPTURE(algorithm);
    SwarmOptions options = options_of(algorithm, 3);
    options.delay_parameter_updates = true;
    options.codec = "int4";
    options.error_feedback = 1;
    CHECK(run(options).feedbacks_checked > 0);
  }
}

TEST_CASE("low-rank products learn with two factors, whoever dies between the two averagings") {
  SwarmOptions options = options_of("dedloc", 4);
  options.low_rank = 2;
  options.error_feedback = 1;
  const SwarmResult result = run(options);
  CHECK(result.crashes > 0);
  CHECK(result.distance_last < 0.5 * result.distance_first);
}

TEST_CASE("parts that cannot be combined are refused by the one that cannot, with its reason") {
  SwarmOptions options = options_of("dedloc", 1);
  options.low_rank = 2;
  options.delay_parameter_updates = true;
  const Result<SwarmResult> result = run_swarm(options);
  REQUIRE(!result.ok());
  CHECK(result.error().message.find("factors are computed between averagings") != std::string::npos);
}
