// A daemon that only tells the status it was given: for states that a real one reaches after hours, or never.
#pragma once

#include <QLocalServer>

#include "shared/control/control.h"
#include "tests/support/temp_dir.h"

namespace starling::testing {

class FalseDaemon {
 public:
  explicit FalseDaemon(const wire::DaemonStatus& status);

  // Takes the place of the last one.
  void tell(const wire::DaemonStatus& status);
  [[nodiscard]] const std::filesystem::path& data_dir() const { return dir_.path(); }

 private:
  void answer(QLocalSocket& caller) const;

  TempDir dir_;
  wire::DaemonStatus status_;
  QLocalServer server_;
};

// A member of a run that trains, and whose work is checked.
wire::DaemonStatus checked_member(const wire::CheckedWork& checked);

}  // namespace starling::testing
