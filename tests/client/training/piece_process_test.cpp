// The real starling-trainer, in its sandbox, with a trunk and the cells beside it.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "client/routing/window.h"
#include "client/session/byte_tokens.h"
#include "client/session/token_draw.h"
#include "client/trainer_link/task_link.h"
#include "client/trainer_link/trainer_process.h"
#include "shared/run/cells.h"
#include "shared/state/initial_state.h"
#include "tests/client/trainer_link/decoder_run.h"

using namespace starling;
using namespace starling::trainer_link;

namespace {

constexpr SampleCount kMicroBatch = 4;
constexpr std::size_t kMicroBatches = 3;
constexpr SampleCount kSamples = kMicroBatch * static_cast<SampleCount>(kMicroBatches);

TrainerProcessOptions options_of(wire::ModelPiece piece) {
  return testing::decoder_run(STARLING_TRAINER, piece, kMicroBatch);
}

PeerId self() {
  PeerId id;
  id.bytes.fill(7);
  return id;
}

// A volunteer that holds every cell itself, and calls nobody else.
class Alone final : public routing::Window::Mediator {
 public:
  Alone() {
    auto made = TrainerProcess::create(options_of(wire::kTrunk));
    REQUIRE(made.ok());
    trainer = std::move(*made);
    REQUIRE(trainer->initialize().ok());
    window_options.model = options_of(wire::kTrunk).manifest.model;
    window_options.in_flight_max = 2;
    window_floats = routing::Window::tray_floats(window_options, kMicroBatch);
    REQUIRE(trainer->tasks().make_tray(2 * window_floats).ok());
    const std::size_t cells = wire::cells_of(window_options.model).size();
    for (wire::CellIndex cell = 0; static_cast<std::size_t>(cell) < cells; ++cell) {
      const auto memory = trainer->tasks().hold(cell);
      REQUIRE(memory.ok());
      state::fill_initial_state(options_of(cell).manifest, memory->state);
      cell_memory.push_back(*memory);
      holders.set(cell, {self()});
    }
  }

  // Computes a window; stops in the middle with the first error.
  Result<double> train(RoundIndex round, const std::function<void(int task)>& before_task = {}) {
    std::vector<wire::SampleRange> samples;
    for (std::size_t i = 0; i < kMicroBatches; ++i) {
      samples.push_back({round, 0, static_cast<SampleCount>(i) * kMicroBatch, kMicroBatch, wire::kNoEpoch});
    }
    events.clear();
    trainer->tasks().begin_window();
    routing::Window window(window_options, samples, holders, trainer->tasks().tray().first(window_floats), *this);
    running = &window;
    window.start();
    for (int task = 0; !window.is_done(); ++task) {
      REQUIRE_FALSE(events.empty());
      if (before_task) before_task(task);
      const auto event = std::move(events.front());
      events.pop_front();
      STARLING_TRY(event());
    }
    CHECK(window.outcome().units_lost == 0);
    return window.outcome().loss_sum;
  }

  Status run_to_end(routing::Window& window) {
    running = &window;
    window.start();
    while (!window.is_done()) {
      REQUIRE_FALSE(events.empty());
      const auto event = std::move(events.front());
      events.pop_front();
      STARLING_TRY(event());
    }
    return {};
  }

  // The scores of the token after this text.
  Result<std::vector<float>> score_next(std::span<const int> text) {
    routing::WindowOptions options = window_options;
    options.in_flight_max = 1;
    options.answers_min = 0;
    options.text = {text.begin(), text.end()};
    REQUIRE(routing::Window::tray_floats(options, 1) <= window_floats);
    events.clear();
    trainer->tasks().begin_window();
    routing::Window window(options, {{.count = 1}}, holders, trainer->tasks().tray().first(window_floats), *this);
    STARLING_TRY(run_to_end(window));
    return std::vector<float>(window.scores().begin(), window.scores().end());
  }

  // Judges all windows of the held-out text.
  Result<session::Evaluation> evaluate() {
    const wire::RunManifest manifest = options_of(wire::kTrunk).manifest;
    const SampleCount windows = wire::held_out_windows(manifest.data.validation.bytes, manifest.model.context).taken;
    std::vector<wire::SampleRange> samples;
    for (SampleCount first = 0; first < windows; first += kMicroBatch) {
      samples.push_back({.first = first, .count = std::min(kMicroBatch, windows - first)});
    }
    routing::WindowOptions held_out = window_options;
    held_out.is_held_out = true;
    events.clear();
    trainer->tasks().begin_window();
    routing::Window window(held_out, samples, holders, trainer->tasks().tray().first(window_floats), *this);
    STARLING_TRY(run_to_end(window));
    CHECK(window.outcome().samples == windows);
    CHECK(window.outcome().weights.empty());
    return trainer->evaluate();
  }

