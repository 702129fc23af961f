#include "client/routing/window.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <vector>

using namespace starling;
using namespace starling::routing;

namespace {

constexpr std::size_t kWidth = 4;
constexpr Duration kBudget = std::chrono::seconds(5);

PeerId peer(std::uint8_t number) {
  PeerId id;
  id.bytes.fill(number);
  return id;
}

// Two layers of four experts, in cells of two; samples of three tokens.
WindowOptions options() {
  WindowOptions options;
  options.model = {.architecture = wire::Architecture::decoder, .layers = 2, .width = kWidth, .heads = 1, .context = 3};
  options.model.experts.rows = 4;
  options.model.experts.cells.experts = 2;
  options.in_flight_max = 2;
  options.budget = kBudget;
  return options;
}

// An input is its token and layer; an expert gives it back with its own number, and a gradient with itself.
float input_of(std::size_t token, int layer) { return static_cast<float>(100 * token) + static_cast<float>(layer); }
float result_of(float input, int expert) { return input + 0.25F * static_cast<float>(expert); }

// Volunteers 1 and 2 hold the first cell of each layer, 3 and 4 the second one. They answer when the test says so.
struct Bench final : Window::Mediator {
  struct Call {
    CallBook::Send send;
    wire::CellIndex cell = 0;
    bool is_back = false, is_kept = false;
    std::vector<std::int32_t> counts, rows;
    std::vector<float> inputs, upstream;
  };

  explicit Bench(std::size_t micro_batches, unsigned seed = 1) : chance(seed) {
    for (wire::CellIndex cell = 0; cell < 4; ++cell) {
      const auto first = static_cast<std::uint8_t>(1 + 2 * (cell % 2));
      holders.set(cell, {peer(first), peer(first + 1)});
    }
    std::vector<wire::SampleRange> ranges;
    for (std::size_t i = 0; i < micro_batches; ++i) ranges.push_back({0, 0, static_cast<SampleCount>(2 * i), 2, -1});
    tray.resize(Window::tray_floats(options(), 2));
    window.emplace(options(), ranges, holders, tray, *this);
  }

  void start_task(const TrunkTask& started) override {
    CHECK_FALSE(task);
    task = started;
  }

  void send_call(const OutgoingCall& call) override {
    const auto copy = [](const auto& span) { return std::vector(span.begin(), span.end()); };
    Call sent{call.send,         call.cell,       call.is_back,      call.kept.has_value(),
              copy(call.counts), copy(call.rows), copy(call.inputs), copy(call.upstream)};
    const std::pair key{call.kept.value_or(call.send.exchange), call.cell};
    if (call.kept) {
      CHECK(sent.inputs.empty());
      sent.inputs = kept.at(key);
    }
    kept[key] = sent.inputs;
    calls.push_back(std::move(sent));
  }

  // Computes the segment that has been started, and checks what it was given.
  void compute() {
    const TrunkTask now_done = *std::exchange(task, std::nullopt);
    ++tasks;
    if (now_done.step.way == Way::back) check_gradient(now_done);
    if (now_done.step.segment > 0 && now_done.step.way != Way::back) check_results(now_done);
    for (float& value : now_done.results) value = 1;  // their gradient, once it is the way back
    for (std::size_t token = 0; token < now_done.inputs.size() / kWidth; ++token) {
      std::fill_n(now_done.inputs.begin() + static_cast<std::ptrdiff_t>(token * kWidth), kWidth,
                  input_of(token, now_done.step.segment));
      for (std::size_t row = 0; row < 4; ++row) {
        now_done.outputs[token * 4 + row] = static_cast<float>(chance() % 1000);
      }
    }
    window->on_computed(now, now_done.step.way == Way::turn ? 2.5 : 0);
  }

  void check_results(const TrunkTask& with) {
    REQUIRE(with.results.size() == with.places.size() * kWidth);
    for (std::size_t unit = 0; unit < with.places.size(); ++unit) {
      const auto place = static_cast<std::size_t>(with.places[unit]);
      const std::int32_t expert = with.experts[place];
      const float expected = expert < 0 ? 0 : result_of(input_of(place / 2, with.step.segment - 1), expert);
      CHECK(with.results[unit * kWidth] == expected);
      answered += expert < 0 ? 0 : 1;
    }
  }

