#include "shared/manifest/algorithms.h"

#include <doctest/doctest.h>

#include <string>

#include "shared/manifest/operator_manifest.h"
#include "shared/run/cells.h"

using namespace starling;
using manifest::read_operator_manifest;

namespace {

std::string run_of(const std::string& head, const std::string& tables = "") {
  return head +
         "\nrun_id = \"fortunes\"\n"
         "[data]\n"
         "train = \"fortunes.txt\"\n"
         "validation_fraction = 0.05\n" +
         tables;
}

Result<manifest::OperatorManifest> read(const std::string& head, const std::string& tables = "") {
  return read_operator_manifest(run_of(head, tables), "/srv");
}

const std::string kExperts =
    "[model]\narchitecture = \"decoder\"\nlayers = 2\nwidth = 32\nheads = 2\ncontext = 16\nvocabulary = 256\n"
    "mlp_width = 64\nexpert_rows = 4\nactive_experts = 2\nload_loss = 0.01\nz_loss = 0.001\n";

}  // namespace

TEST_CASE("every algorithm's word is a manifest that passes, and that its text gives again") {
  for (const manifest::Algorithm& algorithm : manifest::algorithms()) {
    CAPTURE(algorithm.name);
    const bool has_experts = algorithm.name == "dmoe";
    const auto named = read("algorithm = \"" + std::string(algorithm.name) + "\"", has_experts ? kExperts : "");
    REQUIRE(named.ok());
    const auto again = read_operator_manifest(manifest::write_operator_manifest(*named), "/srv");
    REQUIRE(again.ok());
    CHECK(wire::encode_manifest(again->manifest) == wire::encode_manifest(named->manifest));
  }
}

TEST_CASE("without a word, gradients of one large batch are averaged") {
  CHECK(wire::encode_manifest(read("")->manifest) == wire::encode_manifest(read("algorithm = \"dedloc\"")->manifest));
  CHECK(!read("")->manifest.local);
}

TEST_CASE("diloco steps with AdamW inside and with Nesterov's momentum outside") {
  const wire::RunManifest run = read("algorithm = \"diloco\"")->manifest;
  REQUIRE(run.local);
  CHECK(run.local->optimizer.kind == wire::OptimizerKind::adamw);
  CHECK(run.optimizer.kind == wire::OptimizerKind::sgd);
  CHECK(run.optimizer.nesterov);
  CHECK(run.optimizer.momentum == 0.9);
  CHECK(run.optimizer.clip_norm == 0);
  CHECK(run.schedule.learning_rate == 0.7);
}

TEST_CASE("dmoe has each expert at one volunteer, which steps as gradients arrive") {
  const wire::RunManifest run = read("algorithm = \"dmoe\"", kExperts)->manifest;
  const wire::CellOptions& cells = run.model.experts.cells;
  CHECK(cells.experts == 1);
  CHECK(cells.holders == 1);
  CHECK(cells.update == wire::CellUpdate::arrival);
  CHECK(cells.answers_min == 1);
  CHECK(wire::cells_of(run.model).size() == 8);
  CHECK(read("algorithm = \"dmoe\"", kExperts + "[cells]\nholders = 2\n")->manifest.model.experts.cells.holders == 2);
  const auto other = read("algorithm = \"dmoe\"");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("where the model is not a decoder with experts") != std::string::npos);
}

TEST_CASE("decentralized-adam is the mean of parameters that AdamW moves apart and one-peer mixings together") {
  const wire::RunManifest run = read("algorithm = \"decentralized-adam\"")->manifest;
  REQUIRE(run.local);
  CHECK(run.local->optimizer.kind == wire::OptimizerKind::adamw);
  CHECK(run.local->partners == wire::GossipPartners::exponential);
  CHECK(run.optimizer.kind == wire::OptimizerKind::sgd);
  CHECK(run.optimizer.momentum == 0);
  CHECK(run.schedule.learning_rate == 1);
  const auto other = read("algorithm = \"decentralized-adam\"",
                          "[local]\npartners = \"random\"\n[local.optimizer]\nkind = \"accum_adamw\"\n");
  REQUIRE(other.ok());
  CHECK(other->manifest.local->partners == wire::GossipPartners::random);
  CHECK(other->manifest.local->optimizer.kind == wire::OptimizerKind::accum_adamw);
  const auto unknown = read("algorithm = \"diloco\"", "[local]\npartners = \"everybody\"\n");
  REQUIRE(!unknown.ok());
  CHECK(unknown.error().message.find("local.partners is 'everybody'") != std::string::npos);
}

