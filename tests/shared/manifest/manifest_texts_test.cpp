// The exact text of a run's description, as it is signed and as the operator's file has it: signatures of runs that
// older versions began must stay valid.
#include <doctest/doctest.h>

#include <string>

#include "shared/base/hash.h"
#include "shared/manifest/algorithms.h"
#include "shared/manifest/operator_manifest.h"

namespace starling::manifest {
namespace {

using wire::RunManifest;

// The description in `toml`, with the files that the operator's program adds.
OperatorManifest described(const std::string& toml) {
  auto read = read_operator_manifest(toml, "/srv");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  RunManifest& manifest = read->manifest;
  wire::DataOptions& data = manifest.data;
  data.validation = {Digest{{0xcd}}, 100'000};
  const bool bytes = data.kind == wire::DataKind::bytes;
  if (!bytes) data.validation_items = 5000;
  if (!read->source.shards.empty()) {
    data.shards = {{{Digest{{1}}, 40'000'000}, 20'000'000}, {{Digest{{2}}, 50'000'000}, 25'000'000}};
    data.tokenizer = {Digest{{3}}, 300'000};
  } else {
    data.train = {Digest{{0xab}}, 200'000'000};
    if (!bytes) data.train_items = 3'000'000;
  }
  if (!read->source.program.empty()) {
    wire::ScriptModel& script = manifest.model.script;
    script.program = {Digest{{4}}, 5000};
    script.parameters = {Digest{{5}}, 48'128};
    script.tensors = {{"net.weight", {100, 120}}, {"net.bias", {120}}};
  }
  return *read;
}

const std::string kWords = "run_id = 'words-1'\ntitle = \"F\\u00f6rt\"\nseed = 7\n";
const std::string kBytes = kWords + "[data]\ntrain = 'a.txt'\nvalidation_fraction = 0.05\n";

const std::string kGpt = R"(run_id = 'gpt-1'
title = 'All "settings"'
seed = 9
target_batch_size = 64
micro_batch_size = 4
rounds_max = 500
checkpoint_rounds = 20
peers_max = 32
flops_per_sample = 1.5e9
codec = 'fp16'
contribution_codec = 'int8'
error_feedback = 0.5
delay_parameter_updates = true
precision = 'bf16'
moments = 'fp8'
client_min = '0.2.0'
[model]
layers = 2
width = 64
positions = 'rotary'
activation = 'gelu'
recent = 2
[optimizer]
kind = 'muon'
momentum = 0.9
[schedule]
kind = 'linear'
[averaging]
formation = 'grid'
group_size = 12
[data]
sampling = 'independent'
train = 'a.txt'
validation = 'b.txt'
)";

const std::string kAlbert = R"(run_id = 'albert-1'
[model]
architecture = 'albert'
vocabulary = 5000
[local]
partners = 'random'
mix_every = 50
consensus_bound = 0.1
mixing_rate = 0.7
mixing_momentum = 0.5
mixing_pull = 0.7
[local.optimizer]
kind = 'accum_adamw'
[local.schedule]
kind = 'constant'
[optimizer]
kind = 'lamb'
[data]
kind = 'tokens'
shards = 'shards.json'
mirrors = ['https://mirror.example.org/a/', 'https://other.example.org/']
mirror_ca = "-----BEGIN\n"
shard_rounds = 8
)";

const std::string kResnet = R"(run_id = 'resnet-1'
low_rank = 4
[model]
architecture = 'resnet'
layers = 18
[optimizer]
kind = 'sgd'
nesterov = true
[schedule]
kind = 'inverse_sqrt'
[data]
kind = 'labelled'
train = 'a.safetensors'
validation = 'b.safetensors'
)";

const std::string kScript = R"(run_id = 'script-1'
flops_per_sample = 1e6
[model]
architecture = 'script'
program = 'p.pt'
parameters = 'p.safetensors'
activation_bytes = 1000
context = 64
[data]
train = 'a.txt'
validation = 'b.txt'
)";

std::string json_of(const std::string& toml) { return wire::encode_manifest(described(toml).manifest); }
std::string toml_of(const std::string& toml) { return write_operator_manifest(described(toml)); }

std::string hash_of(const std::string& text) {
  return hash128({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}).hex();
}

}  // namespace