  void check_gradient(const TrunkTask& with) {
    float sum = 0;
    for (const float value : with.inputs_gradient) sum += value;
    gradients += sum / static_cast<float>(kWidth);
  }

  std::vector<float> answer_to(const Call& call) const {
    const int first_expert = call.cell % 2 * 2;
    std::vector<float> answer(call.is_back ? call.inputs.size() : call.rows.size() * kWidth, 0.0F);
    std::size_t unit = 0;
    for (std::size_t expert = 0; expert < call.counts.size(); ++expert) {
      for (std::int32_t i = 0; i < call.counts[expert]; ++i, ++unit) {
        const std::size_t row = static_cast<std::size_t>(call.rows[unit]) * kWidth;
        for (std::size_t k = 0; k < kWidth; ++k) {
          if (call.is_back) {
            answer[row + k] += call.upstream[unit * kWidth + k];
          } else {
            answer[unit * kWidth + k] = result_of(call.inputs[row + k], first_expert + static_cast<int>(expert));
          }
        }
      }
    }
    return answer;
  }

  void answer(const Call& call) {
    const std::vector<float> values = answer_to(call);
    window->on_answer(now, call.send.exchange, call.send.part, call.send.holder, values);
  }

  // All answer as soon as they are asked.
  void run() {
    window->start();
    while (!window->is_done()) {
      now += std::chrono::milliseconds(10);
      if (task) {
        compute();
      } else {
        REQUIRE_FALSE(calls.empty());
        const Call call = std::move(calls.front());
        calls.pop_front();
        answer(call);
      }
    }
  }

  std::mt19937 chance;
  TimePoint now{std::chrono::hours(1)};
  Holders holders;
  std::vector<float> tray;
  std::optional<TrunkTask> task;
  std::deque<Call> calls;
  std::map<std::pair<ExchangeId, wire::CellIndex>, std::vector<float>> kept;
  int tasks = 0;
  std::int64_t answered = 0;  // units that had an expert
  double gradients = 0;       // units whose gradient came back
  std::optional<Window> window;
};

SampleCount weight_of(const Window::Outcome& outcome, wire::CellIndex cell) {
  SampleCount weight = 0;
  for (const auto& [where, samples] : outcome.weights) weight += where.first == cell ? samples : 0;
  return weight;
}

}  // namespace

TEST_CASE("each token goes through its experts and back, and each sample counts once in every cell") {
  Bench bench(3);
  bench.run();
  const Window::Outcome& outcome = bench.window->outcome();
  CHECK(outcome.samples == 6);
  CHECK(outcome.loss_sum == 7.5);
  CHECK(bench.tasks == 3 * 5);
  CHECK(outcome.units == 6 * 3 * 2 * 2);  // samples, tokens, experts, layers
  CHECK(outcome.units_lost == 0);
  CHECK(bench.answered == outcome.units);
  CHECK(bench.gradients == doctest::Approx(static_cast<double>(outcome.units)));
  for (wire::CellIndex cell = 0; cell < 4; ++cell) CHECK(weight_of(outcome, cell) == 6);
}

TEST_CASE("an answer of another size, or of values that are not finite, is none, and another holder is asked") {
  Bench bench(1);
  bench.window->start();
  bench.compute();
  for (int wrong = 0; wrong < 2; ++wrong) {
    const Bench::Call call = bench.calls.front();
    bench.calls.pop_front();
    std::vector<float> values = bench.answer_to(call);
    if (wrong == 0) {
      values.pop_back();
    } else {
      values.back() = std::numeric_limits<float>::quiet_NaN();
    }
    const std::size_t before = bench.calls.size();
    bench.window->on_answer(bench.now, call.send.exchange, call.send.part, call.send.holder, values);
    REQUIRE(bench.calls.size() == before + 1);
    CHECK(bench.calls.back().cell == call.cell);
    CHECK(bench.calls.back().send.holder != call.send.holder);
  }
  bench.window->on_answer(bench.now, 99, 0, peer(1), {});  // no exchange is this one
  bench.window->on_answer(bench.now, 1, 99, peer(1), {});  // no part is
}