  void start_task(const routing::TrunkTask& task) override {
    events.push_back([this, task]() -> Status {
      STARLING_ASSIGN(const double loss, trainer->tasks().run(task));
      running->on_computed(now, loss);
      return {};
    });
  }

  void send_call(const routing::OutgoingCall& call) override {
    const auto copy = [](const auto& span) { return std::vector(span.begin(), span.end()); };
    std::vector<float>& inputs = kept[{call.kept.value_or(call.send.exchange), call.cell}];
    if (!call.kept) inputs = copy(call.inputs);
    events.push_back([this, send = call.send, cell = call.cell, is_back = call.is_back, counts = copy(call.counts),
                      rows = copy(call.rows), input = inputs, upstream = copy(call.upstream)]() -> Status {
      const auto width = static_cast<std::size_t>(window_options.model.width);
      rest = trainer->tasks().tray().subspan(window_floats);
      CellTask task{.cell = cell, .is_back = is_back};
      task.counts = placed(counts);
      task.rows = placed(rows);
      task.inputs = placed(input);
      task.upstream = placed(upstream);
      task.answer = take(is_back ? input.size() : rows.size() * width);
      STARLING_TRY(trainer->tasks().run(task));
      running->on_answer(now, send.exchange, send.part, send.holder, task.answer);
      return {};
    });
  }

  std::span<float> take(std::size_t count) {
    REQUIRE(count <= rest.size());
    const std::span<float> taken = rest.first(count);
    rest = rest.subspan(count);
    return taken;
  }
  std::span<const float> placed(const std::vector<float>& values) {
    const std::span<float> there = take(values.size());
    std::copy(values.begin(), values.end(), there.begin());
    return there;
  }
  std::span<const std::int32_t> placed(const std::vector<std::int32_t>& values) {
    const std::span<float> there = take(values.size());
    std::copy(values.begin(), values.end(), reinterpret_cast<std::int32_t*>(there.data()));
    return {reinterpret_cast<const std::int32_t*>(there.data()), values.size()};
  }

  // The whole model's gradient.
  std::vector<float> gradient() {
    std::vector<float> whole(trainer->layout().parameter_count, 0.0F);
    REQUIRE(trainer->add_window(whole).ok());
    for (const CellMemory& memory : cell_memory) {
      whole.insert(whole.end(), memory.gradient.begin(), memory.gradient.end());
    }
    return whole;
  }
  void clear_cells() {
    for (const CellMemory& memory : cell_memory) std::fill(memory.gradient.begin(), memory.gradient.end(), 0.0F);
  }

  std::unique_ptr<TrainerProcess> trainer;
  routing::WindowOptions window_options;
  std::size_t window_floats = 0;
  std::vector<CellMemory> cell_memory;
  routing::Holders holders;
  routing::Window* running = nullptr;
  std::deque<std::function<Status()>> events;
  std::map<std::pair<routing::ExchangeId, wire::CellIndex>, std::vector<float>> kept;
  std::span<float> rest;
  TimePoint now{std::chrono::hours(1)};
};

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  return worst;
}

}  // namespace

TEST_CASE("the confined trainer computes segments and for experts, and after a kill the next window is whole again") {
  auto made = TrainerProcess::create(options_of(wire::kWholeModel));
  REQUIRE(made.ok());
  TrainerProcess& whole = **made;
  REQUIRE(whole.initialize().ok());
  std::vector<float> expected(whole.layout().parameter_count, 0.0F);
  double loss = 0;
  for (std::size_t i = 0; i < kMicroBatches; ++i) {
    const auto report = whole.train_batch({0, 0, static_cast<SampleCount>(i) * kMicroBatch, kMicroBatch}, expected);
    if (!report.ok()) FAIL(report.error().message);
    loss += report->loss_sum;
  }

  Alone alone;
  const auto first = alone.train(0);
  if (!first.ok()) FAIL(first.error().message);
  CHECK(*first == doctest::Approx(loss).epsilon(1e-6));
  CHECK(distance(alone.gradient(), expected) < 1e-5);

  // The child dies in the middle of a window.
  alone.clear_cells();
  const int child = alone.trainer->view().pid;
  const auto broken = alone.train(0, [&](int task) {
    if (task == 9) REQUIRE(::kill(child, SIGKILL) == 0);
  });
  CHECK_FALSE(broken.ok());
  alone.clear_cells();
  const auto again = alone.train(0);
  if (!again.ok()) FAIL(again.error().message);
  CHECK(alone.trainer->view().pid != child);
  CHECK(distance(alone.gradient(), expected) < 1e-5);

  // It takes steps as any trainer does.
  std::vector<float> mean(alone.trainer->layout().parameter_count, 0.0F);
  REQUIRE(alone.trainer->add_window(mean).ok());
  for (float& value : mean) value /= static_cast<float>(kSamples);
  REQUIRE(alone.trainer->step(0, mean).ok());
  alone.clear_cells();
  const auto after = alone.train(1);
  if (!after.ok()) FAIL(after.error().message);
  CHECK(std::isfinite(*after));
}

