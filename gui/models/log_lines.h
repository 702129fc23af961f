// The daemon's log, line by line (shared/base/log.h: time, level, text).
#pragma once

#include <QList>
#include <QString>
#include <string>

namespace starling::models {

// Severity of a line, as far as the window shows a difference.
enum class LogLevel { info, warning, error };

// A line of the log, divided into columns.
struct LogLine {
  QString time;
  LogLevel level = LogLevel::info;  // debug counts as info
  QString words;
};

// A line without a time belongs to the previous one.
QList<LogLine> parseLog(const std::string& text);
QString levelName(LogLevel level);

}  // namespace starling::models
