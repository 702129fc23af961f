#include "client/training/torch_trainer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/session/byte_tokens.h"
#include "shared/base/permutation.h"
#include "shared/base/words.h"
#include "shared/run/model_layout.h"
#include "shared/swarm/sketch.h"

using namespace starling;
using namespace starling::training;

namespace {

wire::RunManifest tiny_manifest() {
  wire::RunManifest manifest;
  manifest.model.layers = 2;
  manifest.model.width = 32;
  manifest.model.heads = 2;
  manifest.model.context = 24;
  manifest.peers_max = 4;
  manifest.micro_batch_size = 16;
  manifest.schedule.learning_rate = 1e-2;
  manifest.schedule.warmup_rounds = 5;
  manifest.schedule.total_rounds = 60;
  return manifest;
}

// Words in a seeded order: learnable, but not by heart.
std::string small_text(std::uint64_t seed, std::size_t tokens) {
  const std::vector<std::string> vocabulary = {"the ",  "star",    "ling ", "sings ",
                                               "over ", "water, ", "and ",  "flies.\n"};
  std::string text;
  for (std::size_t i = 0; i < tokens; ++i) text += vocabulary[mix64(seed * 7919 + i) % vocabulary.size()];
  return text;
}

// A trainer and the memory it works on.
struct Bench {
  explicit Bench(const wire::RunManifest& m, std::function<void(const wire::Bucket&)> stepped = {},
                 const std::vector<std::string>& devices = {"cpu"}, int threads = 1)
      : manifest(m), optimizer(m) {
    state.resize(optimizer.state_size());
    gradient.resize(optimizer.parameter_count());
    const auto bytes = [](const std::string& text) {
      return std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    };
    TorchTrainerOptions options{manifest, bytes(train), bytes(held_out), state, gradient, journal.get(), threads};
    local.resize(wire::local_state_size(manifest));
    options.local = local;
    options.bucket_stepped = std::move(stepped);
    options.devices = devices;
    auto created = TorchTrainer::create(options);
    REQUIRE(created.ok());
    trainer = std::move(created).value();
    REQUIRE(trainer->initialize().ok());
  }

  std::vector<float> gradient_of(const wire::SampleRange& samples) {
    std::vector<float> into(gradient.size());
    const auto report = trainer->train_batch(samples, into);
    REQUIRE(report.ok());
    CHECK(report->samples == samples.count);
    return into;
  }

  wire::RunManifest manifest;
  optim::Optimizer optimizer;
  std::string train = small_text(1, 3000);
  std::string held_out = small_text(2, 300);
  std::vector<float> state, gradient, local;
  std::unique_ptr<optim::StepJournal> journal = std::make_unique<optim::StepJournal>();
  std::unique_ptr<TorchTrainer> trainer;
};

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  return worst;
}

