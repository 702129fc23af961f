// Every architecture in the product's trainer, on a data set that it can learn within seconds.
#include <ATen/Context.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/training/torch_trainer.h"
#include "shared/base/words.h"
#include "shared/run/model_layout.h"
#include "tests/client/training/data_files.h"

using namespace starling;
using namespace starling::training;
using namespace starling::training::testing;

namespace {

struct Small {
  wire::RunManifest manifest;
  Bytes file;
};

Small small_run(wire::Architecture architecture, wire::DataKind kind) {
  Small run;
  wire::RunManifest& manifest = run.manifest;
  manifest.model.architecture = architecture;
  manifest.data.kind = kind;
  manifest.peers_max = 1;
  manifest.micro_batch_size = 16;
  manifest.schedule.kind = wire::ScheduleKind::constant;
  manifest.schedule.warmup_rounds = 5;
  manifest.schedule.learning_rate = 3e-3;
  manifest.model.width = 32;
  manifest.model.heads = 2;
  manifest.model.layers = 2;
  manifest.model.context = 24;
  manifest.model.vocabulary = 30;
  manifest.model.embedding_width = 16;
  manifest.model.mlp_width = 64;
  manifest.model.image_size = 8;
  manifest.model.inputs = 192;
  manifest.model.classes = 2;
  if (architecture == wire::Architecture::resnet) manifest.model.layers = 18;
  if (architecture == wire::Architecture::decoder) manifest.model.experts.rows = 4;
  run.file = kind == wire::DataKind::tokens ? paired_tokens(1000) : two_kinds_of_images(64, 8);
  return run;
}

struct Trainee {
  explicit Trainee(const Small& run, bool bf16 = false)
      : manifest(run.manifest), file(run.file), optimizer(run.manifest) {
    state.resize(optimizer.state_size());
    scratch.resize(optimizer.parameter_count());
    sum.resize(optimizer.parameter_count());
    auto created = TorchTrainer::create({manifest, file, file, state, scratch, journal.get(), 1, bf16});
    REQUIRE_MESSAGE(created.ok(), created.error().message);
    trainer = std::move(created).value();
    REQUIRE(trainer->initialize().ok());
  }

  // The mean loss of the last of `rounds` rounds.
  double train(int rounds) {
    double loss = 0;
    for (RoundIndex round = 0; round < rounds; ++round) {
      std::fill(sum.begin(), sum.end(), 0.0F);
      const auto report = trainer->train_batch({round, 0, 0, manifest.micro_batch_size}, sum);
      REQUIRE_MESSAGE(report.ok(), report.error().message);
      for (float& value : sum) value /= static_cast<float>(manifest.micro_batch_size);
      REQUIRE(trainer->step(round, sum).ok());
      loss = report->loss_sum / static_cast<double>(manifest.micro_batch_size);
    }
    return loss;
  }

  wire::RunManifest manifest;
  Bytes file;
  optim::Optimizer optimizer;
  std::vector<float> state, scratch, sum;
  std::unique_ptr<optim::StepJournal> journal = std::make_unique<optim::StepJournal>();
  std::unique_ptr<TorchTrainer> trainer;
};

// Its words are of two tokens each, which follow each other.
void learns_pairs(const Small& run) {
  Trainee trainee(run);
  const auto before = trainee.trainer->evaluate();
  REQUIRE(before.ok());
  trainee.train(80);
  const auto after = trainee.trainer->evaluate();
  REQUIRE(after.ok());
  // 12 words of two tokens of two bytes each: log2(12) / 4 bits a byte for a model that knows them all.
  CHECK(before->bits_per_byte > 2.3);
  CHECK(after->bits_per_byte < 1.2);
  CHECK(after->bits_per_byte > 0.85);
  CHECK(before->accuracy.value() < 0.2);
  CHECK(after->accuracy.value() > 0.45);  // the second token of each word, and one in twelve first tokens
  CHECK(after->accuracy.value() < 0.7);
  // The model completes the incomplete word and continues, in tokens.
  const auto tokens = trainee.trainer->sample_tokens(std::vector<int>{7, 8, 21}, 9, 0);
  REQUIRE_MESSAGE(tokens.ok(), tokens.error().message);
  REQUIRE(tokens->size() == 9);
  CHECK(tokens->front() == 22);
  for (std::size_t i = 2; i < 9; i += 2) CHECK((*tokens)[i] == (*tokens)[i - 1] + 1);
  CHECK(trainee.trainer->sample_tokens({}, 3, 1).ok());
  for (const int stranger : {-1, 30}) {
    const auto refused = trainee.trainer->sample_tokens(std::vector<int>{stranger}, 3, 1);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
  }
}

}  // namespace

TEST_CASE("a gpt over tokens learns which follow each other, and counts bits by the bytes they stand for") {
  Small run = small_run(wire::Architecture::gpt, wire::DataKind::tokens);
  run.manifest.model.positions = wire::Positions::rotary;
  run.manifest.model.activation = wire::Activation::gelu;
  run.manifest.model.recent = 0;
  learns_pairs(run);
}

