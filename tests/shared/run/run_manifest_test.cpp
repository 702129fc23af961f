#include "shared/run/run_manifest.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/words.h"
#include "shared/run/fragments.h"
#include "shared/run/low_rank.h"
#include "shared/run/model_layout.h"

using namespace starling;
using namespace starling::wire;

namespace {

RunManifest good_manifest() {
  RunManifest manifest;
  manifest.run_id = "fortunes-1";
  manifest.title = "Fortünes";
  manifest.seed = 7;
  manifest.data.train.sha256.bytes.fill(0xab);
  manifest.data.train.bytes = 2'000'000;
  manifest.data.validation.sha256.bytes.fill(0xcd);
  manifest.data.validation.bytes = 100'000;
  manifest.flops_per_sample = 1.5e9;
  manifest.client_min = "0.1.0";
  return manifest;
}

OptimizerOptions sgd(double momentum, bool nesterov) {
  OptimizerOptions options = default_optimizer(OptimizerKind::sgd);
  options.momentum = momentum;
  options.nesterov = nesterov;
  return options;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

using Changes = std::vector<std::pair<std::string, std::function<void(RunManifest&)>>>;

// Each change makes a good manifest a refused one, whose error names the field.
void check_refused(const Changes& changes) {
  REQUIRE(check_manifest(good_manifest()).ok());
  for (const auto& entry : changes) {
    const std::string& field = entry.first;
    CAPTURE(field);
    RunManifest manifest = good_manifest();
    entry.second(manifest);
    const Status status = check_manifest(manifest);
    REQUIRE(!status.ok());
    CHECK(status.error().code == ErrorCode::invalid_argument);
    CHECK(status.error().message.find(" " + field + " is ") != std::string::npos);
    CHECK(!decode_manifest(encode_manifest(manifest)).ok());
  }
}

LocalOptions& gossip(RunManifest& manifest) {
  LocalOptions& local = manifest.local.emplace();
  local.partners = GossipPartners::random;
  return local;
}

// Rounds of fragments, with local steps.
void stream(RunManifest& manifest, int fragments) {
  manifest.round.delay_parameter_updates = true;
  manifest.local.emplace().fragments = fragments;
}

}  // namespace

TEST_CASE("the bytes to sign are these, on every machine and in every version that follows") {
  CHECK(
      encode_manifest(good_manifest()) ==
      R"({"version":1,"run_id":"fortunes-1","title":"Fortünes","seed":7,)"
      R"("model":{"architecture":"gpt","layers":4,"width":128,"heads":4,"context":128,"vocabulary":256},)"
      R"("data":{"train":{"sha256":"abababababababababababababababababababababababababababababababab","bytes":2000000},)"
      R"("validation":{"sha256":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","bytes":100000}},)"
      R"("optimizer":{"kind":"adamw","beta1":0.9,"beta2":0.99,"epsilon":1e-08,"weight_decay":0.1,"clip_norm":1},)"
      R"("schedule":{"learning_rate":0.003,"warmup_rounds":50,"total_rounds":1000,"final_fraction":0.1},)"
      R"("target_batch_size":96,"micro_batch_size":8,"rounds_max":0,"peers_max":256,)"
      R"("flops_per_sample":1500000000,"codec":"fp32","client_min":"0.1.0"})");
}

TEST_CASE("rounds of fragments survive the trip, and a round averages one of them") {
  RunManifest manifest = good_manifest();
  stream(manifest, 4);
  const auto back = decode_manifest(encode_manifest(manifest));
  REQUIRE(back.ok());
  CHECK(back->local->fragments == 4);
  const auto parameters = static_cast<std::int64_t>(parameter_count(manifest.model));
  CHECK(averaged_floats(*back) == (parameters + 3) / 4);
  CHECK(encode_manifest(good_manifest()).find("fragments") == std::string::npos);
}

TEST_CASE("a manifest survives the trip through JSON") {
  RunManifest manifest = good_manifest();
  manifest.schedule.learning_rate = 1.0 / 3;
  manifest.optimizer.beta2 = 0.95;
  manifest.round.codec = Codec::fp16;
  manifest.rounds_max = 12345;
  manifest.checkpoint_rounds = 20;
  manifest.round.contribution_codec = Codec::sparse;
  manifest.round.error_feedback = 0.95;
  manifest.round.averaging = {Formation::grid, 12};
  manifest.round.delay_parameter_updates = true;
  const auto back = decode_manifest(encode_manifest(manifest));
  REQUIRE(back.ok());
  CHECK(encode_manifest(*back) == encode_manifest(manifest));
  CHECK(back->schedule.learning_rate == manifest.schedule.learning_rate);
  CHECK(back->title == manifest.title);
  CHECK(back->round.contribution_codec == Codec::sparse);
  CHECK(back->round.error_feedback == 0.95);
  CHECK(back->round.averaging == AveragingOptions{Formation::grid, 12});
  CHECK(back->round.delay_parameter_updates);
}