TEST_CASE("a holder that has forgotten the inputs gets them again") {
  Bench bench(1);
  bench.window->start();
  int forgotten = 0;
  while (!bench.window->is_done()) {
    if (bench.task) {
      bench.compute();
      continue;
    }
    REQUIRE_FALSE(bench.calls.empty());
    const Bench::Call call = std::move(bench.calls.front());
    bench.calls.pop_front();
    if (!call.is_back || !call.is_kept) {
      bench.answer(call);
      continue;
    }
    ++forgotten;
    bench.window->on_forgotten(bench.now, call.send.exchange, call.send.part, call.send.holder);
    bench.window->on_timer(bench.now);
    REQUIRE_FALSE(bench.calls.empty());
    CHECK_FALSE(bench.calls.back().is_kept);
  }
  CHECK(forgotten > 0);
  CHECK(bench.gradients == doctest::Approx(static_cast<double>(bench.window->outcome().units)));
}

TEST_CASE("a layer whose cells nobody holds is passed by") {
  Bench bench(2);
  bench.holders.set(2, {});
  bench.holders.set(3, {});
  bench.run();
  const Window::Outcome& outcome = bench.window->outcome();
  CHECK(outcome.samples == 4);
  CHECK(outcome.units == 4 * 3 * 2);
  CHECK(weight_of(outcome, 0) == 4);
  CHECK(weight_of(outcome, 2) == 0);
}

TEST_CASE("whatever holders do, a window ends in its time, and what has come back is counted") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const std::size_t micro_batches = 1 + seed % 5;
    Bench bench(micro_batches, seed);
    const TimePoint began = bench.now;
    std::set<std::pair<ExchangeId, std::size_t>> back;  // parts whose gradient somebody has
    bench.window->start();
    while (!bench.window->is_done()) {
      bench.now += std::chrono::milliseconds(10);
      if (bench.task && bench.chance() % 2 == 0) {
        bench.compute();
        continue;
      }
      if (bench.calls.empty() || bench.chance() % 8 == 0) {
        if (!bench.task && bench.window->next_deadline() > bench.now) bench.now = bench.window->next_deadline();
        bench.window->on_timer(bench.now);
        continue;
      }
      std::swap(bench.calls[bench.chance() % bench.calls.size()], bench.calls.front());
      const Bench::Call call = std::move(bench.calls.front());
      bench.calls.pop_front();
      const CallBook::Send& send = call.send;
      switch (bench.chance() % 10) {
        case 0:
          bench.window->on_failed(bench.now, send.exchange, send.part, send.holder);
          break;
        case 1:
          bench.window->on_refused(bench.now, send.exchange, send.part, send.holder, std::chrono::milliseconds(300));
          break;
        case 2:
          bench.window->on_gone(bench.now, send.holder);
          break;
        case 3:
          break;  // it never answers
        default:
          if (call.is_back) CHECK(back.emplace(send.exchange, send.part).second);
          bench.answer(call);
      }
    }
    const Window::Outcome& outcome = bench.window->outcome();
    CHECK(outcome.samples == static_cast<SampleCount>(2 * micro_batches));
    CHECK(outcome.units + outcome.units_lost <= static_cast<std::int64_t>(micro_batches) * 2 * 3 * 2 * 2);
    CHECK(bench.answered == outcome.units);
    CHECK(bench.gradients <= static_cast<double>(outcome.units) + 0.5);
    for (wire::CellIndex cell = 0; cell < 4; ++cell) CHECK(weight_of(outcome, cell) == outcome.samples);
    // Four exchanges for each, two of them at a time.
    CHECK(bench.now - began < (micro_batches * 4 + 1) * (kBudget + std::chrono::seconds(1)));
  }
}
