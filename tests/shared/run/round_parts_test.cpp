#include "shared/run/round_parts.h"

#include <doctest/doctest.h>

#include "shared/run/model_layout.h"

using namespace starling;
using namespace starling::wire;

namespace {

RunManifest small_manifest() {
  RunManifest manifest;
  manifest.model = {.layers = 1, .width = 64, .heads = 2, .context = 8};
  return manifest;
}

std::int64_t parameters_of(const RunManifest& manifest) {
  return static_cast<std::int64_t>(parameter_count(manifest.model));
}

std::string refused(const RunManifest& manifest) {
  Checker check;
  check_round_parts(check, manifest);
  return check.status().ok() ? "" : check.status().error().message;
}

}  // namespace

TEST_CASE("a round moves a contribution and a result of every parameter, each in its codec") {
  RunManifest manifest = small_manifest();
  CHECK(round_traffic(manifest).contribution_bytes() == 4 * parameters_of(manifest));
  CHECK(round_traffic(manifest).result_bytes() == 4 * parameters_of(manifest));
  CHECK(!round_traffic(manifest).narrows_contributions);
  manifest.round.codec = Codec::fp16;
  manifest.round.contribution_codec = Codec::int8;
  manifest.round.error_feedback = 1;
  const RoundTraffic narrow = round_traffic(manifest);
  CHECK(narrow.result_bytes() < 3 * parameters_of(manifest));
  CHECK(narrow.contribution_bytes() < narrow.result_bytes());
  CHECK(narrow.narrows_contributions);
  CHECK(narrow.legs == 1);
}

TEST_CASE("a round of a fragment moves its share, and one of factors moves them, in two legs") {
  RunManifest manifest = small_manifest();
  manifest.round.delay_parameter_updates = true;
  manifest.local.emplace().fragments = 4;
  CHECK(round_traffic(manifest).floats == (parameters_of(manifest) + 3) / 4);
  manifest = small_manifest();
  manifest.round.low_rank = 2;
  manifest.round.error_feedback = 1;
  const RoundTraffic factors = round_traffic(manifest);
  CHECK(factors.legs == 2);
  CHECK(factors.floats < parameters_of(manifest) / 2);
  CHECK(!factors.narrows_contributions);  // they make up for what is left out by themselves
}

TEST_CASE("a part says what it cannot be combined with, and why") {
  RunManifest manifest = small_manifest();
  CHECK(refused(manifest).empty());
  manifest.round.low_rank = 2;
  CHECK(refused(manifest).empty());
  manifest.round.delay_parameter_updates = true;
  CHECK(refused(manifest).find("factors are computed between averagings") != std::string::npos);
  manifest = small_manifest();
  manifest.local.emplace().partners = GossipPartners::ring;
  CHECK(refused(manifest).empty());
  manifest.round.delay_parameter_updates = true;
  CHECK(refused(manifest).find("have not heard of the last round") != std::string::npos);
  manifest.local->partners.reset();
  manifest.local->fragments = 2;
  CHECK(refused(manifest).empty());
  manifest.local->eager = true;
  CHECK(refused(manifest).find("tells nothing of the others") != std::string::npos);
}

TEST_CASE("each part's memory is counted for a manifest that has it, and for no other") {
  const auto vectors_of = [](const RunManifest& manifest) {
    double all = 0;
    for (const RoundPart& part : round_parts()) {
      const PartVectors vectors = part.vectors(manifest);
      all += vectors.state + vectors.gradients;
    }
    return all;
  };
  RunManifest manifest = small_manifest();
  CHECK(vectors_of(manifest) == 4);
  manifest.round.error_feedback = 1;
  CHECK(vectors_of(manifest) == 6);
  manifest.round.delay_parameter_updates = true;
  CHECK(vectors_of(manifest) == 7);
  manifest = small_manifest();
  manifest.local.emplace(LocalOptions{default_optimizer(OptimizerKind::adamw), {}}).partners = GossipPartners::ring;
  CHECK(vectors_of(manifest) ==
        4 + 4 + 2);  // own parameters, where steps began, two moments; what gossip sends and gets
}