TEST_CASE("local steps that go on while a round is averaged survive the trip, and leave other manifests' bytes alone") {
  RunManifest manifest = good_manifest();
  manifest.local.emplace();
  CHECK(encode_manifest(manifest).find("merge_alpha") == std::string::npos);
  CHECK(encode_manifest(manifest).find("eager") == std::string::npos);
  manifest.round.delay_parameter_updates = true;
  manifest.local->merge_alpha = 0.5;
  manifest.local->eager = true;
  const auto back = decode_manifest(encode_manifest(manifest));
  REQUIRE(back.ok());
  CHECK(back->round.delay_parameter_updates);
  CHECK(back->local->merge_alpha == 0.5);
  CHECK(back->local->eager);
}

TEST_CASE("how mixings are made travels where it is not as by default") {
  RunManifest manifest = good_manifest();
  manifest.local.emplace().partners = GossipPartners::random;
  CHECK(encode_manifest(manifest).find("mixing_") == std::string::npos);
  CHECK(encode_manifest(manifest).find("mix_every") == std::string::npos);
  CHECK(mixes_plainly(*manifest.local));
  manifest.local->mix_every = 50;
  manifest.local->consensus_bound = 0.02;
  manifest.local->mixing_rate = manifest.local->mixing_pull = 0.7;
  manifest.local->mixing_momentum = 0.5;
  const auto back = decode_manifest(encode_manifest(manifest));
  REQUIRE(back.ok());
  CHECK(back->local->mix_every == 50);
  CHECK(back->local->consensus_bound == 0.02);
  CHECK(back->local->mixing_rate == 0.7);
  CHECK(back->local->mixing_momentum == 0.5);
  CHECK(back->local->mixing_pull == 0.7);
  CHECK(!mixes_plainly(*back->local));
}

TEST_CASE("factors in place of matrices: as many as the model's matrices gain from, and in one codec") {
  RunManifest manifest = good_manifest();
  manifest.round.low_rank = 4;
  manifest.round.error_feedback = 1;
  const auto back = decode_manifest(encode_manifest(manifest));
  REQUIRE(back.ok());
  CHECK(back->round.low_rank == 4);
  CHECK(averaged_floats(manifest) < static_cast<std::int64_t>(parameter_count(manifest.model)) / 4);
  manifest.round.contribution_codec = Codec::int8;
  CHECK_FALSE(check_manifest(manifest).ok());
}

TEST_CASE("results may leave values out where later rounds make up for them, and nowhere else") {
  const auto refused = [](const std::function<void(RunManifest&)>& change) {
    RunManifest manifest = good_manifest();
    manifest.round.codec = Codec::sparse;
    manifest.round.error_feedback = 0.95;
    manifest.optimizer = default_optimizer(OptimizerKind::sgd);
    change(manifest);
    const Status status = check_manifest(manifest);
    return status.ok() ? "" : status.error().message;
  };
  const auto names = [](const std::string& message, std::string_view field) {
    return message.find(field) != std::string::npos;
  };
  CHECK(refused([](RunManifest&) {}) == "");
  CHECK(refused([](RunManifest& m) { m.round.contribution_codec = Codec::fp16; }) == "");
  CHECK(names(refused([](RunManifest& m) { m.round.error_feedback = 0; }), "error_feedback"));
  CHECK(names(refused([](RunManifest& m) { m.optimizer.kind = OptimizerKind::adamw; }), "codec"));
  CHECK(names(refused([](RunManifest& m) { m.round.low_rank = 4; }), "codec"));
  CHECK(names(refused([](RunManifest& m) { m.local.emplace().partners = GossipPartners::ring; }), "codec"));
  CHECK(names(refused([](RunManifest& m) { m.round.averaging.formation = Formation::grid; }), "averaging.formation"));
}

