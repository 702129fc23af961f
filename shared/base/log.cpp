#include "shared/base/log.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <vector>

#include "shared/base/plain_text.h"

namespace starling {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// spdlog's registry is the one process-wide object here: a log has no better owner than the process.
std::shared_ptr<spdlog::logger> make_default_logger() {
  auto logger = std::make_shared<spdlog::logger>("starling", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(spdlog::level::warn);
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %L %v");
  return logger;
}

std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance = make_default_logger();
  return instance;
}

}  // namespace

void init_logging(const LogOptions& options) {
  std::vector<spdlog::sink_ptr> sinks;
  if (options.to_stderr) sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  std::string file_problem;
  if (!options.file.empty()) {
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
          options.file, options.file_bytes_max, static_cast<std::size_t>(options.files_kept)));
    } catch (const spdlog::spdlog_ex& problem) {
      file_problem = problem.what();  // a log that cannot be written must not stop the program
    }
  }
  auto fresh = std::make_shared<spdlog::logger>("starling", sinks.begin(), sinks.end());
  fresh->set_level(to_spdlog(options.level));
  fresh->set_pattern("%Y-%m-%d %H:%M:%S.%e %L %v");
  fresh->flush_on(spdlog::level::info);
  logger() = std::move(fresh);
  if (!file_problem.empty()) log_warning("log file '{}' cannot be written: {}", options.file, file_problem);
}

void flush_logs() { logger()->flush(); }

namespace detail {

bool log_enabled(LogLevel level) { return logger()->should_log(to_spdlog(level)); }

void log_line(LogLevel level, std::string_view line) { logger()->log(to_spdlog(level), plain_line(line)); }

}  // namespace detail
}  // namespace starling
