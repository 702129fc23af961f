// Figures as people read them, in the language of the window.
#pragma once

#include <QString>
#include <string>

#include "shared/base/clock.h"

namespace starling::models {

constexpr double kMbitPerByte = 8e-6;

inline QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

QString countText(std::int64_t count);  // 12,345
QString numberText(double value, int digits);
QString bytesText(double bytes);       // 12.3 MB
QString rateText(double bytes_per_s);  // 12.3 Mbit/s; a dash if nothing was measured
QString creditText(double credit);     // with enough digits to see it grow
// "18:00", "Tuesday 18:00" within a week, "3 December 18:00" beyond, as seen from `now`.
QString momentText(WallTime when, WallTime now);
WallTime wallNow();

}  // namespace starling::models