// Two parts that do not begin where a row of sketches does.
const std::vector<wire::SketchedPart>& parts_of_audits() {
  static const std::vector<wire::SketchedPart> parts = [] {
    std::vector<wire::SketchedPart> made = {{3, 7000, {}}, {7003, 20'000, {}}};
    made[1].seed.bytes.fill(9);
    return made;
  }();
  return parts;
}

swarm::Sketch sketch_of(const std::vector<float>& gradient, const wire::SketchedPart& part) {
  swarm::Sketch sketch{};
  const auto first = gradient.begin() + part.first;
  swarm::add_to_sketch(part.seed, part.first, {first, first + part.floats}, sketch);
  return sketch;
}

// The sketches that an audit adds to what is there.
std::vector<swarm::Sketch> audit(Bench& bench, const wire::SampleRange& samples, std::span<const float> parameters) {
  const auto& parts = parts_of_audits();
  std::vector<double> numbers(parts.size() * wire::kSketchFloats, 1.0);
  REQUIRE(bench.trainer->audit_batch(samples, parts, parameters, numbers).ok());
  std::vector<swarm::Sketch> sketches(parts.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sketches[i / wire::kSketchFloats][i % wire::kSketchFloats] = numbers[i] - 1;
  }
  return sketches;
}

}  // namespace

TEST_CASE("held-out text gets cheaper with every few rounds") {
  Bench bench(tiny_manifest());
  const auto first = bench.trainer->evaluate();
  REQUIRE(first.ok());
  // A model that knows nothing needs eight bits, and a little more for guesses that differ at random.
  CHECK(first->bits_per_byte > 7.9);
  CHECK(first->bits_per_byte < 9);
  for (RoundIndex round = 0; round < 60; ++round) {
    std::vector<float> mean = bench.gradient_of({round, 1, 0, 16});
    for (float& value : mean) value /= 16;
    REQUIRE(bench.trainer->step(round, mean).ok());
  }
  const auto last = bench.trainer->evaluate();
  REQUIRE(last.ok());
  CHECK(last->bits_per_byte < 2);  // by heart: three bits a word of five bytes
}

TEST_CASE("devices that share a batch compute what one alone does, also ahead of a step") {
  wire::RunManifest manifest = tiny_manifest();
  manifest.round.delay_parameter_updates = true;
  Bench alone(manifest), together(manifest, {}, {"cpu", "cpu", "cpu"});
  for (RoundIndex round = 0; round < 3; ++round) {
    CAPTURE(round);
    for (Bench* bench : {&alone, &together}) bench->trainer->begin_sum();
    std::vector<float> mean = alone.gradient_of({round, 1, 0, 16});  // not a multiple of three
    CHECK(distance(mean, together.gradient_of({round, 1, 0, 16})) < 1e-4);
    const std::vector<float> own = mean;
    for (Bench* bench : {&alone, &together}) bench->trainer->begin_sum_ahead(round, own, 16);
    CHECK(distance(alone.gradient_of({round + 1, 1, 0, 2}), together.gradient_of({round + 1, 1, 0, 2})) < 1e-4);
    for (float& value : mean) value /= 16;
    for (Bench* bench : {&alone, &together}) REQUIRE(bench->trainer->step(round, mean).ok());
    CHECK(alone.state == together.state);
  }
  CHECK(alone.trainer->evaluate()->bits_per_byte == together.trainer->evaluate()->bits_per_byte);
}

TEST_CASE("a device computes with what a step has made of the parameters, and with what others have written there") {
  Bench alone(tiny_manifest()), together(tiny_manifest(), {}, {"cpu", "cpu"});
  const auto agree = [&](RoundIndex round) {
    for (const SampleCount first : {0, 8}) {
      CHECK(distance(alone.gradient_of({round, 1, first, 8}), together.gradient_of({round, 1, first, 8})) < 1e-4);
    }
  };
  for (RoundIndex round = 0; round < 3; ++round) {
    CAPTURE(round);
    agree(round);
    const std::vector<float> mean(alone.gradient.size(), 0.01F);
    for (Bench* bench : {&alone, &together}) REQUIRE(bench->trainer->step(round, mean).ok());
  }
  agree(3);
  for (Bench* bench : {&alone, &together}) {
    for (float& value : bench->trainer->state().first(alone.gradient.size())) value *= 0.5F;
  }
  agree(3);
}

TEST_CASE("a gradient that is asked for where it is computed is what would be added elsewhere, whatever was there") {
  for (const auto& devices : {std::vector<std::string>{"cpu"}, {"cpu", "cpu"}}) {
    Bench bench(tiny_manifest(), {}, devices);
    const std::vector<float> added = bench.gradient_of({2, 1, 0, 16});
    std::fill(bench.gradient.begin(), bench.gradient.end(), 5.0F);
    REQUIRE(bench.trainer->train_batch({2, 1, 0, 16}, bench.gradient).ok());
    CHECK(bench.gradient == added);
    std::fill(bench.state.begin(), bench.state.begin() + 10, std::numeric_limits<float>::quiet_NaN());
    bench.trainer->begin_sum();
    const auto unusable = bench.trainer->train_batch({2, 1, 0, 16}, bench.gradient);
    REQUIRE(!unusable.ok());
    CHECK(unusable.error().code == ErrorCode::corrupt);
  }
}

TEST_CASE("batches that are assembled ahead are those that are asked for, also where others were expected") {
  constexpr int kThreads = 3;  // one more than devices: then batches are assembled ahead
  const wire::RunManifest manifest = tiny_manifest();
  Bench alone(manifest), ahead(manifest, {}, {"cpu", "cpu"}, kThreads);
  for (const wire::SampleRange& samples : {wire::SampleRange{0, 1, 0, 8},
                                           {0, 1, 8, 8},   // the expected batch
                                           {0, 1, 16, 5},  // fewer
                                           {1, 1, 0, 8},   // another round
                                           {1, 1, 8, 8},
                                           {1, 2, 16, 8},    // another lane
                                           {1, 1, 8, 1}}) {  // no samples for one of the devices
    CAPTURE(samples.first);
    CHECK(distance(alone.gradient_of(samples), ahead.gradient_of(samples)) < 1e-4);
  }
  std::vector<float> into(ahead.gradient.size());
  CHECK(ahead.trainer->train_batch({0, -1, 0, 8}, into).error().code == ErrorCode::invalid_argument);
  CHECK(distance(alone.gradient_of({2, 0, 0, 8}), ahead.gradient_of({2, 0, 0, 8})) < 1e-4);
}

TEST_CASE("the gradient of a batch is the sum of the gradients of its halves") {
  Bench bench(tiny_manifest());
  const std::vector<float> whole = bench.gradient_of({2, 3, 10, 16});
  std::vector<float> halves = bench.gradient_of({2, 3, 10, 8});
  const auto report = bench.trainer->train_batch({2, 3, 18, 8}, halves);  // adds to the existing gradient
  REQUIRE(report.ok());
  CHECK(distance(whole, halves) < 1e-5);
  CHECK(*std::max_element(whole.begin(), whole.end()) > 1e-2);
}

TEST_CASE("with local steps, what is added up is samples times the way that steps on own gradients have led") {
  constexpr float kRate = 0.5F;
  wire::RunManifest manifest = tiny_manifest();
  Bench plain(manifest);
  manifest.local.emplace();
  manifest.local->optimizer = wire::default_optimizer(wire::OptimizerKind::sgd);
  manifest.local->optimizer.momentum = manifest.local->optimizer.weight_decay = manifest.local->optimizer.clip_norm = 0;
  manifest.local->schedule = {.kind = wire::ScheduleKind::constant, .learning_rate = kRate, .warmup_rounds = 0};
  Bench bench(manifest);
  const std::vector<float> agreed(bench.state.begin(), bench.state.begin() + std::ssize(bench.gradient));
  for (int round = 0; round < 2; ++round) {  // the second one begins at the agreed parameters again
    std::vector<float> sum(agreed.size());
    std::vector<float> way(agreed.size());
    std::copy(agreed.begin(), agreed.end(), plain.state.begin());
    bench.trainer->begin_sum();
    for (const SampleCount first : {0, 16, 32}) {
      REQUIRE(bench.trainer->train_batch({0, 1, first, 16}, sum).ok());
      const std::vector<float> gradient = plain.gradient_of({0, 1, first, 16});
      for (std::size_t i = 0; i < way.size(); ++i) {
        way[i] += kRate * gradient[i] / 16;
        plain.state[i] = agreed[i] - way[i];
      }
    }
    for (float& value : way) value *= 48;
    CHECK(distance(sum, way) < 1e-3);
    CHECK(*std::max_element(sum.begin(), sum.end()) > 0.1);
  }
  // Held-out text is judged, and sampled, with the agreed parameters.
  std::copy(agreed.begin(), agreed.end(), plain.state.begin());
  CHECK(bench.trainer->evaluate()->bits_per_byte == plain.trainer->evaluate()->bits_per_byte);
  CHECK(*bench.trainer->sample_tokens(session::tokens_of_bytes("the "), 20, 0) ==
        *plain.trainer->sample_tokens(session::tokens_of_bytes("the "), 20, 0));
  CHECK(std::equal(agreed.begin(), agreed.end(), bench.state.begin()));
}

TEST_CASE("buckets step while the way back goes on, and come to where a step of all at once leads, to the bit") {
  for (const double clip_norm : {0.0, 0.5}) {
    for (const wire::OptimizerKind kind :
         {wire::OptimizerKind::adamw, wire::OptimizerKind::lamb, wire::OptimizerKind::muon}) {
      CAPTURE(word_of(kind));
      CAPTURE(clip_norm);
      wire::RunManifest manifest = tiny_manifest();
      manifest.model.layers = 3;
      manifest.model.width = 256;
      manifest.micro_batch_size = 4;
      manifest.local.emplace();
      manifest.local->optimizer = wire::default_optimizer(kind);
      manifest.local->optimizer.clip_norm = clip_norm;
      Bench whole(manifest);
      manifest.local->partners = wire::GossipPartners::exponential;
      std::vector<std::size_t> told;
      bool whole_way_back = false;  // whether the backward pass was complete when the first bucket had stepped
      const wire::ParameterInfo first_layer = wire::model_layout(manifest.model).front();
      const std::vector<float>* gradient = nullptr;
      Bench apart(manifest, [&](const wire::Bucket& bucket) {
        if (told.empty()) {
          const auto begin = gradient->begin() + static_cast<std::ptrdiff_t>(first_layer.offset);
          const auto end = begin + static_cast<std::ptrdiff_t>(first_layer.count);
          whole_way_back = std::any_of(begin, end, [](float value) { return value != 0; });
        }
        told.push_back(bucket.number);
      });
      gradient = &apart.gradient;
      for (const SampleCount samples : {4, 4, 10}) {  // the last one in three pieces
        told.clear();
        std::vector<float> by_whole(whole.gradient.size());
        std::vector<float> by_buckets(whole.gradient.size());
        REQUIRE(whole.trainer->train_batch({0, 1, 8, samples}, by_whole).ok());
        REQUIRE(apart.trainer->train_batch({0, 1, 8, samples}, by_buckets).ok());
        CHECK(by_whole == by_buckets);
        CHECK(whole.local == apart.local);
        CHECK(told == std::vector<std::size_t>{0, 1, 2});
        if (samples == 4) CHECK(whole_way_back == (clip_norm > 0));  // only clipping waits for the whole way back
      }
    }
  }
}

TEST_CASE("an audit finds the sketches of the gradient that a batch at those parameters has") {
  wire::RunManifest delayed = tiny_manifest();
  delayed.round.delay_parameter_updates = true;
  for (const auto& [manifest, devices] :
       {std::pair{tiny_manifest(), std::vector<std::string>{"cpu"}}, {delayed, {"cpu"}}, {delayed, {"cpu", "cpu"}}}) {
    CAPTURE(devices.size());
    Bench bench(manifest, {}, devices), there(manifest, {}, devices);
    for (float& value : there.trainer->state().first(there.gradient.size())) value *= 0.9F;
    there.trainer->begin_sum();
    bench.gradient_of({1, 1, 0, 16});
    const std::vector<float> gradient = there.gradient_of({2, 3, 10, 16});
    const std::vector<swarm::Sketch> found =
        audit(bench, {2, 3, 10, 16}, std::span(there.state).first(gradient.size()));
    for (std::size_t part = 0; part < found.size(); ++part) {
      const swarm::Sketch expected = sketch_of(gradient, parts_of_audits()[part]);
      const double distance = swarm::relative_distance(found[part], expected);
      MESSAGE("relative distance of the sketches: ", distance);
      CHECK(distance < 1e-6);
      CHECK(swarm::norm(found[part]) > 1e-2);
    }
  }
}

TEST_CASE("training goes on to the bit as if nobody had audited between its batches") {
  wire::RunManifest plain = tiny_manifest();
  plain.micro_batch_size = 1;  // another size, if it is faster, rounds otherwise
  wire::RunManifest delayed = plain;
  delayed.round.delay_parameter_updates = true;
  wire::RunManifest local = plain;
  local.local.emplace();
  wire::RunManifest gossip = local;
  gossip.local->partners = wire::GossipPartners::exponential;
  wire::RunManifest delayed_local = local;
  delayed_local.round.delay_parameter_updates = true;
  using Devices = std::vector<std::string>;
  for (const auto& [manifest, devices] : {std::pair{plain, Devices{"cpu"}},
                                          {delayed, {"cpu"}},
                                          {delayed, {"cpu", "cpu"}},
                                          {local, {"cpu"}},
                                          {local, {"cpu", "cpu"}},
                                          {gossip, {"cpu"}},
                                          {delayed_local, {"cpu"}}}) {
    CAPTURE(manifest.local.has_value());
    CAPTURE(devices.size());
    Bench alone(manifest, {}, devices), audited(manifest, {}, devices);
    const std::vector<float> past(alone.gradient.size(), 0.01F);
    for (RoundIndex round = 0; round < 3; ++round) {
      std::vector<std::vector<float>> sums;
      for (Bench* bench : {&alone, &audited}) {
        const auto maybe_audit = [&] {
          if (bench == &audited) audit(*bench, {round, 2, 0, 5}, past);
        };
        std::vector<float> sum(alone.gradient.size());
        maybe_audit();
        for (const SampleCount first : {0, 4, 8}) {
          REQUIRE(bench->trainer->train_batch({round, 1, first, 4}, sum).ok());
          maybe_audit();
        }
        const bool delayed_updates = manifest.round.delay_parameter_updates;
        if (delayed_updates) bench->trainer->begin_sum_ahead(round, sum, manifest.local ? 0 : 12);
        maybe_audit();
        REQUIRE(bench->trainer->train_batch({round + 1, 1, 0, 4}, sum).ok());
        maybe_audit();
        std::vector<float> mean = sum;
        for (float& value : mean) value /= 16;
        REQUIRE(bench->trainer->step(round, mean).ok());
        maybe_audit();
        delayed_updates&& manifest.local ? bench->trainer->merge_step() : bench->trainer->begin_sum();
        sums.push_back(sum);
      }
      CHECK(sums[0] == sums[1]);
      CHECK(alone.state == audited.state);
      CHECK(alone.local == audited.local);
    }
  }
}

TEST_CASE("an audit that cannot be done says why, and adds nothing") {
  for (const auto& devices : {std::vector<std::string>{"cpu"}, {"cpu", "cpu"}}) {
    wire::RunManifest manifest = tiny_manifest();
    manifest.micro_batch_size = 1;
    Bench bench(manifest, {}, devices);
    const std::vector<float> before = bench.gradient_of({0, 1, 0, 4});
    std::vector<float> parameters(bench.gradient.size(), 0.01F);
    std::vector<double> sketches(wire::kSketchFloats, 0.5);
    const auto refusal = [&](const wire::SampleRange& samples, const wire::SketchedPart& part) {
      const Status done = bench.trainer->audit_batch(samples, {&part, 1}, parameters, sketches);
      REQUIRE_FALSE(done.ok());
      CHECK(sketches == std::vector<double>(sketches.size(), 0.5));
      return done.error().code;
    };
    const auto floats = static_cast<std::int64_t>(parameters.size());
    CHECK(refusal({0, 1, 0, 4}, {1, floats, {}}) == ErrorCode::invalid_argument);
    CHECK(refusal({0, -1, 0, 4}, {0, floats, {}}) == ErrorCode::invalid_argument);
    parameters[100] = std::numeric_limits<float>::quiet_NaN();
    CHECK(refusal({0, 1, 0, 4}, {0, floats, {}}) == ErrorCode::corrupt);
    CHECK(refusal({0, 1, 0, 4}, {floats - 1, 1, {}}) == ErrorCode::corrupt);  // a part may do without the bad ones
    CHECK(bench.gradient_of({0, 1, 0, 4}) == before);
  }
}

TEST_CASE("two trainers with one seed start from the same bits, and another seed from others") {
  const Bench a(tiny_manifest());
  const Bench b(tiny_manifest());
  CHECK(a.state == b.state);
  wire::RunManifest other = tiny_manifest();
  other.seed = 2;
  CHECK(Bench(other).state != a.state);
}

TEST_CASE("evaluation gives the same figure every time") {
  Bench bench(tiny_manifest());
  const auto first = bench.trainer->evaluate();
  const auto second = bench.trainer->evaluate();
  REQUIRE(first.ok());
  CHECK(first->bits_per_byte == second->bits_per_byte);
  CHECK(first->bytes > 1000);
}

TEST_CASE("a gradient that is not finite is an error and adds nothing") {
  Bench bench(tiny_manifest());
  bench.state[100] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> into(bench.gradient.size(), 0.5F);
  const auto report = bench.trainer->train_batch({0, 0, 0, 16}, into);
  REQUIRE(!report.ok());
  CHECK(report.error().code == ErrorCode::corrupt);
  CHECK(into == std::vector<float>(into.size(), 0.5F));
}

TEST_CASE("sampled text has the asked length and repeats itself") {
  Bench bench(tiny_manifest());
  const std::vector<int> prompt = session::tokens_of_bytes("the star");
  const auto text = bench.trainer->sample_tokens(prompt, 40, 0.8);
  REQUIRE(text.ok());
  CHECK(text->size() == 40);
  CHECK(*text == *bench.trainer->sample_tokens(prompt, 40, 0.8));
  CHECK(bench.trainer->sample_tokens({}, 3, 0).ok());
  CHECK(!bench.trainer->sample_tokens(prompt, -1, 1).ok());
}

TEST_CASE("memory that does not fit the model is refused") {
  const Bench bench(tiny_manifest());
  std::vector<float> state(bench.state.size() - 1);
  std::vector<float> gradient(bench.gradient.size());
  const std::vector<std::uint8_t> text(1000);
  const auto created = TorchTrainer::create({bench.manifest, text, text, state, gradient, bench.journal.get(), 1});
  REQUIRE(!created.ok());
  CHECK(created.error().code == ErrorCode::invalid_argument);
}
