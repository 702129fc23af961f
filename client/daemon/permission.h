// The volunteer's present permission for a run, as the limits and rules make it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/trainer_link/trainer_process.h"
#include "shared/base/clock.h"

namespace starling::daemon {

// The graphics card, as sensors and rules have it.
struct CardRules {
  bool present = false;  // sensors see one that could train
  std::string unused;    // why the rules leave it alone; empty: they do not
};

struct Permission {
  bool train = true;
  std::string reason;                // why training is not allowed
  std::optional<Duration> stops_in;  // the schedule's hours do not allow it after that time; unset: no end is known
  bool coordinator = true;           // the coordinator may be called
  bool port_mapping = true;          // the router may be asked to open a port
  bool spares_data = false;          // the coordinator hears no more than it must: the month is used up
  double relay_bytes_per_s = 0;      // rate that may be relayed between others
  std::int64_t disk_bytes_left = 0;  // by the limits, as it was measured last; negative: less than is taken
  double upload_bytes_per_s = 0;     // for all traffic together; 0: no limit
  double download_bytes_per_s = 0;   // for all traffic together; 0: no limit
  trainer_link::TrainerShare share;
  CardRules card;  // explains the share's part of the card
};

}  // namespace starling::daemon
