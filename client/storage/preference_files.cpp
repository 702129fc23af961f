#include "client/storage/preference_files.h"

#include <fmt/core.h>

#include "client/storage/set_aside.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::storage {
namespace {

constexpr std::size_t kFileBytesMax = 256 * 1024;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 53;
constexpr const char* kPreferences = "preferences.json";
constexpr const char* kPauseRequest = "pause.json";
constexpr const char* kTraffic = "traffic.json";

void read_month(wire::JsonReader& in, MonthTraffic& traffic) {
  in.integer("since_ms", traffic.since.unix_ms, 0, kBytesMax);
  if (in.present("by_coordinator_ms")) in.integer("by_coordinator_ms", traffic.by_coordinator.unix_ms, 0, kBytesMax);
  in.integer("averaging", traffic.averaging, 0, kBytesMax);
  in.integer("models", traffic.models, 0, kBytesMax);
  in.integer("coordinator", traffic.coordinator, 0, kBytesMax);
}

Result<MonthTraffic> decode_traffic(std::string_view json) {
  const auto read = [](wire::JsonReader& in, MonthTraffic& traffic) {
    read_month(in, traffic);
    if (!in.present("before")) return;
    in.list("before", kMonthsBeforeMax,
            [&traffic](wire::JsonReader& month) { read_month(month, traffic.before.emplace_back()); });
  };
  return wire::decode_json<MonthTraffic>(json, "traffic", kFileBytesMax, read);
}

void write_month(wire::JsonWriter& out, const MonthTraffic& traffic) {
  out.open("", '{');
  out.integer("since_ms", traffic.since.unix_ms);
  if (traffic.by_coordinator.unix_ms != 0) out.integer("by_coordinator_ms", traffic.by_coordinator.unix_ms);
  out.integer("averaging", traffic.averaging);
  out.integer("models", traffic.models);
  out.integer("coordinator", traffic.coordinator);
  if (!traffic.before.empty()) {
    out.open("before", '[');
    for (const MonthTraffic& month : traffic.before) write_month(out, month);
    out.close(']');
  }
  out.close('}');
}

std::string encode(const MonthTraffic& traffic) {
  wire::JsonWriter out;
  write_month(out, traffic);
  return std::move(out.str());
}

}  // namespace

template <typename T, typename Decode>
T PreferenceFiles::load(const char* name, const Decode& decode, T when_damaged) {
  const std::filesystem::path path = dir_ / name;
  const auto json = read_file(path, kFileBytesMax);
  if (!json.ok() && json.error().code == ErrorCode::not_found) return {};
  Result<T> decoded = json.ok() ? decode(*json) : Result<T>(json.error());
  if (decoded.ok()) return std::move(*decoded);
  // An unreadable file is not a damaged one: it may be whole.
  const bool damaged = json.ok() || json.error().code == ErrorCode::corrupt;
  if (damaged && set_aside(path, decoded.error().message).ok()) {
    problems_.push_back(fmt::format("'{}' was damaged ({}) and is kept beside it as '{}.corrupt'", path.string(),
                                    decoded.error().message, name));
  } else {
    problems_.push_back(fmt::format("'{}' cannot be used: {}", path.string(), decoded.error().message));
    log_warning("{}", problems_.back());
  }
  return when_damaged;
}

wire::Preferences PreferenceFiles::preferences() {
  return load<wire::Preferences>(kPreferences, wire::decode_preferences, {});
}

wire::PauseRequest PreferenceFiles::pause_request() {
  wire::PauseRequest paused;
  paused.kind = wire::PauseKind::now;
  paused.reason = "the note of your last pause was damaged";
  return load<wire::PauseRequest>(kPauseRequest, wire::decode_pause_request, paused);
}

MonthTraffic PreferenceFiles::traffic() { return load<MonthTraffic>(kTraffic, decode_traffic, {}); }

Status PreferenceFiles::save(const wire::Preferences& preferences) {
  return write_file_atomically(dir_ / kPreferences, wire::encode(preferences));
}

Status PreferenceFiles::save(const wire::PauseRequest& pause_request) {
  return write_file_atomically(dir_ / kPauseRequest, wire::encode(pause_request));
}

Status PreferenceFiles::save(const MonthTraffic& traffic) {
  return write_file_atomically(dir_ / kTraffic, encode(traffic));
}

}  // namespace starling::storage
