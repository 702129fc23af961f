#include "shared/run/model_layout.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>

using namespace starling::wire;

TEST_CASE("parameters fill the flat vector without gaps, each under a name of its own") {
  const ModelOptions model;
  std::size_t next = 0;
  std::set<std::string> names;
  for (const ParameterInfo& info : model_layout(model)) {
    CHECK(info.offset == next);
    std::size_t product = 1;
    for (const std::int64_t size : info.shape) product *= static_cast<std::size_t>(size);
    CHECK(info.count == product);
    CHECK(names.insert(info.name).second);
    next += info.count;
  }
  CHECK(parameter_count(model) == next);
}

TEST_CASE("weight decay takes matrices and spares norms and biases") {
  for (const ParameterInfo& info : model_layout(ModelOptions{})) {
    CHECK_MESSAGE(info.decayed == (info.shape.size() == 2), info.name);
  }
}

TEST_CASE("the cost of a sample grows with layers, with the square of the width, and with the context") {
  ModelOptions model;
  model.layers = 4;
  model.width = 128;
  model.context = 128;
  const double base = flops_per_sample(model);
  // Six operations for each weight and byte (the usual rule of thumb), plus the attention's squares.
  const double weights = 4 * 12 * 128.0 * 128 + 256 * 128;
  CHECK(base == doctest::Approx(128 * (6 * weights + 4 * 12 * 128.0 * 128)));
  ModelOptions deeper = model;
  deeper.layers = 8;
  CHECK(flops_per_sample(deeper) > 1.8 * base);
  ModelOptions wider = model;
  wider.width = 256;
  CHECK(flops_per_sample(wider) > 3 * base);
  ModelOptions longer = model;
  longer.context = 256;
  CHECK(flops_per_sample(longer) > 2 * base);
}

namespace {

// FNV-1a over every name, shape and initial value in their order.
std::uint64_t fingerprint(const ModelOptions& model) {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto add = [&hash](const std::string& text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  };
  for (const ParameterInfo& info : model_layout(model)) {
    add(info.name);
    for (const std::int64_t size : info.shape) add(" " + std::to_string(size));
    add(info.decayed ? " decayed" : "");
    add(info.hidden ? " hidden" : "");
    add(" " + std::to_string(info.initial_bound) + " " + std::to_string(info.initial_value) + ";");
  }
  return hash;
}

ModelOptions of(Architecture architecture, int layers) {
  ModelOptions model;
  model.architecture = architecture;
  model.layers = layers;
  return model;
}

}  // namespace

TEST_CASE("layouts stay as they are: a run that is under way has its parameters in them") {
  CHECK(fingerprint(of(Architecture::gpt, 4)) == 10429858755959708270U);
  CHECK(fingerprint(of(Architecture::albert, 4)) == 6973748544433362886U);
  CHECK(fingerprint(of(Architecture::resnet, 18)) == 2547962748276085035U);
  CHECK(fingerprint(of(Architecture::resnet, 50)) == 1871166204393932272U);
  CHECK(fingerprint(of(Architecture::mlp, 2)) == 2432467754672847532U);
  CHECK(fingerprint(of(Architecture::decoder, 4)) == 15318533149766167140U);
}