TEST_CASE("every value out of range is refused, and the message names its field") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Changes changes = {
      {"version", [](RunManifest& m) { m.version = 2; }},
      {"run_id", [](RunManifest& m) { m.run_id = ""; }},
      {"run_id", [](RunManifest& m) { m.run_id = "../etc"; }},
      {"run_id", [](RunManifest& m) { m.run_id = std::string(41, 'a'); }},
      {"title", [](RunManifest& m) { m.title = std::string(101, 'a'); }},
      {"seed", [](RunManifest& m) { m.seed = std::uint64_t{1} << 63; }},
      {"model.layers", [](RunManifest& m) { m.model.layers = 0; }},
      {"model.width", [](RunManifest& m) { m.model.width = 1 << 20; }},
      {"model.width", [](RunManifest& m) { m.model.width = 127; }},
      {"model.heads", [](RunManifest& m) { m.model.heads = 0; }},
      {"model.context", [](RunManifest& m) { m.model.context = -1; }},
      {"model.vocabulary", [](RunManifest& m) { m.model.vocabulary = 50257; }},
      {"data.train.sha256", [](RunManifest& m) { m.data.train.sha256 = {}; }},
      {"data.train.bytes", [](RunManifest& m) { m.data.train.bytes = 20'000; }},
      {"data.validation.bytes", [](RunManifest& m) { m.data.validation.bytes = 128; }},
      {"optimizer.momentum", [](RunManifest& m) { m.optimizer = sgd(1, false); }},
      {"optimizer.nesterov", [](RunManifest& m) { m.optimizer = sgd(0, true); }},
      {"optimizer.beta1", [](RunManifest& m) { m.optimizer.beta1 = 1; }},
      {"optimizer.beta2", [nan](RunManifest& m) { m.optimizer.beta2 = nan; }},
      {"optimizer.epsilon", [](RunManifest& m) { m.optimizer.epsilon = 0; }},
      {"optimizer.weight_decay", [](RunManifest& m) { m.optimizer.weight_decay = -0.1; }},
      {"optimizer.clip_norm", [](RunManifest& m) { m.optimizer.clip_norm = -1; }},
      {"schedule.learning_rate", [](RunManifest& m) { m.schedule.learning_rate = 0; }},
      {"schedule.warmup_rounds", [](RunManifest& m) { m.schedule.warmup_rounds = 1001; }},
      {"schedule.total_rounds", [](RunManifest& m) { m.schedule.total_rounds = 0; }},
      {"schedule.final_fraction", [](RunManifest& m) { m.schedule.final_fraction = 1.5; }},
      {"target_batch_size", [](RunManifest& m) { m.target_batch_size = 0; }},
      {"micro_batch_size", [](RunManifest& m) { m.micro_batch_size = 97; }},
      {"rounds_max", [](RunManifest& m) { m.rounds_max = -1; }},
      {"peers_max", [](RunManifest& m) { m.peers_max = 0; }},
      {"flops_per_sample", [](RunManifest& m) { m.flops_per_sample = 0; }},
      {"error_feedback", [](RunManifest& m) { m.round.error_feedback = 1.5; }},
      {"error_feedback", [nan](RunManifest& m) { m.round.error_feedback = nan; }},
      {"error_feedback",
       [](RunManifest& m) { m.round.contribution_codec = Codec::sparse; }},  // left-out values would be lost
      {"low_rank", [](RunManifest& m) { m.round.low_rank = -1; }},
      {"averaging.formation",
       [](RunManifest& m) { m.round.low_rank = 4, m.round.averaging.formation = Formation::grid; }},
      {"low_rank", [](RunManifest& m) { m.round.low_rank = kLowRankMax + 1; }},
      {"low_rank", [](RunManifest& m) { m.round.low_rank = kLowRankMax; }},  // 128 columns: more than the matrices have
      {"delay_parameter_updates", [](RunManifest& m) { m.round.delay_parameter_updates = true, m.round.low_rank = 4; }},
      {"client_min", [](RunManifest& m) { m.client_min = "1..2"; }},
  };
  check_refused(changes);
}

TEST_CASE("a title is one plain line, and one that an older version took is shown as such") {
  RunManifest manifest = good_manifest();
  for (const char* title : {"a\x1b[2Jb", "a\nb", "a\u009b31m", "a\u202eb", "a\xff"}) {
    manifest.title = title;
    CHECK_FALSE(check_manifest(manifest).ok());
  }
  manifest.title = "a\x1b[2J\u202eb";
  const auto read = decode_manifest(encode_manifest(manifest));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->title == "a?[2Jb");
}

