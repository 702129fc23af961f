#include "shared/manifest/operator_manifest.h"

#include <doctest/doctest.h>

#include <string>

using namespace starling;
using manifest::read_operator_manifest;

namespace {

const std::string kSmall =
    "run_id = \"fortunes\"\n"
    "[data]\n"
    "train = \"fortunes.txt\"\n"
    "validation_fraction = 0.05\n";

std::string error_of(const std::string& toml) {
  const auto result = read_operator_manifest(toml, "/srv");
  REQUIRE(!result.ok());
  CHECK(result.error().code == ErrorCode::invalid_argument);
  return result.error().message;
}

bool mentions(const std::string& message, const std::string& words) { return message.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("four lines are enough for a run; everything else has a default") {
  const auto result = read_operator_manifest(kSmall, "/srv/project");
  REQUIRE(result.ok());
  CHECK(result->manifest.run_id == "fortunes");
  CHECK(result->manifest.model.layers == wire::ModelOptions{}.layers);
  CHECK(result->manifest.flops_per_sample > 1e6);
  CHECK(result->source.train == "/srv/project/fortunes.txt");
  CHECK(result->source.validation.empty());
  CHECK(result->source.validation_fraction == 0.05);
}

TEST_CASE("factors in place of matrices can be asked for") {
  const auto result = read_operator_manifest("low_rank = 4\nerror_feedback = 1\n" + kSmall, "/srv");
  REQUIRE(result.ok());
  CHECK(result->manifest.round.low_rank == 4);
}

TEST_CASE("delayed updates can be asked for, but not of those who mix between rounds") {
  const auto result = read_operator_manifest("delay_parameter_updates = true\n" + kSmall, "/srv");
  REQUIRE(result.ok());
  CHECK(result->manifest.round.delay_parameter_updates);
  const auto local = read_operator_manifest(
      "delay_parameter_updates = true\nalgorithm = 'diloco'\n" + kSmall + "[local]\nmerge_alpha = 0.25\n", "/srv");
  REQUIRE(local.ok());
  CHECK(local->manifest.round.delay_parameter_updates);
  CHECK(local->manifest.local->merge_alpha == 0.25);
  CHECK_FALSE(local->manifest.local->eager);
  const auto streaming = read_operator_manifest("algorithm = 'streaming-diloco'\n" + kSmall, "/srv");
  REQUIRE(streaming.ok());
  CHECK(streaming->manifest.local->fragments == 4);
  const auto eager = read_operator_manifest("algorithm = 'eager-diloco'\n" + kSmall, "/srv");
  REQUIRE(eager.ok());
  CHECK(eager->manifest.round.delay_parameter_updates);
  CHECK(eager->manifest.local->eager);
  const auto refused =
      read_operator_manifest("delay_parameter_updates = true\nalgorithm = 'decentralized-adam'\n" + kSmall, "/srv");
  REQUIRE(!refused.ok());
  CHECK(refused.error().message.find("local.partners is 'exponential'; it must be empty") != std::string::npos);
}

TEST_CASE("every field of a manifest can be written") {
  const auto result = read_operator_manifest(R"(
version = 1
run_id = "big"
title = "Größer"
seed = 42
target_batch_size = 512
micro_batch_size = 16
rounds_max = 2000
checkpoint_rounds = 50
peers_max = 64
flops_per_sample = 5e9
codec = "fp16"
contribution_codec = "sparse"
error_feedback = 0.95
client_min = "0.1"
[model]
architecture = "gpt"
layers = 6
width = 256
heads = 8
context = 256
vocabulary = 256
[optimizer]
kind = "adamw"
beta1 = 0.85
beta2 = 0.95
epsilon = 1e-6
weight_decay = 0
clip_norm = 2
[schedule]
learning_rate = 1e-3
warmup_rounds = 10
total_rounds = 2000
final_fraction = 0.05
[data]
train = "/data/train.txt"
validation = "validation.txt"
)",
                                             "/srv");
  REQUIRE(result.ok());
  const wire::RunManifest& manifest = result->manifest;
  CHECK(manifest.title == "Größer");
  CHECK(manifest.seed == 42);
  CHECK(manifest.target_batch_size == 512);
  CHECK(manifest.micro_batch_size == 16);
  CHECK(manifest.rounds_max == 2000);
  CHECK(manifest.checkpoint_rounds == 50);
  CHECK(manifest.peers_max == 64);
  CHECK(manifest.flops_per_sample == 5e9);
  CHECK(manifest.round.codec == wire::Codec::fp16);
  CHECK(manifest.round.contribution_codec == wire::Codec::sparse);
  CHECK(manifest.round.error_feedback == 0.95);
  CHECK(manifest.client_min == "0.1");
  CHECK(manifest.model.layers == 6);
  CHECK(manifest.model.width == 256);
  CHECK(manifest.model.heads == 8);
  CHECK(manifest.model.context == 256);
  CHECK(manifest.optimizer.beta1 == 0.85);
  CHECK(manifest.optimizer.beta2 == 0.95);
  CHECK(manifest.optimizer.epsilon == 1e-6);
  CHECK(manifest.optimizer.weight_decay == 0);
  CHECK(manifest.optimizer.clip_norm == 2);
  CHECK(manifest.schedule.learning_rate == 1e-3);
  CHECK(manifest.schedule.warmup_rounds == 10);
  CHECK(manifest.schedule.total_rounds == 2000);
  CHECK(manifest.schedule.final_fraction == 0.05);
  CHECK(result->source.train == "/data/train.txt");
  CHECK(result->source.validation == "/srv/validation.txt");
}

TEST_CASE("who averages with whom can be said") {
  const auto with = [](const char* table) { return read_operator_manifest(std::string(kSmall) + table, "/srv"); };
  const auto grid = with("[averaging]\nformation = \"grid\"\ngroup_size = 24\n");
  REQUIRE(grid.ok());
  CHECK(grid->manifest.round.averaging == wire::AveragingOptions{wire::Formation::grid, 24});
  CHECK_FALSE(with("[averaging]\nformation = \"ring\"\n").ok());
  CHECK_FALSE(with("[averaging]\ngroup_size = 2\n").ok());
}

TEST_CASE("the limit of a contribution's effect can be said") {
  const auto with = [](const char* table) { return read_operator_manifest(std::string(kSmall) + table, "/srv"); };
  const auto centered = with("[averaging]\nformation = \"one-group\"\naggregation = \"centered-clip\"\n");
  REQUIRE(centered.ok());
  CHECK(centered->manifest.round.averaging.aggregation == wire::Aggregation::centered_clip);
  CHECK(centered->manifest.client_min == "0.1.0");  // earlier ones cannot read that
  CHECK(with("")->manifest.client_min.empty());
  CHECK(with("[averaging]\naggregation = \"mean\"\n").ok());
  const auto unknown = with("[averaging]\naggregation = \"median\"\n");
  REQUIRE(!unknown.ok());
  CHECK(unknown.error().message.find("centered-clip") != std::string::npos);
}

TEST_CASE("an unknown key is named with its line") {
  CHECK(
      mentions(error_of("colour = \"blue\"\n" + kSmall), "manifest.toml, line 1: colour is no key of a run manifest"));
  CHECK(mentions(error_of(kSmall + "[model]\nlayers = 2\nlayerz = 3\n"), "line 7: model.layerz is no key"));
}

TEST_CASE("an optimizer is chosen by a word and begins with its own defaults") {
  const auto result = read_operator_manifest(
      kSmall + "[optimizer]\nkind = \"sgd\"\nnesterov = true\n[schedule]\nkind = \"linear\"\n", "/srv");
  REQUIRE(result.ok());
  CHECK(result->manifest.optimizer.kind == wire::OptimizerKind::sgd);
  CHECK(result->manifest.optimizer.momentum == 0.9);
  CHECK(result->manifest.optimizer.nesterov);
  CHECK(result->manifest.optimizer.weight_decay == 0);
  CHECK(result->manifest.schedule.kind == wire::ScheduleKind::linear);
}

TEST_CASE("a setting of another optimizer or schedule is refused with its line, and so is an unknown word") {
  CHECK(error_of(kSmall + "[optimizer]\nkind = \"adamw\"\nmomentum = 0.9\n") ==
        "manifest.toml, line 7: optimizer.momentum is no key of optimizer 'adamw'");
  CHECK(error_of(kSmall + "[optimizer]\nbeta1 = 0.9\nkind = \"adam\"\n")
            .starts_with("manifest.toml, line 7: optimizer.kind is 'adam'; it must be 'sgd', 'adamw'"));
  CHECK(error_of(kSmall + "[schedule]\nkind = \"constant\"\ntotal_rounds = 10\n") ==
        "manifest.toml, line 7: schedule.total_rounds is no key of schedule 'constant'");
  CHECK(mentions(error_of(kSmall + "[schedule]\nkind = \"step\"\n"), "line 6: schedule.kind is 'step'"));
  CHECK(mentions(error_of(kSmall + "[optimizer]\nkind = \"sgd\"\nnesterov = 1\n"), "must be true or false"));
}

TEST_CASE("a value of the wrong type is named with its line") {
  CHECK(mentions(error_of("seed = \"7\"\n" + kSmall), "line 1: seed must be a whole number"));
  CHECK(mentions(error_of(kSmall + "[model]\nlayers = \"two\"\n"), "line 6: model.layers must be a whole number"));
  CHECK(mentions(error_of(kSmall + "[model]\nlayers = 2.5\n"), "line 6: model.layers must be a whole number"));
  CHECK(mentions(error_of("model = 3\n" + kSmall), "line 1: model must be a table"));
}

TEST_CASE("a value out of range is named with its line and what it may be") {
  CHECK(error_of(kSmall + "[model]\nlayers = 0\n") == "manifest.toml, line 6: model.layers is 0; it must be 1 to 256");
  CHECK(mentions(error_of("seed = -1\n" + kSmall), "line 1: seed is out of range"));
  CHECK(mentions(error_of(kSmall + "[model]\nlayers = 99999999999\n"), "model.layers is out of range"));
  CHECK(mentions(error_of("flops_per_sample = nan\n" + kSmall), "line 1: flops_per_sample"));
  CHECK(mentions(error_of("flops_per_sample = -1\n" + kSmall), "line 1: flops_per_sample"));
}

TEST_CASE("the run's name and its data must be given") {
  CHECK(mentions(error_of("[data]\ntrain = \"a\"\nvalidation = \"b\"\n"), "run_id is ''"));
  CHECK(mentions(error_of("run_id = \"a\"\n"), "train = \"file\" is missing"));
  CHECK(mentions(error_of("run_id = \"a\"\n[data]\ntrain = \"a\"\n"), "either validation"));
  CHECK(mentions(error_of(kSmall + "validation = \"b\"\n"), "either validation"));
  CHECK(mentions(error_of("run_id = \"a\"\n[data]\ntrain = \"a\"\nvalidation_fraction = 0.6\n"), "at most 0.5"));
  CHECK(mentions(error_of("run_id = \"a\"\n[data]\ntrain = \"a\"\nvalidation_fraction = -0.1\n"), "above 0"));
}

TEST_CASE("shards are named by a listing, and mirrors by their addresses") {
  const std::string head = "run_id = \"books\"\n[model]\nvocabulary = 8000\n[data]\nkind = \"tokens\"\n";
  const std::string shards = "shards = \"prepared/shards.json\"\n";
  const auto result = read_operator_manifest(
      head + shards + "mirrors = [\"https://a.example.org/books/\", \"https://b.example.org/\"]\nshard_rounds = 5\n",
      "/srv");
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->source.shards == "/srv/prepared/shards.json");
  CHECK(result->source.train.empty());
  CHECK(result->manifest.data.mirrors.size() == 2);
  CHECK(result->manifest.data.shard_rounds == 5);
  const auto again = read_operator_manifest(manifest::write_operator_manifest(*result), "/elsewhere");
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  CHECK(again->source.shards == result->source.shards);
  CHECK(again->manifest.data.mirrors == result->manifest.data.mirrors);
  CHECK(again->manifest.data.shard_rounds == 5);

