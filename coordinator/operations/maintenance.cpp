#include "coordinator/operations/maintenance.h"

#include <fmt/core.h>

#include <algorithm>

#include "shared/base/calendar.h"
#include "shared/base/plain_text.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::operations {
namespace {

constexpr const char* kSetting = "maintenance";
constexpr std::size_t kSettingBytesMax = 8 * 1024;
constexpr Duration kRetryDefault = std::chrono::minutes(15);
constexpr Duration kRetryMin = std::chrono::minutes(1);
constexpr Duration kRetryMax = std::chrono::hours(24);

std::string encode(const Maintenance& maintenance) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("message", maintenance.message);
  writer.integer("since_unix_ms", maintenance.since.unix_ms);
  if (maintenance.until) writer.integer("until_unix_ms", maintenance.until->unix_ms);
  writer.close('}');
  return std::move(writer.str());
}

Result<Maintenance> decode(const std::string& text) {
  STARLING_ASSIGN(const auto document, wire::JsonDocument::parse(text, kSettingBytesMax));
  wire::JsonReader reader = document.root();
  Maintenance maintenance;
  reader.text("message", maintenance.message, Maintenance::kMessageBytesMax);
  reader.integer("since_unix_ms", maintenance.since.unix_ms, 0, INT64_MAX);
  if (reader.present("until_unix_ms")) {
    reader.integer("until_unix_ms", maintenance.until.emplace().unix_ms, 0, INT64_MAX);
  }
  STARLING_TRY(reader.status());
  return maintenance;
}

}  // namespace

Result<std::optional<Maintenance>> read_maintenance(const db::SettingStore& settings) {
  STARLING_ASSIGN(const auto text, settings.find(kSetting));
  if (!text) return std::optional<Maintenance>();
  STARLING_ASSIGN(Maintenance maintenance, decode(*text));
  return std::optional(std::move(maintenance));
}

Status begin_maintenance(const Desk& desk, const Maintenance& wanted) {
  if (wanted.message.size() > Maintenance::kMessageBytesMax) {
    return Error{ErrorCode::invalid_argument, fmt::format("the message has {} bytes at most, not {}",
                                                          Maintenance::kMessageBytesMax, wanted.message.size())};
  }
  Maintenance begun = wanted;
  begun.message = plain_line(wanted.message);
  begun.since = desk.clock.wall_now();
  if (begun.until && *begun.until <= begun.since) {
    return Error{ErrorCode::invalid_argument, fmt::format("{} is over already; say a time to come", utc(*begun.until))};
  }
  STARLING_TRY(desk.stores.operation.settings.set(kSetting, encode(begun)));
  return note(desk, "maintenance on", begun.until ? "until " + utc(*begun.until) : "", begun.message);
}

Status end_maintenance(const Desk& desk) {
  STARLING_ASSIGN(const auto kept, desk.stores.operation.settings.find(kSetting));
  if (!kept) return Error{ErrorCode::failed_precondition, "the project is not under maintenance"};
  STARLING_TRY(desk.stores.operation.settings.remove(kSetting));
  return note(desk, "maintenance off", "");
}

std::string notice_of(const Maintenance& maintenance) {
  return fmt::format("The project is being looked after{}{}. Please come again {}. Computers that train go on.",
                     maintenance.message.empty() ? "" : ": ", plain_line(maintenance.message),
                     maintenance.until ? "after " + utc(*maintenance.until) : "in a quarter of an hour");
}

Duration come_again(const Maintenance& maintenance, WallTime now) {
  if (!maintenance.until || *maintenance.until <= now) return kRetryDefault;
  const std::int64_t ms = maintenance.until->unix_ms - now.unix_ms;
  return from_ms(std::clamp(ms, to_ms(kRetryMin), to_ms(kRetryMax)));
}

Status MaintenanceSign::refresh(const db::SettingStore& settings) {
  STARLING_ASSIGN(auto maintenance, read_maintenance(settings));
  MutexLock lock(mutex_);
  shown_ = std::move(maintenance);
  return {};
}

std::optional<Maintenance> MaintenanceSign::shown() const {
  MutexLock lock(mutex_);
  return shown_;
}

}  // namespace starling::operations
