#include "client/daemon/report_keeper.h"

#include <algorithm>

namespace starling::daemon {

void ReportKeeper::record(const wire::RoundReport& report, Duration round_duration) {
  problem_.note(journal_.record(report, round_duration));
}

void ReportKeeper::forget(RoundIndex below) {
  if (below <= forgotten_below_) return;
  forgotten_below_ = below;
  problem_.note(journal_.forget(below));
}

void ReportKeeper::withdraw(RoundIndex from) {
  forgotten_below_ = std::min(forgotten_below_, from);
  problem_.note(journal_.withdraw(from));
}

}  // namespace starling::daemon
