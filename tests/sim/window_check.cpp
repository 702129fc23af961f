#include "tests/sim/window_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shared/base/verify.h"
#include "tests/sim/cell_model.h"

namespace starling::sim {
namespace {

// Sums of a few products of single precision, in another order.
constexpr float kTolerance = 1e-4F;

}  // namespace

WindowCheck::WindowCheck(const routing::WindowOptions& options)
    : options_(options),
      cells_(wire::cells_of(options.model)),
      width_(static_cast<std::size_t>(options.model.width)),
      active_(static_cast<std::size_t>(options.model.experts.active)) {}

const WindowCheck::Layer& WindowCheck::layer_of(std::size_t micro_batch, std::size_t layer) const {
  return layers_.at({micro_batch, layer});
}

// The simulated model has experts in each layer.
wire::CellIndex WindowCheck::cell_at(std::size_t layer, std::int32_t expert) const {
  const auto found = std::find_if(cells_.begin(), cells_.end(), [&](const wire::Cell& cell) {
    return static_cast<std::size_t>(cell.layer) == layer && expert >= cell.first_expert &&
           expert < cell.first_expert + cell.experts;
  });
  VERIFY(found != cells_.end());
  return static_cast<wire::CellIndex>(found - cells_.begin());
}

std::vector<std::int32_t> WindowCheck::best_experts(const routing::TrunkTask& task,
                                                    const std::vector<bool>& held) const {
  const wire::ExpertOptions& experts = options_.model.experts;
  const auto layer = static_cast<std::size_t>(task.step.segment);
  std::vector<std::int32_t> candidates;
  for (std::int32_t expert = 0; expert < wire::experts_in_layer(options_.model); ++expert) {
    if (held[static_cast<std::size_t>(cell_at(layer, expert))]) candidates.push_back(expert);
  }
  const std::size_t tokens = task.inputs.size() / width_;
  const std::size_t scores = task.outputs.size() / tokens;
  std::vector<std::int32_t> chosen(tokens * active_, routing::kNoExpert);
  for (std::size_t token = 0; token < tokens; ++token) {
    const std::span<const float> own = task.outputs.subspan(token * scores, scores);
    std::stable_sort(candidates.begin(), candidates.end(), [&](std::int32_t a, std::int32_t b) {
      const float score_a = score_of(own, experts, a), score_b = score_of(own, experts, b);
      return score_a > score_b || (score_a == score_b && a < b);
    });
    std::copy_n(candidates.begin(), std::min(active_, candidates.size()),
                chosen.begin() + static_cast<std::ptrdiff_t>(token * active_));
  }
  return chosen;
}

void WindowCheck::on_computed(TimePoint now, const routing::TrunkTask& task, const std::vector<bool>& held) {
  const auto segment = static_cast<std::size_t>(task.step.segment);
  if (task.step.way != routing::Way::forth && segment == 0) return;  // the micro-batch is done
  Exchange& exchange = exchanges_[static_cast<routing::ExchangeId>(exchanges_.size() + 1)];
  exchange.micro_batch = task.step.micro_batch;
  exchange.ends_at = now + options_.budget;
  if (task.step.way == routing::Way::forth) {
    exchange.layer = segment;
    Layer& layer = layers_[{task.step.micro_batch, segment}];
    layer = Layer();
    layer.inputs.assign(task.inputs.begin(), task.inputs.end());
    layer.chosen = best_experts(task, held);
  } else {
    exchange.layer = segment - 1;
    exchange.is_back = true;
    Layer& layer = layers_.at({task.step.micro_batch, segment - 1});
    layer.upstream.assign(layer.chosen.size() * width_, 0.0F);
    for (std::size_t unit = 0; unit < layer.places.size(); ++unit) {
      const auto place = static_cast<std::size_t>(layer.places[unit]) * width_;
      std::copy_n(task.results.begin() + static_cast<std::ptrdiff_t>(unit * width_), width_,
                  layer.upstream.begin() + static_cast<std::ptrdiff_t>(place));
    }
  }
}

std::string WindowCheck::on_call(TimePoint now, const routing::OutgoingCall& call) {
  const auto found = exchanges_.find(call.send.exchange);
  if (found == exchanges_.end()) return "a call belongs to no exchange";
  Exchange& exchange = found->second;
  exchange.cells[call.send.part] = call.cell;
  if (!call.kept) inputs_[{call.send.exchange, call.cell}].assign(call.inputs.begin(), call.inputs.end());
  if (exchange.is_back != call.is_back) return "an exchange has calls of both ways";
  if (now + call.send.budget > exchange.ends_at || call.send.budget <= Duration()) {
    return fmt::format("a call has {:.3f} s, and its exchange {:.3f} s", to_seconds(call.send.budget),
                       to_seconds(exchange.ends_at - now));
  }
  return {};
}

std::span<const float> WindowCheck::inputs_of(const routing::OutgoingCall& call) const {
  return inputs_.at({call.kept.value_or(call.send.exchange), call.cell});
}

void WindowCheck::on_ended(TimePoint now, routing::ExchangeId id, std::size_t part, StateThen state) {
  Exchange& exchange = exchanges_.at(id);
  if (exchange.is_over) return;
  Layer& layer = layers_.at({exchange.micro_batch, exchange.layer});
  auto& states = exchange.is_back ? layer.back : layer.forth;
  const wire::CellIndex cell = exchange.cells.at(part);
  if (states.contains(cell)) return;  // another holder was faster
  if (state) states[cell] = std::move(state);
  exchange.is_over = now >= exchange.ends_at;
}

void WindowCheck::on_time(TimePoint now) {
  for (auto& [id, exchange] : exchanges_) exchange.is_over = exchange.is_over || now >= exchange.ends_at;
}

std::string WindowCheck::on_task(const routing::TrunkTask& task) {
  if (task.step.way == routing::Way::back) return check_gradient(task);
  if (task.step.segment == 0) return {};
  Layer& layer = layers_.at({task.step.micro_batch, static_cast<std::size_t>(task.step.segment - 1)});
  layer.places.assign(task.places.begin(), task.places.end());
  return check_results(task);
}

float WindowCheck::scale(const Layer& layer, std::size_t number, bool is_back, std::int32_t expert,
                         std::size_t value) const {
  const wire::CellIndex cell = cell_at(number, expert);
  const auto& states = is_back ? layer.back : layer.forth;
  const auto found = states.find(cell);
  if (found == states.end()) return 0;
  const auto own = static_cast<std::size_t>(expert - cells_[static_cast<std::size_t>(cell)].first_expert);
  return scale_of(*found->second, own, value, width_);
}

// Tokens go to the best experts, and each result is that of the holder whose answer came first.
std::string WindowCheck::check_results(const routing::TrunkTask& task) const {
  const auto number = static_cast<std::size_t>(task.step.segment - 1);
  const Layer& layer = layer_of(task.step.micro_batch, number);
  std::vector<int> named(layer.chosen.size(), 0);
  for (std::size_t unit = 0; unit < task.places.size(); ++unit) {
    const auto place = static_cast<std::size_t>(task.places[unit]);
    ++named[place];
    const std::int32_t expert = task.experts[place];
    for (std::size_t k = 0; expert >= 0 && k < width_; ++k) {
      const float expected = scale(layer, number, false, expert, k) * layer.inputs[place / active_ * width_ + k];
      if (task.results[unit * width_ + k] == expected) continue;
      return fmt::format("a token's result from expert {} is {}, and its holder's state gives {}", expert,
                         task.results[unit * width_ + k], expected);
    }
  }
  for (std::size_t place = 0; place < named.size(); ++place) {
    const std::int32_t wanted = layer.chosen[place], expert = task.experts[place];
    if (named[place] != (wanted >= 0 ? 1 : 0)) return fmt::format("a token goes {} times to an expert", named[place]);
    if (expert != wanted && expert >= 0) return fmt::format("a token goes to expert {}, not {}", expert, wanted);
    // Where not all answers are waited for, one may come too late.
    const bool is_answered = wanted >= 0 && layer.forth.contains(cell_at(number, wanted));
    if (expert >= 0 ? !is_answered : is_answered && options_.answers_min == 0) {
      return fmt::format("expert {} has {}answered, and counts otherwise", wanted, is_answered ? "" : "not ");
    }
  }
  return {};
}

std::string WindowCheck::check_gradient(const routing::TrunkTask& task) const {
  const auto number = static_cast<std::size_t>(task.step.segment);
  const Layer& layer = layer_of(task.step.micro_batch, number);
  std::vector<float> expected(layer.inputs.size());
  for (std::size_t place = 0; place < layer.chosen.size(); ++place) {
    if (layer.chosen[place] < 0) continue;
    for (std::size_t k = 0; k < width_; ++k) {
      expected[place / active_ * width_ + k] +=
          scale(layer, number, true, layer.chosen[place], k) * layer.upstream[place * width_ + k];
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::abs(task.inputs_gradient[i] - expected[i]) <= kTolerance * (1 + std::abs(expected[i]))) continue;
    return fmt::format("a gradient that came back is {}, and the holders' states give {}", task.inputs_gradient[i],
                       expected[i]);
  }
  return {};
}

}  // namespace starling::sim
