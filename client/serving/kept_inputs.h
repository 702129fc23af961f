// Inputs of calls forth that have been answered, kept for a while so that the way back need not bring them again. They
// can be given up at any time: the caller sends them once more then. Pure; single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "client/serving/call.h"

namespace starling::serving {

class KeptInputs {
 public:
  // keep: above 0.
  explicit KeptInputs(Duration keep) : keep_(keep) {}

  // Keeps the inputs of a call forth from now on.
  void add(TimePoint now, const Call& forth, std::vector<float> inputs);
  // Whether the inputs that a call back names are here, and were for the same cell and units.
  [[nodiscard]] bool has(const Call& back) const;
  // Takes them out. has(back).
  [[nodiscard]] std::vector<float> take(const Call& back);

  // Something is kept.
  void give_up_oldest();
  void forget_caller(const PeerId& caller);
  void forget_cell(wire::CellIndex cell);
  void forget_all();
  // Forgets those whose time is over.
  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const;

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // their size

 private:
  struct Entry {
    CallKey key;
    wire::CellIndex cell = 0;
    std::int32_t rows = 0;
    Hash128 units;  // hash of counts and rows: these themselves may be larger than the inputs
    TimePoint ends_at{};
    std::vector<float> inputs;
  };
  using Entries = std::list<Entry>;
  Entries::iterator erase(Entries::iterator entry);

  Duration keep_;
  Entries entries_;  // the oldest first
  std::map<CallKey, Entries::iterator> by_key_;
  std::uint64_t bytes_ = 0;
};

}  // namespace starling::serving