TEST_CASE("noloco is decentralized-adam whose pairs are drawn, meet seldom, and take steps with momentum") {
  const wire::RunManifest run = read("algorithm = \"noloco\"")->manifest;
  REQUIRE(run.local);
  CHECK(run.local->partners == wire::GossipPartners::random);
  CHECK(run.local->mix_every == 50);
  CHECK(run.local->mixing_rate == 0.7);
  CHECK(run.local->mixing_momentum == 0.5);
  CHECK(run.local->mixing_pull == 0.7);
  CHECK(run.optimizer.momentum == 0);
  CHECK(run.schedule.learning_rate == 1);
  const auto other = read("algorithm = \"noloco\"", "[local]\npartners = \"exponential\"\nmix_every = 10\n");
  REQUIRE(other.ok());
  CHECK(other->manifest.local->partners == wire::GossipPartners::exponential);
  CHECK(other->manifest.local->mix_every == 10);
  CHECK(other->manifest.local->mixing_momentum == 0.5);
  const auto bounded = read("algorithm = \"noloco\"", "[local]\nconsensus_bound = 0.02\n");
  REQUIRE(bounded.ok());
  CHECK(bounded->manifest.local->consensus_bound == 0.02);
  const auto nobody = read("algorithm = \"noloco\"", "[local]\npartners = \"\"\n");
  REQUIRE(!nobody.ok());
  CHECK(nobody.error().message.find("local.mix_every is 50; it must be 1 where local.partners is empty") !=
        std::string::npos);
}

TEST_CASE("what the file says overrides the word's parts, one by one") {
  const auto run = read("algorithm = \"diloco\"\ncodec = \"int8\"",
                        "[optimizer]\nmomentum = 0.8\n"
                        "[local.optimizer]\nkind = \"muon\"\n"
                        "[local.schedule]\nlearning_rate = 0.02\n");
  REQUIRE(run.ok());
  CHECK(run->manifest.round.codec == wire::Codec::int8);
  CHECK(run->manifest.optimizer.kind == wire::OptimizerKind::sgd);
  CHECK(run->manifest.optimizer.momentum == 0.8);
  CHECK(run->manifest.optimizer.nesterov);
  CHECK(run->manifest.optimizer.weight_decay == 0);
  CHECK(run->manifest.local->optimizer.kind == wire::OptimizerKind::muon);
  CHECK(run->manifest.local->schedule.learning_rate == 0.02);
  CHECK(run->manifest.local->schedule.total_rounds == 200);
}

TEST_CASE("the table of local steps alone makes a composition that has no name") {
  const auto run = read("", "[local.optimizer]\nkind = \"lamb\"\n");
  REQUIRE(run.ok());
  CHECK(run->manifest.local->optimizer.kind == wire::OptimizerKind::lamb);
  CHECK(run->manifest.optimizer.kind == wire::OptimizerKind::adamw);
}

TEST_CASE("a word that is none, and local steps where the word has none, are refused with the line or the table") {
  const auto unknown = read("seed = 1\nalgorithm = \"diloko\"");
  REQUIRE(!unknown.ok());
  CHECK(unknown.error().message ==
        "manifest.toml, line 2: algorithm is 'diloko'; it must be one of " + manifest::algorithm_names());
  const auto mixed = read("algorithm = \"dedloc\"", "[local.optimizer]\nkind = \"adamw\"\n");
  REQUIRE(!mixed.ok());
  CHECK(mixed.error().message.find("table [local]") != std::string::npos);
  const auto typo = read("algorithm = \"diloco\"", "[local.optimizer]\nmomentun = 1\n");
  REQUIRE(!typo.ok());
  CHECK(typo.error().message.find("local.optimizer.momentun") != std::string::npos);
  const auto wrong = read("algorithm = \"diloco\"", "[local.schedule]\nlearning_rate = 100\n");
  REQUIRE(!wrong.ok());
  CHECK(wrong.error().message.find("local.schedule.learning_rate is 100") != std::string::npos);
}
