// Time zones for tests, by hand and by the C library.
#pragma once

#include <ctime>
#include <string>

#include "client/policy/calendar.h"

namespace starling::policy {

// Central Europe in 2026: summer time from 29 March 1:00 UTC to 25 October 1:00 UTC.
UtcOffset central_europe();
// Lord Howe Island: half an hour of summer time, and half-hour offsets all year.
UtcOffset lord_howe();

// Sets the process's time zone, for comparison with localtime_r, for as long as it lives.
class LibraryZone {
 public:
  explicit LibraryZone(const char* posix_rule);
  ~LibraryZone();
  LibraryZone(const LibraryZone&) = delete;
  LibraryZone& operator=(const LibraryZone&) = delete;
  [[nodiscard]] static std::tm local(WallTime when);
  [[nodiscard]] static UtcOffset offset();

 private:
  std::string before_;
  bool was_set_ = false;
};

// UTC.
WallTime utc(int year, unsigned month, unsigned day, int hour = 0, int minute = 0);

}  // namespace starling::policy