  CHECK(mentions(error_of(head + shards + "train = \"a\"\n"), "stands alone"));
  CHECK(mentions(error_of(head + shards + "validation_fraction = 0.1\n"), "stands alone"));
  CHECK(mentions(error_of(head + shards + "mirrors = \"https://a.example.org/\"\n"),
                 "line 7: data.mirrors must be a list"));
  CHECK(mentions(error_of(head + shards + "mirrors = [1]\n"), "data.mirrors must be a list"));
  CHECK(mentions(error_of(kSmall + "mirrors = [\"https://a.example.org/\"]\n"), "for data in shards"));
}

TEST_CASE("text that is no TOML is an error with its line") {
  CHECK(mentions(error_of("run_id = \"a\"\nseed = = 1\n"), "line 2"));
  CHECK(mentions(error_of("run_id = \"\xff\"\n"), "line 1"));
  CHECK(!read_operator_manifest(std::string(manifest::kOperatorManifestBytesMax + 1, '\n'), "/srv").ok());
}

TEST_CASE("a decoder needs volunteers that know it") {
  const std::string decoder = "[model]\narchitecture = \"decoder\"\n";
  const auto read = read_operator_manifest(std::string(kSmall) + decoder, "/srv");
  REQUIRE(read.ok());
  CHECK(read->manifest.client_min == "0.1.0");
  CHECK(mentions(error_of(std::string(kSmall) + decoder + "load_loss = 0.1\n"), "load_loss"));  // without experts
}