TEST_CASE("manifests have these bytes to sign") {
  CHECK(json_of(kBytes) ==
        R"({"version":1,"run_id":"words-1","title":"Fört","seed":7,"model":{"architecture":"gpt","layers":4,"width")"
        R"(:128,"heads":4,"context":128,"vocabulary":256},"data":{"train":{"sha256":"ab0000000000000000000000000000)"
        R"(0000000000000000000000000000000000","bytes":200000000},"validation":{"sha256":"cd00000000000000000000000)"
        R"(000000000000000000000000000000000000000","bytes":100000}},"optimizer":{"kind":"adamw","beta1":0.9,"beta2)"
        R"(":0.99,"epsilon":1e-08,"weight_decay":0.1,"clip_norm":1},"schedule":{"learning_rate":0.003,"warmup_round)"
        R"(s":50,"total_rounds":1000,"final_fraction":0.1},"target_batch_size":96,"micro_batch_size":8,"rounds_max")"
        R"(:0,"peers_max":256,"flops_per_sample":729808896,"codec":"fp32","client_min":""})");
  CHECK(json_of(kGpt) ==
        R"({"version":1,"run_id":"gpt-1","title":"All \"settings\"","seed":9,"model":{"architecture":"gpt","layers")"
        R"(:2,"width":64,"heads":4,"context":128,"vocabulary":256,"positions":"rotary","activation":"gelu","recent")"
        R"(:2},"data":{"train":{"sha256":"ab00000000000000000000000000000000000000000000000000000000000000","bytes")"
        R"(:200000000},"validation":{"sha256":"cd00000000000000000000000000000000000000000000000000000000000000","b)"
        R"(ytes":100000},"sampling":"independent"},"optimizer":{"kind":"muon","momentum":0.9,"nesterov":true,"beta1)"
        R"(":0.9,"beta2":0.99,"epsilon":1e-08,"newton_schulz_steps":5,"update_rms":0.2,"weight_decay":0.1,"clip_nor)"
        R"(m":1},"schedule":{"kind":"linear","learning_rate":0.003,"warmup_rounds":50,"total_rounds":1000,"final_fr)"
        R"(action":0.1},"target_batch_size":64,"micro_batch_size":4,"rounds_max":500,"peers_max":32,"flops_per_samp)"
        R"(le":1500000000,"codec":"fp16","contribution_codec":"int8","error_feedback":0.5,"averaging":{"formation":)"
        R"("grid","group_size":12},"delay_parameter_updates":true,"checkpoint_rounds":20,"precision":"bf16","moment)"
        R"(s":"fp8","client_min":"0.2.0"})");
  CHECK(json_of(kAlbert) ==
        R"({"version":1,"run_id":"albert-1","title":"","seed":1,"model":{"architecture":"albert","layers":4,"width")"
        R"(:128,"heads":4,"context":128,"vocabulary":5000,"embedding_width":64,"mlp_width":512,"masked":0.15},"data)"
        R"(":{"kind":"tokens","validation":{"sha256":"cd00000000000000000000000000000000000000000000000000000000000)"
        R"(000","bytes":100000},"validation_items":5000,"tokenizer":{"sha256":"030000000000000000000000000000000000)"
        R"(0000000000000000000000000000","bytes":300000},"shards":[{"sha256":"0100000000000000000000000000000000000)"
        R"(000000000000000000000000000","bytes":40000000,"items":20000000},{"sha256":"02000000000000000000000000000)"
        R"(00000000000000000000000000000000000","bytes":50000000,"items":25000000}],"mirrors":["https://mirror.exam)"
        R"(ple.org/a/","https://other.example.org/"],"mirror_ca":"-----BEGIN\n","shard_rounds":8},"optimizer":{"kin)"
        R"(d":"lamb","beta1":0.9,"beta2":0.999,"epsilon":1e-06,"trust_min":0,"trust_max":10,"weight_decay":0.01,"cl)"
        R"(ip_norm":1},"schedule":{"learning_rate":0.003,"warmup_rounds":50,"total_rounds":1000,"final_fraction":0.)"
        R"(1},"local":{"optimizer":{"kind":"accum_adamw","beta1":0.9,"beta2":0.98,"epsilon":1e-08,"window_rounds":8)"
        R"(,"weight_decay":0.1,"clip_norm":1},"schedule":{"kind":"constant","learning_rate":0.003,"warmup_rounds":5)"
        R"(0},"partners":"random","mix_every":50,"consensus_bound":0.1,"mixing_rate":0.7,"mixing_momentum":0.5,"mix)"
        R"(ing_pull":0.7},"target_batch_size":96,"micro_batch_size":8,"rounds_max":0,"peers_max":256,"flops_per_sam)"
        R"(ple":748448256,"codec":"fp32","client_min":""})");
  CHECK(json_of(kResnet) ==
        R"({"version":1,"run_id":"resnet-1","title":"","seed":1,"model":{"architecture":"resnet","layers":18,"chann)"
        R"(els":3,"image_size":32,"classes":10},"data":{"kind":"labelled","train":{"sha256":"ab00000000000000000000)"
        R"(000000000000000000000000000000000000000000","bytes":200000000},"train_items":3000000,"validation":{"sha2)"
        R"(56":"cd00000000000000000000000000000000000000000000000000000000000000","bytes":100000},"validation_items)"
        R"(":5000},"optimizer":{"kind":"sgd","momentum":0.9,"nesterov":true,"weight_decay":0,"clip_norm":1},"schedu)"
        R"(le":{"kind":"inverse_sqrt","learning_rate":0.003,"warmup_rounds":50},"target_batch_size":96,"micro_batch)"
        R"(_size":8,"rounds_max":0,"peers_max":256,"flops_per_sample":3328997376,"codec":"fp32","low_rank":4,"clien)"
        R"(t_min":""})");
  CHECK(json_of(kScript) ==
        R"({"version":1,"run_id":"script-1","title":"","seed":1,"model":{"architecture":"script","context":64,"acti)"
        R"(vation_bytes":1000,"program":{"sha256":"0400000000000000000000000000000000000000000000000000000000000000)"
        R"(","bytes":5000},"parameters":{"sha256":"0500000000000000000000000000000000000000000000000000000000000000)"
        R"(","bytes":48128},"tensors":[{"name":"net.weight","shape":[100,120]},{"name":"net.bias","shape":[120]}]},)"
        R"("data":{"train":{"sha256":"ab00000000000000000000000000000000000000000000000000000000000000","bytes":200)"
        R"(000000},"validation":{"sha256":"cd00000000000000000000000000000000000000000000000000000000000000","bytes)"
        R"(":100000}},"optimizer":{"kind":"adamw","beta1":0.9,"beta2":0.99,"epsilon":1e-08,"weight_decay":0.1,"clip)"
        R"(_norm":1},"schedule":{"learning_rate":0.003,"warmup_rounds":50,"total_rounds":1000,"final_fraction":0.1})"
        R"(,"target_batch_size":96,"micro_batch_size":8,"rounds_max":0,"peers_max":256,"flops_per_sample":1000000,")"
        R"(codec":"fp32","client_min":""})");
}

