// The log facade: `log_info("joined {}", project)`. Lines carry time and level; main decides once where they go. A
// record is one plain line (plain_text.h), whoever wrote parts of it. May be called from any thread.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace starling {

// Severity in ascending order. Lines below LogOptions::level are dropped before they are formatted.
enum class LogLevel { debug, info, warning, error };

// Destinations of the log, and bounds of its file.
struct LogOptions {
  LogLevel level = LogLevel::info;
  bool to_stderr = true;
  std::string file;                              // empty: no file
  std::size_t file_bytes_max = 5 * 1024 * 1024;  // rotated at this size
  int files_kept = 3;
};

// Called once, from main, before other threads start. Without it, warnings and errors go to stderr.
void init_logging(const LogOptions& options);

// Writes buffered lines out; main calls it before leaving.
void flush_logs();

namespace detail {
bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view line);
}  // namespace detail

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (detail::log_enabled(level)) detail::log_line(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::debug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::info, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::warning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::error, format, std::forward<Args>(args)...);
}

}  // namespace starling
