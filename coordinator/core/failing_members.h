// Members whose trainers fail, by their own words: for operators to see. No decision goes by it.
#pragma once

#include <string>

namespace starling::core {

// How many there are at a moment.
struct FailingMembers {
  int count = 0;
  int of = 0;       // members that should compute, failing ones included
  std::string why;  // the reason that most of them give; plain text that a member wrote

  // True if nobody is left who computes.
  [[nodiscard]] bool all() const { return count > 0 && count == of; }
};

// One sentence for operators, without a full stop; empty where none fails.
std::string failing_text(const FailingMembers& failing);

}  // namespace starling::core
