// Whether the disk takes one kind of file. A full disk is reported once, and once when it is over. Single-threaded.
#pragma once

#include <string>
#include <utility>

#include "shared/base/result.h"

namespace starling::daemon {

class DiskProblem {
 public:
  // `what` begins the sentences for the volunteer: "save the model".
  explicit DiskProblem(std::string what) : what_(std::move(what)) {}

  // Notes how the last attempt ended.
  void note(const Status& saved);
  // Why the last attempt failed, in a sentence; empty when it did not.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string what_;
  std::string text_;
};

}  // namespace starling::daemon