TEST_CASE("what is written reads back as the same run, whatever it trains") {
  for (const char* model : {"architecture = \"gpt\"\npositions = \"rotary\"\n", "architecture = \"albert\"\n",
                            "architecture = \"resnet\"\n", "architecture = \"mlp\"\nlayers = 3\n",
                            "architecture = \"decoder\"\nkv_heads = 2\noutput_layer = \"own\"\n",
                            "architecture = \"decoder\"\nexpert_rows = 4\nexpert_columns = 2\nload_loss = 0.02\n"}) {
    for (const char* optimizer : {"sgd", "adamw", "lamb", "muon", "accum_adamw"}) {
      CAPTURE(model);
      CAPTURE(optimizer);
      const bool text = std::string(model).find("gpt") != std::string::npos ||
                        std::string(model).find("decoder") != std::string::npos;
      const auto read = read_operator_manifest(
          std::string("run_id = \"poems-1\"\ntitle = 'He said \"no\"; C:\\x'\nerror_feedback = 0.1\nflops_per_sample = "
                      "1.2345678901234567e9\n[model]\n") +
              model + "[optimizer]\nkind = \"" + optimizer + "\"\n[schedule]\nlearning_rate = 1e-5\n[data]\n" +
              (text ? "train = \"a b.txt\"\nvalidation_fraction = 0.25\n"
                    : "kind = \"labelled\"\ntrain = \"a.st\"\nvalidation = \"b.st\"\n"),
          "/srv");
      if (!read.ok()) continue;  // not every model goes with every kind of data; the count below says that most do
      const auto again = read_operator_manifest(manifest::write_operator_manifest(*read), "/elsewhere");
      REQUIRE_MESSAGE(again.ok(), again.error().message);
      CHECK(wire::encode_manifest(again->manifest) == wire::encode_manifest(read->manifest));
      CHECK(again->source.train == read->source.train);
      CHECK(again->source.validation == read->source.validation);
      CHECK(again->source.validation_fraction == read->source.validation_fraction);
    }
  }
}

