// A second account of a window of calls (client/routing/window.h): which experts each token should go to, what their
// holders have answered with the states that they had, and how long each exchange may take. It is kept beside the
// product's, and compared with the values that the trunk is given.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/routing/window.h"
#include "shared/run/cells.h"

namespace starling::sim {

// A cell's parameters as they were when a call was computed.
using StateThen = std::shared_ptr<const std::vector<float>>;

class WindowCheck {
 public:
  // `options` are the window's.
  explicit WindowCheck(const routing::WindowOptions& options);

  // All of these return what is wrong, in words; empty if nothing is.
  // The window is about to hear that this task is computed. held: by cell, whether it knows a holder.
  void on_computed(TimePoint now, const routing::TrunkTask& task, const std::vector<bool>& held);
  [[nodiscard]] std::string on_call(TimePoint now, const routing::OutgoingCall& call);
  // The inputs of a call that has gone out, whether or not it brings them.
  [[nodiscard]] std::span<const float> inputs_of(const routing::OutgoingCall& call) const;
  // The window is about to hear that a call has ended which it waited for: with an answer that was computed with this
  // state; null: with none.
  void on_ended(TimePoint now, routing::ExchangeId exchange, std::size_t part, StateThen state);
  // The window has heard of the time: exchanges whose budget is over have ended.
  void on_time(TimePoint now);
  // The task begins with what the window's exchanges have brought.
  [[nodiscard]] std::string on_task(const routing::TrunkTask& task);

 private:
  struct Layer {
    std::vector<float> inputs;                         // [tokens, width]
    std::vector<std::int32_t> chosen;                  // [tokens, active], by a search through all experts
    std::vector<std::int32_t> places;                  // by unit: its place in `chosen`
    std::vector<float> upstream;                       // [tokens, active, width]
    std::map<wire::CellIndex, StateThen> forth, back;  // those that have answered
  };
  struct Exchange {
    std::size_t micro_batch = 0;
    std::size_t layer = 0;
    bool is_back = false;
    TimePoint ends_at{};
    bool is_over = false;
    std::map<std::size_t, wire::CellIndex> cells{};  // by part
  };
  [[nodiscard]] std::vector<std::int32_t> best_experts(const routing::TrunkTask& task,
                                                       const std::vector<bool>& held) const;
  [[nodiscard]] wire::CellIndex cell_at(std::size_t layer, std::int32_t expert) const;
  [[nodiscard]] float scale(const Layer& layer, std::size_t number, bool is_back, std::int32_t expert,
                            std::size_t value) const;
  [[nodiscard]] std::string check_results(const routing::TrunkTask& task) const;
  [[nodiscard]] std::string check_gradient(const routing::TrunkTask& task) const;
  [[nodiscard]] const Layer& layer_of(std::size_t micro_batch, std::size_t layer) const;

  routing::WindowOptions options_;
  std::vector<wire::Cell> cells_;
  std::size_t width_;
  std::size_t active_;
  std::map<std::pair<std::size_t, std::size_t>, Layer> layers_;  // by micro-batch and layer
  std::map<routing::ExchangeId, Exchange> exchanges_;  // they have numbers from 1 on, in the order in which they begin
  std::map<std::pair<routing::ExchangeId, wire::CellIndex>, std::vector<float>>
      inputs_;     // those that calls have brought
  Exchange next_;  // the one that may begin now
};

}  // namespace starling::sim