TEST_CASE("well-known models have as many parameters as are published for them") {
  ModelOptions gpt2 = of(Architecture::gpt, 12);
  gpt2.width = 768;
  gpt2.heads = 12;
  gpt2.context = 1024;
  gpt2.vocabulary = 50257;
  gpt2.recent = 0;
  CHECK(parameter_count(gpt2) == 124'439'808 - 12 * 3 * 768);  // our model has no biases in attention
  ModelOptions albert = of(Architecture::albert, 12);
  albert.width = 768;
  albert.heads = 12;
  albert.context = 512;
  albert.vocabulary = 30000;
  albert.embedding_width = 128;
  albert.mlp_width = 3072;
  // The published 11.7 M (encoder and pooler: 11 683 584), and the two heads.
  CHECK(parameter_count(albert) == 11'683'584 - 3 * 768 + (768 * 128 + 128) + 2 * 128 + 30000 + (2 * 768 + 2));
  ModelOptions llama = of(Architecture::decoder, 32);  // Llama 2 with 7 billion, and Mistral 7B, whose keys are fewer
  llama.width = 4096;
  llama.heads = 32;
  llama.vocabulary = 32000;
  llama.mlp_width = 11008;
  llama.output_layer = OutputLayer::own;
  CHECK(parameter_count(llama) == 6'738'415'616);
  llama.kv_heads = 8;
  llama.mlp_width = 14336;
  CHECK(parameter_count(llama) == 7'241'732'096);
  for (const auto& [layers, published] : {std::pair{18, 11'689'512}, {50, 25'557'032}}) {
    ModelOptions resnet = of(Architecture::resnet, layers);
    resnet.image_size = 224;
    resnet.classes = 1000;
    CHECK(parameter_count(resnet) == static_cast<std::size_t>(published));
  }
}

TEST_CASE(
    "a decoder's experts come last, each a stretch of the vector, and a token pays for those that it goes through") {
  ModelOptions mixtral = of(Architecture::decoder, 32);  // 8x7B: 46.7 billion parameters, 12.9 for a token
  mixtral.width = 4096;
  mixtral.heads = 32;
  mixtral.kv_heads = 8;
  mixtral.mlp_width = 14336;
  mixtral.vocabulary = 32000;
  mixtral.output_layer = OutputLayer::own;
  mixtral.experts.rows = 8;
  CHECK(parameter_count(mixtral) == 46'702'792'704);
  mixtral.context = 1;
  const double norms = 65 * 4096.0, embedding = 32000 * 4096.0, attention = 32 * 2 * 4096.0;
  CHECK(flops_per_sample(mixtral) / 6 - attention == doctest::Approx(12'879'925'248 - norms - embedding).epsilon(1e-9));

  ModelOptions grid = of(Architecture::decoder, 4);
  grid.experts.rows = 2;
  grid.experts.columns = 3;
  grid.experts.every = 2;
  std::vector<std::string> experts;
  const std::vector<ParameterInfo> layout = model_layout(grid);
  for (const ParameterInfo& info : layout) {
    if (info.name.find("expert") != std::string::npos) experts.push_back(info.name);
  }
  REQUIRE(experts.size() == std::size_t{2 * 6 * 2});
  CHECK(experts.front() == "block1.expert0.mlp_in.weight");
  CHECK(experts.back() == "block3.expert5.mlp_out.weight");
  CHECK(layout[layout.size() - experts.size()].name == experts.front());
}

TEST_CASE("what an image costs a resnet is what is published") {
  ModelOptions resnet = of(Architecture::resnet, 50);
  resnet.image_size = 224;
  resnet.classes = 1000;
  // 4.09 billion multiplications in the forward pass, twice that in the backward pass, less the first layer's gradient
  // by the image.
  CHECK(flops_per_sample(resnet) == doctest::Approx(2 * 3 * 4.09e9).epsilon(0.03));
}

TEST_CASE("what a run needs of a volunteer's memory grows with all that it is made of") {
  RunManifest manifest;
  manifest.model = of(Architecture::gpt, 12);
  manifest.model.width = 768;
  manifest.model.heads = 12;
  manifest.model.context = 1024;
  manifest.model.vocabulary = 50257;
  const MemoryNeeds needs = memory_needs(manifest);
  RunManifest audited = manifest;
  audited.round.audit_rate = 0.5;
  CHECK(memory_needs(audited).gradients - needs.gradients ==
        static_cast<double>(sizeof(float) * parameter_count(manifest.model)));
  const double vector = 4.0 * static_cast<double>(parameter_count(manifest.model));
  CHECK(needs.state == 3 * vector);  // AdamW's two moments
  CHECK(needs.gradients == 4 * vector);
  // A position of a GPT-2 takes about 0.7 MB in its 12 blocks, 0.6 in attention and 0.4 in scores.
  CHECK(needs.activations > 1024 * 1e6);
  CHECK(needs.activations < 1024 * 2e6);
  CHECK(needs.total() == doctest::Approx(needs.programs + needs.state + needs.gradients + needs.activations));

  RunManifest other = manifest;
  other.optimizer = default_optimizer(OptimizerKind::sgd);
  CHECK(memory_needs(other).state == 2 * vector);
  other = manifest;
  other.local.emplace();
  CHECK(memory_needs(other).state == 7 * vector);  // AdamW inside, too, and the parameters where the steps began
  CHECK(memory_needs(other).gradients == 4 * vector);
  other.local->partners = GossipPartners::ring;
  CHECK(memory_needs(other).gradients == 6 * vector);
  other.local->mixing_momentum = 0.5;
  CHECK(memory_needs(other).gradients == 8 * vector);
  other = manifest;
  other.round.delay_parameter_updates = true;
  CHECK(memory_needs(other).state == 4 * vector);
  CHECK(memory_needs(other).gradients == 4 * vector);
  other.local.emplace();
  CHECK(memory_needs(other).state == 8 * vector);  // both sets of parameters where steps began
  other.local->fragments = 4;
  CHECK(memory_needs(other).gradients == 2.5 * vector);
  other.local->eager = true;
  CHECK(memory_needs(other).state == 9 * vector);
  other = manifest;
  other.round.error_feedback = 0.9;
  CHECK(memory_needs(other).gradients == 6 * vector);
  other = manifest;
  other.model.context = 512;
  CHECK(memory_needs(other).activations < 0.5 * needs.activations);
  for (const auto& [architecture, layers] :
       {std::pair{Architecture::albert, 2}, {Architecture::resnet, 18}, {Architecture::mlp, 2}}) {
    other = manifest;
    other.model = of(architecture, layers);
    CHECK(memory_needs(other).activations > 0);
  }
  other = manifest;
  other.model = of(Architecture::script, 1);
  other.model.script.tensors = {{"w", {1000}}};
  other.model.script.activation_bytes = 3'000'000'000;
  CHECK(memory_needs(other).activations == 3e9);
}