TEST_CASE("so does a decoder, with perceptrons and with experts") {
  Small run = small_run(wire::Architecture::decoder, wire::DataKind::tokens);
  run.manifest.model.kv_heads = 1;
  run.manifest.model.experts.rows = 0;
  learns_pairs(run);
  run.manifest.model.experts = {.rows = 2, .columns = 2};
  learns_pairs(run);
}

TEST_CASE("an albert learns to guess words, also by LAMB") {
  Small run = small_run(wire::Architecture::albert, wire::DataKind::tokens);
  run.file = paired_tokens(1000, true);
  run.manifest.optimizer = wire::default_optimizer(wire::OptimizerKind::lamb);
  run.manifest.schedule.learning_rate = 5e-3;
  Trainee trainee(run);
  const double first = trainee.train(1);
  const double last = trainee.train(500);
  CHECK(first > 3.7);  // log(30) for a word, and log(2) for the order
  CHECK(last < 3);     // a model that only knows the set of words has 3.87 (log(24) and log(2))
  CHECK(trainee.trainer->evaluate()->accuracy.value() > 0.1);  // a model that only knows that has one in 24
  CHECK(trainee.trainer->sample_tokens(std::vector<int>{7}, 1, 1).error().code == ErrorCode::unsupported);
}

TEST_CASE("a resnet and a perceptron learn to tell two kinds of images apart") {
  for (const wire::Architecture architecture : {wire::Architecture::resnet, wire::Architecture::mlp}) {
    CAPTURE(word_of(architecture));
    Trainee trainee(small_run(architecture, wire::DataKind::labelled));
    trainee.train(12);
    const auto after = trainee.trainer->evaluate();
    REQUIRE(after.ok());
    CHECK(after->bits_per_byte < 0.3);
    CHECK(after->accuracy.value() > 0.95);
  }
}

TEST_CASE("a gradient does not depend on the pieces in which it was computed, nor on who computes which") {
  for (const auto& [architecture, kind] : {std::pair{wire::Architecture::gpt, wire::DataKind::tokens},
                                           {wire::Architecture::decoder, wire::DataKind::tokens},
                                           {wire::Architecture::albert, wire::DataKind::tokens},
                                           {wire::Architecture::resnet, wire::DataKind::labelled},
                                           {wire::Architecture::mlp, wire::DataKind::labelled}}) {
    CAPTURE(word_of(architecture));
    Small run = small_run(architecture, kind);
    // Adds up the gradients of these pieces, each computed by at most `size` samples at a time.
    const auto sum_of = [&run](SampleCount size, const std::vector<wire::SampleRange>& pieces) {
      run.manifest.micro_batch_size = size;
      Trainee trainee(run);
      for (const wire::SampleRange& piece : pieces) REQUIRE(trainee.trainer->train_batch(piece, trainee.sum).ok());
      return trainee.sum;
    };
    const std::vector<float> whole = sum_of(16, {{3, 0, 32, 16}});
    const std::vector<wire::SampleRange> split = {{3, 0, 37, 11}, {3, 0, 32, 5}};  // in another order
    for (const auto& other : {sum_of(1, {{3, 0, 32, 16}}), sum_of(16, split), sum_of(3, split)}) {
      double difference = 0, norm = 0;
      for (std::size_t i = 0; i < whole.size(); ++i) {
        difference += std::pow(static_cast<double>(whole[i]) - other[i], 2);
        norm += std::pow(static_cast<double>(whole[i]), 2);
      }
      CHECK(norm > 0);
      CHECK(std::sqrt(difference / norm) < 1e-5);
    }
  }
}

TEST_CASE("no product is computed in TF32, whatever the run allows") {
  for (const wire::Precision precision : {wire::Precision::fp32, wire::Precision::bf16}) {
    at::globalContext().setAllowTF32CuDNN(true);
    at::globalContext().setAllowTF32CuBLAS(true);
    Small run = small_run(wire::Architecture::resnet, wire::DataKind::labelled);
    run.manifest.precision = precision;
    const Trainee trainee(run, true);
    CHECK_FALSE(at::globalContext().allowTF32CuDNN());
    CHECK_FALSE(at::globalContext().allowTF32CuBLAS());
    CHECK(trainee.trainer->device().precision == word_of(precision));
  }
}

TEST_CASE("computing in bf16 changes gradients by its rounding, and no more") {
  Small run = small_run(wire::Architecture::gpt, wire::DataKind::tokens);
  const Trainee plain(run);
  run.manifest.precision = wire::Precision::bf16;
  Trainee exact(run, false), rounded(run, true);
  REQUIRE(exact.trainer->train_batch({0, 0, 0, 16}, exact.sum).ok());
  REQUIRE(rounded.trainer->train_batch({0, 0, 0, 16}, rounded.sum).ok());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < exact.sum.size(); ++i) {
    difference += std::pow(static_cast<double>(exact.sum[i]) - rounded.sum[i], 2);
    norm += std::pow(static_cast<double>(exact.sum[i]), 2);
  }
  CHECK(difference > 0);
  CHECK(std::sqrt(difference / norm) < 0.03);
}