TEST_CASE("contributions are bounded around the momentum of gradients that one group averages at once") {
  RunManifest manifest = small_manifest();
  manifest.round.averaging.aggregation = Aggregation::centered_clip;
  CHECK(refused(manifest).find("averaging.formation") != std::string::npos);
  manifest.round.averaging.formation = Formation::one_group;
  CHECK(refused(manifest).empty());
  const auto refused_with = [&](auto change) {
    RunManifest changed = manifest;
    change(changed);
    return refused(changed);
  };
  CHECK(refused_with([](RunManifest& changed) { changed.local.emplace(); }).find("local") != std::string::npos);
  CHECK(refused_with([](RunManifest& changed) { changed.round.low_rank = 2; }).find("low_rank") != std::string::npos);
  CHECK(refused_with([](RunManifest& changed) { changed.round.error_feedback = 1; }).find("error_feedback") !=
        std::string::npos);
  CHECK(refused_with([](RunManifest& changed) {
          changed.round.delay_parameter_updates = true;
        }).find("delay_parameter_updates") != std::string::npos);
  const std::string still = refused_with([](RunManifest& changed) {
    changed.optimizer = default_optimizer(OptimizerKind::sgd);
    changed.optimizer.momentum = 0;
  });
  CHECK(still.find("optimizer.momentum") != std::string::npos);
}

TEST_CASE("work is checked where others can compute it again, and people are told why not") {
  RunManifest manifest = small_manifest();
  CHECK(why_not_audited(manifest).empty());
  for (const Aggregation aggregation : {Aggregation::clipped, Aggregation::mean, Aggregation::centered_clip}) {
    manifest.round.averaging.aggregation = aggregation;
    CHECK(why_not_audited(manifest).empty());
  }
  manifest = small_manifest();
  manifest.round.error_feedback = 0.95;
  CHECK(why_not_audited(manifest).find("left out of earlier") != std::string::npos);
  manifest.round.codec = Codec::sparse;
  CHECK(!why_not_audited(manifest).empty());
  manifest = small_manifest();
  manifest.round.low_rank = 2;
  CHECK(why_not_audited(manifest).find("factors") != std::string::npos);
  RunManifest experts;
  experts.model.architecture = Architecture::decoder;
  experts.model.experts.rows = 8;
  CHECK(why_not_audited(experts).find("last bits") != std::string::npos);
  experts.model.experts.rows = 0;
  CHECK(why_not_audited(experts).empty());
  manifest = small_manifest();
  manifest.round.delay_parameter_updates = true;
  CHECK(why_not_audited(manifest).find("ahead of the agreed ones") != std::string::npos);
  CHECK(left_out_of_audits(manifest).empty());  // there are none
  manifest = small_manifest();
  manifest.local.emplace();
  CHECK(why_not_audited(manifest).find("moments") != std::string::npos);
}

TEST_CASE("what audits leave out is said") {
  RunManifest manifest = small_manifest();
  manifest.round.averaging.formation = Formation::one_group;
  CHECK(left_out_of_audits(manifest).empty());
  manifest.round.codec = Codec::fp16;
  CHECK(left_out_of_audits(manifest).empty());
  manifest.round.averaging.formation = Formation::grid;
  REQUIRE(left_out_of_audits(manifest).size() == 1);
  CHECK(left_out_of_audits(manifest).front().find("heads") != std::string::npos);
  manifest.round.averaging.formation = Formation::one_group;
  manifest.round.contribution_codec = Codec::int4;
  REQUIRE(left_out_of_audits(manifest).size() == 1);
  CHECK(left_out_of_audits(manifest).front().find("58 % of the length of contributions") != std::string::npos);
  manifest.round.codec = Codec::int8;
  manifest.round.averaging.aggregation = Aggregation::centered_clip;
  manifest.precision = Precision::bf16;
  CHECK(left_out_of_audits(manifest).size() == 3);  // owners' results are not checked at all
  manifest.precision = Precision::tf32;
  REQUIRE(left_out_of_audits(manifest).size() == 3);
  CHECK(left_out_of_audits(manifest).back().find("error of a hundredth") != std::string::npos);
}