TEST_CASE("a word that is none of its field's is refused with those that it may be") {
  RunManifest manifest = good_manifest();
  gossip(manifest);
  manifest.schedule.kind = ScheduleKind::linear;
  manifest.model.positions = Positions::rotary;
  manifest.model.activation = Activation::gelu;
  manifest.data.sampling = Sampling::independent;
  manifest.round.contribution_codec = Codec::int8;
  manifest.round.averaging.formation = Formation::grid;
  manifest.precision = Precision::bf16;
  manifest.moments = MomentForm::fp8;
  const std::string json = encode_manifest(manifest);
  REQUIRE(decode_manifest(json).ok());
  struct Field {
    std::string place, text, allowed;
  };
  for (const Field& field :
       {Field{"model.architecture", R"("architecture":"gpt")", allowed_words<Architecture>()},
        Field{"model.positions", R"("positions":"rotary")", "'learned' or 'rotary'"},
        Field{"model.activation", R"("activation":"gelu")", "'relu2' or 'gelu'"},
        Field{"data.sampling", R"("sampling":"independent")", "'epochs' or 'independent'"},
        Field{"optimizer.kind", R"("kind":"adamw")", "'sgd', 'adamw', 'lamb', 'muon' or 'accum_adamw'"},
        Field{"schedule.kind", R"("kind":"linear")", allowed_words<ScheduleKind>()},
        Field{"local.partners", R"("partners":"random")", allowed_words<GossipPartners>()},
        Field{"codec", R"("codec":"fp32")", "'fp32', 'fp16', 'int8', 'bf16', 'int4' or 'sparse'"},
        Field{"contribution_codec", R"("contribution_codec":"int8")", allowed_words<Codec>()},
        Field{"averaging.formation", R"("formation":"grid")", "'auto', 'one-group' or 'grid'"},
        Field{"precision", R"("precision":"bf16")", "'fp32', 'bf16' or 'tf32'"},
        Field{"moments", R"("moments":"fp8")", "'fp32', 'fp16' or 'fp8'"}}) {
    const std::string key = field.text.substr(0, field.text.find(':') + 1);
    for (const char* const word : {"strange", ""}) {
      const auto read = decode_manifest(with(json, field.text, key + '"' + word + '"'));
      REQUIRE_FALSE(read.ok());
      CHECK(read.error().message ==
            "run manifest: '" + field.place + "': is '" + word + "'; it must be " + field.allowed);
    }
  }
}

TEST_CASE("what local steps can not be together with is refused, too") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_refused({
      {"local.partners",
       [](RunManifest& m) {
         m.round.delay_parameter_updates = true, m.local.emplace().partners = GossipPartners::ring;
       }},
      {"local.mix_every", [](RunManifest& m) { m.local.emplace().mix_every = 50; }},  // there is nobody to gossip with
      {"local.consensus_bound", [](RunManifest& m) { m.local.emplace().consensus_bound = 0.01; }},
      {"local.mixing_rate", [](RunManifest& m) { m.local.emplace().mixing_rate = 0.7; }},
      {"local.mixing_momentum", [](RunManifest& m) { m.local.emplace().mixing_momentum = 0.5; }},
      {"local.mixing_pull", [](RunManifest& m) { m.local.emplace().mixing_pull = 0.7; }},
      {"local.mix_every", [](RunManifest& m) { gossip(m).mix_every = 0; }},
      {"local.consensus_bound", [nan](RunManifest& m) { gossip(m).consensus_bound = nan; }},
      {"local.consensus_bound", [](RunManifest& m) { gossip(m).consensus_bound = 0.01, m.local->mixing_pull = 0.5; }},
      {"local.mixing_rate", [](RunManifest& m) { gossip(m).mixing_rate = 0; }},
      {"local.mixing_rate", [nan](RunManifest& m) { gossip(m).mixing_rate = nan; }},
      {"local.mixing_momentum", [](RunManifest& m) { gossip(m).mixing_momentum = 1; }},
      {"local.mixing_pull", [](RunManifest& m) { gossip(m).mixing_pull = 2.5; }},
      {"local.merge_alpha",
       [](RunManifest& m) { m.round.delay_parameter_updates = true, m.local.emplace().merge_alpha = 1; }},
      {"local.merge_alpha",
       [nan](RunManifest& m) { m.round.delay_parameter_updates = true, m.local.emplace().merge_alpha = nan; }},
      {"local.merge_alpha", [](RunManifest& m) { m.local.emplace().merge_alpha = 0.5; }},  // nothing to merge
      {"local.eager", [](RunManifest& m) { m.local.emplace().eager = true; }},
      {"local.fragments", [](RunManifest& m) { stream(m, 0); }},
      {"local.fragments", [](RunManifest& m) { stream(m, kFragmentsMax + 1); }},
      {"local.fragments", [](RunManifest& m) { stream(m, 4), m.round.delay_parameter_updates = false; }},
      {"local.eager", [](RunManifest& m) { stream(m, 4), m.local->eager = true; }},
      {"optimizer.kind", [](RunManifest& m) { stream(m, 4), m.optimizer = default_optimizer(OptimizerKind::muon); }},
  });
}