TEST_CASE("operators' files have texts with these digests") {
  CHECK(hash_of(toml_of(kBytes)) == R"(fd300209ac6d7bd6aaae6b057746c9dc)");
  CHECK(hash_of(toml_of(kGpt)) == R"(8f63cbf64eb695b2cbce25f40adb5b7f)");
  CHECK(hash_of(toml_of(kAlbert)) == R"(ca022638ca1770c52df7ce6c51ced403)");
  CHECK(hash_of(toml_of(kResnet)) == R"(9ac5f1fa0acc40ea746c0a80c89da22a)");
  CHECK(hash_of(toml_of(kScript)) == R"(74121f9a4e08d3fc367b1fc5253e8f01)");
}

TEST_CASE("every algorithm's manifest and file have texts with these digests") {
  std::string digests;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == "dmoe") continue;  // for models in cells
    const std::string toml = "algorithm = '" + std::string(algorithm.name) + "'\n" + kBytes;
    digests += hash_of(json_of(toml)) + " " + hash_of(toml_of(toml)) + "\n";
  }
  CHECK(digests == R"(833453e33d6ce004d561b0e9d17736e1 fd300209ac6d7bd6aaae6b057746c9dc
eb3392ea5baa466d5626963e31ab49aa b71eec64bba610fd6473593eb3ebe600
967fbc10b62be0c5e4a2b2b5e6c2908c 5a6900ecb420a20bccc5d7922a48fcb5
1c450b6282edb8025938653696ec2e92 c3849b2ae1fd7cc64ca7c50df2bfaea6
152bee847d2db632d4b79abaf1e5663e 9bec73632afd5c586be22d4f95a60eac
5539270cfb59d6fcfb1951daaf14797f 303780a265c2c75a6a36b99f2c72c467
5303779d1efab20fdc037a504229a7d5 2aaecf70d09a816b79f6e4b2d90f4002
70930e3ea4b7a0b8e2bb122318469255 ab9a989feaa20c92a50eb4e811ae2a61
48a91de77a10017bf7bf88208751b7d4 9b1d6ea941b1b28366569b3351c60a4a
)");
}

TEST_CASE("a manifest that was read is written like it was") {
  for (const std::string& toml : {kBytes, kGpt, kAlbert, kResnet, kScript}) {
    const std::string json = json_of(toml);
    const auto manifest = wire::decode_manifest(json);
    REQUIRE_MESSAGE(manifest.ok(), manifest.error().message);
    CHECK(wire::encode_manifest(*manifest) == json);
    const std::string file = toml_of(toml);
    CHECK(write_operator_manifest(described(file)) == file);
  }
}

}  // namespace starling::manifest