TEST_CASE("a trainer of a piece trains no batches, and one of a whole model has no tasks") {
  Alone alone;
  std::vector<float> gradient(alone.trainer->layout().parameter_count);
  const auto report = alone.trainer->train_batch({0, 0, 0, kMicroBatch}, gradient);
  REQUIRE_FALSE(report.ok());
  CHECK(report.error().code == ErrorCode::unsupported);
  CHECK_FALSE(alone.trainer->evaluate().ok());
  alone.trainer->tasks().let_go(0);
  const auto lost = alone.train(0);
  REQUIRE_FALSE(lost.ok());
  CHECK(lost.error().code == ErrorCode::not_found);
}

TEST_CASE("a trainer without a piece needs no data, and computes for others with the cells that it holds") {
  TrainerProcessOptions options = options_of(wire::kNoPiece);
  options.train_data.reset();
  options.validation_data.reset();
  auto made = TrainerProcess::create(std::move(options));
  if (!made.ok()) FAIL(made.error().message);
  TrainerProcess& trainer = **made;
  CHECK(trainer.layout().size() == 0);
  CHECK(trainer.state().empty());
  REQUIRE(trainer.tasks().make_tray(1024).ok());
  const auto memory = trainer.tasks().hold(1);
  REQUIRE(memory.ok());
  state::fill_initial_state(options_of(1).manifest, memory->state);
  // One input for both experts of the cell.
  const auto width = static_cast<std::size_t>(options_of(1).manifest.model.width);
  const std::span<float> tray = trainer.tasks().tray();
  std::fill(tray.begin(), tray.begin() + static_cast<std::ptrdiff_t>(width), 0.5F);
  const std::span<std::int32_t> numbers(reinterpret_cast<std::int32_t*>(tray.data() + 3 * width), 4);
  std::ranges::copy(std::array{1, 1, 0, 0}, numbers.begin());
  const CellTask task{.cell = 1,
                      .counts = numbers.first(2),
                      .rows = numbers.last(2),
                      .inputs = tray.first(width),
                      .answer = tray.subspan(width, 2 * width)};
  const Status computed = trainer.tasks().run(task);
  if (!computed.ok()) FAIL(computed.error().message);
  CHECK(std::any_of(task.answer.begin(), task.answer.end(), [](float value) { return value != 0; }));
  CHECK_FALSE(trainer.evaluate().ok());
  routing::TrunkTask of_trunk;
  of_trunk.samples = {0, 0, 0, kMicroBatch, wire::kNoEpoch};
  const auto refused = trainer.tasks().run(of_trunk);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::unsupported);
}

TEST_CASE("held-out text costs a trunk and its cells what it costs the whole model") {
  auto made = TrainerProcess::create(options_of(wire::kWholeModel));
  REQUIRE(made.ok());
  REQUIRE((*made)->initialize().ok());
  const auto expected = (*made)->evaluate();
  REQUIRE(expected.ok());
  Alone alone;
  CHECK(alone.trainer->evaluate().error().code == ErrorCode::unsupported);  // nothing was judged
  const auto judged = alone.evaluate();
  if (!judged.ok()) FAIL(judged.error().message);
  CHECK(judged->bits_per_byte == doctest::Approx(expected->bits_per_byte).epsilon(1e-6));
  CHECK(judged->bytes == expected->bytes);
  CHECK(judged->accuracy == expected->accuracy);
  CHECK(alone.train(0).ok());
  CHECK(alone.trainer->evaluate().error().code == ErrorCode::unsupported);
}

TEST_CASE("a trunk and its cells go on with a text as the whole model does") {
  auto made = TrainerProcess::create(options_of(wire::kWholeModel));
  REQUIRE(made.ok());
  REQUIRE((*made)->initialize().ok());
  const std::vector<int> prompt = session::tokens_of_bytes("the quick brown");
  constexpr int kCount = 12;  // the text becomes longer than the model's context
  const wire::RunManifest manifest = options_of(wire::kTrunk).manifest;
  Alone alone;
  for (const double temperature : {0.0, 1.0}) {
    const auto expected = (*made)->sample_tokens(prompt, kCount, temperature);
    REQUIRE(expected.ok());
    std::vector<int> text = prompt;
    session::TokenDraw draw(manifest);
    for (int i = 0; i < kCount; ++i) {
      const std::size_t seen = std::min(text.size(), static_cast<std::size_t>(manifest.model.context));
      const auto scores = alone.score_next(std::span(text).last(seen));
      if (!scores.ok()) FAIL(scores.error().message);
      text.push_back(draw.draw(*scores, temperature));
    }
    CHECK(std::vector(text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), text.end()) == *expected);
  }
  const std::vector<int> unknown{manifest.model.vocabulary};
  CHECK(alone.score_next(unknown).error().code == ErrorCode::invalid_argument);
  CHECK(alone.train(0).ok());
}