TEST_CASE("experts can be shared out, where the model has some") {
  const std::string data = "run_id = \"r\"\n[data]\ntrain = \"t\"\nvalidation_fraction = 0.1\n";
  const std::string model = "[model]\narchitecture = \"decoder\"\nexpert_rows = 4\n";
  const auto read = read_operator_manifest(
      data + model + "[cells]\nkind = \"experts\"\nexperts_per_cell = 2\nholders = 3\ncodec = \"bf16\"\n", ".");
  REQUIRE(read.ok());
  const wire::CellOptions& cells = read->manifest.model.experts.cells;
  CHECK(cells.experts == 2);
  CHECK(cells.holders == 3);
  CHECK(cells.codec == wire::Codec::bf16);
  CHECK_FALSE(read->manifest.client_min.empty());
  const auto again = read_operator_manifest(manifest::write_operator_manifest(*read), ".");
  REQUIRE(again.ok());
  CHECK(again->manifest.model.experts.cells == cells);
  const auto why = [&](const std::string& table) { return read_operator_manifest(data + table, ".").error().message; };
  CHECK(why(model + "[cells]\nholders = 2\n").find("experts_per_cell") != std::string::npos);
  CHECK(why(model + "[cells]\nexperts_per_cell = 2\nholders = 9\n").find("cells.holders is 9") != std::string::npos);
  CHECK(why(model + "[cells]\nexperts_per_cell = 2\nupdate = \"never\"\n").find("'round'") != std::string::npos);
  CHECK(why("[cells]\nexperts_per_cell = 2\n").find("cells.kind") != std::string::npos);
}

TEST_CASE("a model of one's own is two files and what a sample of it costs") {
  const std::string files = "[model]\narchitecture = \"script\"\nprogram = \"m.pt\"\nparameters = \"m.safetensors\"\n";
  const std::string model = files + "activation_bytes = 4000000000\n";
  const auto result = read_operator_manifest("flops_per_sample = 1e6\n" + kSmall + model, "/srv");
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->source.program == "/srv/m.pt");
  CHECK(result->source.parameters == "/srv/m.safetensors");
  const auto again = read_operator_manifest(manifest::write_operator_manifest(*result), "/");
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  CHECK(again->source.program == "/srv/m.pt");
  CHECK(again->manifest.model.script.activation_bytes == 4'000'000'000);
  CHECK(mentions(error_of(kSmall + model), "flops_per_sample is missing"));
  CHECK(mentions(error_of("flops_per_sample = 1e6\n" + kSmall + files), "activation_bytes is missing"));
  CHECK(mentions(error_of("flops_per_sample = 1e6\n" + kSmall + files + "activation_bytes = -1\n"), "line"));
  CHECK(mentions(error_of("flops_per_sample = 1e6\n" + kSmall + "[model]\narchitecture = \"script\"\n"), "program = "));
}