TEST_CASE("every optimizer and schedule travels with its own settings, and with no others") {
  RunManifest manifest = good_manifest();
  manifest.optimizer = default_optimizer(OptimizerKind::sgd);
  manifest.optimizer.momentum = 0.875;
  manifest.optimizer.nesterov = true;
  manifest.schedule.kind = ScheduleKind::inverse_sqrt;
  const std::string json = encode_manifest(manifest);
  CHECK(json.find(R"("optimizer":{"kind":"sgd","momentum":0.875,"nesterov":true,"weight_decay":0,"clip_norm":1},)"
                  R"("schedule":{"kind":"inverse_sqrt","learning_rate":0.003,"warmup_rounds":50},)") !=
        std::string::npos);
  const auto back = decode_manifest(json);
  REQUIRE(back.ok());
  CHECK(back->optimizer.momentum == 0.875);
  CHECK(back->optimizer.nesterov);
  CHECK(back->schedule.kind == ScheduleKind::inverse_sqrt);
  CHECK_FALSE(decode_manifest(with(json, R"("momentum":0.875,)", "")).ok());
  CHECK_FALSE(decode_manifest(with(json, R"("momentum":0.875,)", R"("momentum":0.875,"beta1":0.9,)")).ok());
  CHECK_FALSE(decode_manifest(with(json, R"("nesterov":true)", R"("nesterov":1)")).ok());
}

TEST_CASE("of every optimizer and schedule each setting travels, and out of its range is refused by its name") {
  std::vector<std::pair<std::string, RunManifest>> manifests;
  for (const OptimizerKind kind : all_values<OptimizerKind>()) {
    manifests.emplace_back("optimizer.", good_manifest());
    manifests.back().second.optimizer = default_optimizer(kind);
  }
  for (const ScheduleKind kind : all_values<ScheduleKind>()) {
    manifests.emplace_back("schedule.", good_manifest());
    manifests.back().second.schedule.kind = kind;
  }
  const auto each = [](RunManifest& manifest, bool of_schedule, const auto& visit) {
    of_schedule ? each_schedule_setting(manifest.schedule, visit) : each_optimizer_setting(manifest.optimizer, visit);
  };
  for (auto& [table, manifest] : manifests) {
    RunManifest& changed = manifest;
    const bool of_schedule = table == "schedule.";
    const std::string prefix = table;
    each(changed, of_schedule, [&](std::string_view name, auto& value, auto range) {
      CAPTURE(std::string(name));
      const auto before = value;
      value = range.least;
      const auto back = decode_manifest(encode_manifest(changed));
      const bool is_bound = name == "total_rounds";  // the warm-up must fit
      CHECK(back.ok() != is_bound);
      if (back.ok()) CHECK(encode_manifest(*back) == encode_manifest(changed));
      if constexpr (!std::is_same_v<decltype(value), bool&>) {
        value = range.most + 1;
        const Status status = check_manifest(changed);
        REQUIRE_FALSE(status.ok());
        CHECK(status.error().message.find(" " + prefix + std::string(name) + " is ") != std::string::npos);
      }
      value = before;
    });
    CHECK(check_manifest(changed).ok());
  }
}

namespace {

// A run of that architecture on data that it can learn from.
RunManifest manifest_for(Architecture architecture) {
  RunManifest manifest = good_manifest();
  manifest.model.architecture = architecture;
  const bool reads_text = learns_from(manifest.model, DataKind::tokens);
  manifest.data.kind = reads_text ? DataKind::tokens : DataKind::labelled;
  manifest.data.train_items = 1'000'000;
  manifest.data.validation_items = 10'000;
  if (architecture == Architecture::resnet) manifest.model.layers = 18;
  if (architecture == Architecture::decoder) manifest.model.experts.rows = 8;
  return manifest;
}

}  // namespace

TEST_CASE("of every architecture each setting travels, and out of its range is refused by its name") {
  for (const Architecture architecture :
       {Architecture::gpt, Architecture::albert, Architecture::resnet, Architecture::mlp, Architecture::decoder}) {
    RunManifest manifest = manifest_for(architecture);
    REQUIRE_MESSAGE(check_manifest(manifest).ok(), check_manifest(manifest).error().message);
    const auto back = decode_manifest(encode_manifest(manifest));
    REQUIRE(back.ok());
    CHECK(encode_manifest(*back) == encode_manifest(manifest));
    CHECK(back->data.train_items == 1'000'000);
    each_model_setting(manifest.model, [&](std::string_view name, auto& value, const auto& setting) {
      CAPTURE(std::string(name));
      const auto before = value;
      if constexpr (requires { setting.most; }) {
        value = setting.most + 1;
        const Status status = check_manifest(manifest);
        REQUIRE_FALSE(status.ok());
        CHECK(status.error().message.find(" model." + std::string(name) + " is ") != std::string::npos);
      } else {
        value = static_cast<std::remove_cvref_t<decltype(value)>>(words_of(value).size() - 1);
        const auto other = decode_manifest(encode_manifest(manifest));
        REQUIRE(other.ok());
        CHECK(encode_manifest(*other) == encode_manifest(manifest));
      }
      value = before;
    });
    manifest.data.kind = DataKind::bytes;
    CHECK_FALSE(check_manifest(manifest).ok());  // its items would be counted twice
  }
}

