#include "shared/base/calendar.h"

#include <ctime>

namespace starling {

std::string utc(WallTime time) {
  const std::time_t seconds = time.unix_ms / 1000;
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts)};
}

std::string local_time(WallTime time) {
  const std::time_t seconds = time.unix_ms / 1000;
  std::tm parts = {};
  ::localtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts)};
}

}  // namespace starling