TEST_CASE("a model is refused sizes that make no sense together, and data that it cannot learn from") {
  const auto refused = [](Architecture architecture, const std::function<void(RunManifest&)>& change) {
    RunManifest manifest = manifest_for(architecture);
    change(manifest);
    const Status status = check_manifest(manifest);
    return status.ok() ? "" : status.error().message;
  };
  const auto says = [](const std::string& message, const char* words) {
    return message.find(words) != std::string::npos;
  };
  CHECK(says(refused(Architecture::decoder, [](RunManifest& m) { m.model.kv_heads = 3; }), "a divisor of model.heads"));
  CHECK(says(refused(Architecture::decoder, [](RunManifest& m) { m.model.heads = 128; }), "a multiple of twice"));
  CHECK(says(refused(Architecture::decoder, [](RunManifest& m) { m.model.experts.active = 9; }), "active_experts"));
  CHECK(says(refused(Architecture::decoder, [](RunManifest& m) { m.model.experts.every = 5; }), "expert_every"));
  CHECK(says(refused(Architecture::decoder,
                     [](RunManifest& m) {
                       m.model.experts.rows = 1024;
                       m.model.experts.columns = 32;
                     }),
             "16384 experts in all"));
  CHECK(refused(Architecture::resnet, [](RunManifest& m) { m.model.layers = 34; }).find("18 or 50") !=
        std::string::npos);
  CHECK(refused(Architecture::resnet, [](RunManifest& m) { m.data.kind = DataKind::tokens; }).find("data.kind") !=
        std::string::npos);
  CHECK(refused(Architecture::albert, [](RunManifest& m) { m.model.context = 4; }).find("model.context") !=
        std::string::npos);
  CHECK(refused(Architecture::albert, [](RunManifest& m) { m.model.vocabulary = 5; }).find("model.vocabulary") !=
        std::string::npos);
  CHECK(refused(Architecture::gpt, [](RunManifest& m) {
          m.model.positions = Positions::rotary;
          m.model.width = 132;  // 33 for each head, which cannot be halved for rotation
        }).find("twice model.heads") != std::string::npos);
  CHECK(refused(Architecture::mlp, [](RunManifest& m) { m.data.train_items = 1000; }).find("data.train_items") !=
        std::string::npos);
}

TEST_CASE("what differs from how a gpt was at first is written, and nothing else") {
  RunManifest manifest = good_manifest();
  manifest.model.positions = Positions::rotary;
  manifest.model.recent = 0;
  manifest.precision = Precision::bf16;
  manifest.moments = MomentForm::fp16;
  const std::string json = encode_manifest(manifest);
  CHECK(json.find(R"("vocabulary":256,"positions":"rotary","recent":0},)") != std::string::npos);
  CHECK(json.find(R"("codec":"fp32","precision":"bf16","moments":"fp16",)") != std::string::npos);
  const auto back = decode_manifest(json);
  REQUIRE(back.ok());
  CHECK(back->model.positions == Positions::rotary);
  CHECK(back->model.recent == 0);
  CHECK(back->moments == MomentForm::fp16);
  CHECK_FALSE(decode_manifest(with(json, R"("recent":0)", R"("recent":3)")).ok());  // two ways to say one thing
}

TEST_CASE("moments are kept narrow where there are any, and all step at once") {
  RunManifest manifest = good_manifest();
  manifest.moments = MomentForm::fp8;
  CHECK(check_manifest(manifest).ok());
  manifest.optimizer = default_optimizer(OptimizerKind::sgd);
  CHECK(check_manifest(manifest).ok());
  manifest.optimizer.momentum = 0;
  CHECK(check_manifest(manifest).error().message.find("there are no moments") != std::string::npos);
  manifest.optimizer.momentum = 0.9;
  manifest.round.delay_parameter_updates = true;
  manifest.local.emplace().fragments = 2;
  CHECK(check_manifest(manifest).error().message.find("local.fragments is above 1") != std::string::npos);
}

TEST_CASE("how many vectors an optimizer keeps follows from its settings") {
  OptimizerOptions sgd = default_optimizer(OptimizerKind::sgd);
  CHECK(moment_vectors(sgd) == 1);
  sgd.momentum = 0;
  CHECK(moment_vectors(sgd) == 0);
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::lamb, OptimizerKind::muon}) {
    CHECK(moment_vectors(default_optimizer(kind)) == 2);
  }
  CHECK(moment_vectors(default_optimizer(OptimizerKind::accum_adamw)) == 3);
}

TEST_CASE("a schedule that has no end may warm up as long as it likes") {
  RunManifest manifest = good_manifest();
  manifest.schedule.warmup_rounds = 5000;
  CHECK_FALSE(check_manifest(manifest).ok());
  manifest.schedule.kind = ScheduleKind::constant;
  CHECK(check_manifest(manifest).ok());
}

TEST_CASE("settings can be checked before there is data") {
  RunManifest manifest = good_manifest();
  manifest.data = {};
  manifest.flops_per_sample = 0;
  CHECK(check_manifest_settings(manifest).ok());
  CHECK(!check_manifest(manifest).ok());
}

TEST_CASE("a manifest names the state that its run begins with; one from before that was signed keeps its bytes") {
  RunManifest manifest = good_manifest();
  const std::string before = encode_manifest(manifest);
  CHECK(before.find("initial_state_digest") == std::string::npos);
  REQUIRE(decode_manifest(before).ok());
  CHECK(decode_manifest(before)->initial_state_digest.is_zero());
  manifest.initial_state_digest.bytes.fill(0xef);
  const std::string named = encode_manifest(manifest);
  CHECK(named ==
        with(before, R"("client_min":"0.1.0"})",
             R"("client_min":"0.1.0","initial_state_digest":")" + manifest.initial_state_digest.hex() + "\"}"));
  REQUIRE(decode_manifest(named).ok());
  CHECK(decode_manifest(named)->initial_state_digest == manifest.initial_state_digest);
  CHECK(!decode_manifest(with(named, "efef", "EFEF")).ok());
  CHECK(!decode_manifest(with(named, manifest.initial_state_digest.hex(), Digest().hex())).ok());
  CHECK(!decode_manifest(with(named, "efef", "")).ok());
}

TEST_CASE("fields that are missing, unknown, doubled or of another type are refused") {
  const std::string json = encode_manifest(good_manifest());
  CHECK(decode_manifest(json).ok());
  CHECK(!decode_manifest(with(json, R"("rounds_max":0,)", "")).ok());
  CHECK(!decode_manifest(with(json, R"("rounds_max":0,)", R"("rounds_max":0,"reward":5,)")).ok());
  CHECK(!decode_manifest(with(json, R"("rounds_max":0,)", R"("rounds_max":9,"rounds_max":0,)")).ok());
  CHECK(!decode_manifest(with(json, R"("rounds_max":0,)", R"("rounds_max":"0",)")).ok());
  CHECK(!decode_manifest(with(json, R"("layers":4)", R"("layers":4.5)")).ok());
  CHECK(!decode_manifest(with(json, R"("layers":4)", R"("layers":4294967300)")).ok());
  CHECK(!decode_manifest(with(json, "abab", "ABab")).ok());
  CHECK(!decode_manifest(" " + json).ok());
}

TEST_CASE("bytes that are no manifest are refused: cut short, too long, too deep, not UTF-8") {
  const std::string json = encode_manifest(good_manifest());
  for (std::size_t size = 0; size < json.size(); ++size) CHECK(!decode_manifest(json.substr(0, size)).ok());
  CHECK(!decode_manifest(std::string(kManifestBytesMax + 1, ' ')).ok());
  CHECK(!decode_manifest(std::string(60'000, '[')).ok());
  CHECK(!decode_manifest(with(json, "Fort", "Fort\xff\xfe")).ok());
}

TEST_CASE("a program's manifest says what its parameters are, and comes back as it was") {
  RunManifest manifest = good_manifest();
  manifest.model.architecture = Architecture::script;
  manifest.model.context = 64;
  ScriptModel& script = manifest.model.script;
  script.program.sha256.bytes.fill(1);
  script.program.bytes = 5000;
  script.parameters.sha256.bytes.fill(2);
  script.parameters.bytes = 9000;
  script.tensors = {{"table.weight", {256, 8}}, {"out.bias", {256}}};
  const std::string json = encode_manifest(manifest);
  CHECK(json.find(R"("model":{"architecture":"script","context":64,"program":{"sha256":"01)") != std::string::npos);
  const auto read = decode_manifest(json);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(encode_manifest(*read) == json);
  const std::vector<ParameterInfo> layout = model_layout(read->model);
  REQUIRE(layout.size() == 2);
  CHECK(layout[1].offset == 256 * 8);
  CHECK(layout[0].decayed);
  CHECK_FALSE(layout[1].decayed);

  const auto refused = [&manifest](auto change) {
    RunManifest changed = manifest;
    change(changed.model.script);
    return !check_manifest(changed).ok();
  };
  CHECK(refused([](ScriptModel& s) { s.tensors.clear(); }));
  CHECK(refused([](ScriptModel& s) { s.tensors[1].name = s.tensors[0].name; }));
  CHECK(refused([](ScriptModel& s) { s.tensors[0].name = "a\nb"; }));
  CHECK(refused([](ScriptModel& s) { s.tensors[0].shape = {1, 0}; }));
  CHECK(refused([](ScriptModel& s) { s.tensors[0].shape = {std::int64_t{1} << 40, std::int64_t{1} << 40}; }));
  CHECK(refused([](ScriptModel& s) { s.program.bytes = 0; }));
}

namespace {

RunManifest cut_manifest() {
  RunManifest manifest = good_manifest();
  manifest.model = {.architecture = Architecture::decoder, .layers = 2, .width = 32, .heads = 2, .context = 16};
  manifest.model.experts.rows = 4;
  manifest.model.experts.cells.experts = 2;
  manifest.model.experts.cells.digests.resize(4);
  for (Digest& digest : manifest.model.experts.cells.digests) digest.bytes.fill(7);
  return manifest;
}

}  // namespace

TEST_CASE("a manifest whose model is cut into cells travels, and one that is not has no word of them") {
  const RunManifest manifest = cut_manifest();
  const std::string json = encode_manifest(manifest);
  CHECK(json.find(R"("cells":{"kind":"experts","experts_per_cell":2,"holders":2,"update":"round","codec":"int8")") !=
        std::string::npos);
  const auto read = decode_manifest(json);
  REQUIRE(read.ok());
  CHECK(read->model.experts.cells == manifest.model.experts.cells);
  CHECK(encode_manifest(good_manifest()).find("cells") == std::string::npos);
  RunManifest open = manifest;
  open.model.experts.cells.digests.clear();
  CHECK(check_manifest(open).ok());  // before it is signed
  CHECK(decode_manifest(encode_manifest(open)).error().message.find("cells.digests") != std::string::npos);
}

TEST_CASE("cells that cannot be are refused by name") {
  REQUIRE(check_manifest(cut_manifest()).ok());
  const auto why = [](const std::function<void(RunManifest&)>& change) {
    RunManifest manifest = cut_manifest();
    change(manifest);
    const Status status = check_manifest(manifest);
    return status.ok() ? "" : status.error().message;
  };
  const auto names = [](const std::string& message, std::string_view field) {
    return message.find(std::string(field) + " is ") != std::string::npos;
  };
  CHECK(names(why([](RunManifest& m) { m.model.experts.cells.holders = 9; }), "cells.holders"));
  CHECK(names(why([](RunManifest& m) { m.model.experts.cells.holders = 0; }), "cells.holders"));
  CHECK(names(why([](RunManifest& m) { m.model.experts.cells.experts = -1; }), "cells.experts_per_cell"));
  CHECK(names(why([](RunManifest& m) { m.model.experts.cells.answers_min = 3; }), "cells.answers_min"));
  CHECK(names(why([](RunManifest& m) { m.model.experts.cells.codec = Codec::sparse; }), "cells.codec"));
  CHECK(names(why([](RunManifest& m) { m.model.experts.cells.codec = Codec::int4; }), "cells.codec"));
  CHECK(names(why([](RunManifest& m) { m.model.experts.cells.digests.pop_back(); }), "cells.digests"));
  CHECK(names(why([](RunManifest& m) { m.model.experts.rows = 0; }), "cells.kind"));
  CHECK(names(why([](RunManifest& m) { m.model.architecture = Architecture::gpt; }), "cells.kind"));
  CHECK(names(why([](RunManifest& m) { m.run_id = std::string(36, 'a'); }), "run_id"));
  CHECK(names(why([](RunManifest& m) { m.local.emplace(); }), "local"));
  CHECK(names(why([](RunManifest& m) { m.round.low_rank = 4; }), "low_rank"));
  CHECK(names(why([](RunManifest& m) { m.round.error_feedback = 0.9; }), "error_feedback"));
  CHECK(names(why([](RunManifest& m) { m.round.delay_parameter_updates = true; }), "delay_parameter_updates"));
  CHECK(names(why([](RunManifest& m) { m.round.averaging.formation = Formation::grid; }), "averaging.formation"));
  CHECK(names(why([](RunManifest& m) {
                m.model.experts.rows = 1024;
                m.model.experts.cells.experts = 1;
                m.model.experts.cells.digests.clear();
              }),
              "cells.experts_per_cell"));
}
