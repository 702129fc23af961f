#include "client/storage/history.h"

#include <utility>

#include "client/storage/set_aside.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/control/control_fields.h"

namespace starling::storage {
namespace {

using wire::HistoryPoint;
using wire::HistorySpan;

constexpr std::size_t kFileBytesMax = 2 * 1024 * 1024;
constexpr wire::Items kPoints{wire::kHistoryPointsMax};
constexpr std::int64_t kMinuteMs = 60 * 1000;

struct Grain {
  std::int64_t width_ms;  // 0: single rounds
  std::size_t points_max;
};

// Indexed by HistorySpan.
constexpr std::array<Grain, wire::kHistorySpans> kGrains = {{
    {0, 240},
    {5 * kMinuteMs, 288},
    {120 * kMinuteMs, 360},
    {24 * 60 * kMinuteMs, wire::kHistoryPointsMax},
}};

void merge(HistoryPoint& into, const HistoryPoint& round) {
  const auto before = static_cast<double>(into.rounds);
  const auto added = static_cast<double>(round.rounds);
  into.loss = (into.loss * before + round.loss * added) / (before + added);
  into.round = round.round;
  into.rounds += round.rounds;
  into.samples += round.samples;
  into.swarm_samples += round.swarm_samples;
  into.credit = round.credit;
  into.bytes += round.bytes;
}

void add_to(std::vector<HistoryPoint>& points, const Grain& grain, HistoryPoint round) {
  if (grain.width_ms > 0) round.begin.unix_ms -= round.begin.unix_ms % grain.width_ms;
  // A clock that was set back must not put a stretch before an earlier one.
  if (grain.width_ms > 0 && !points.empty() && round.begin <= points.back().begin) return merge(points.back(), round);
  if (points.size() == grain.points_max) points.erase(points.begin());
  points.push_back(round);
}

}  // namespace

void History::add(const HistoryPoint& round) {
  for (std::size_t i = 0; i < spans_.size(); ++i) add_to(spans_[i], kGrains[i], round);
}

const std::vector<HistoryPoint>& History::points(HistorySpan span) const {
  return spans_[static_cast<std::size_t>(span)];
}

std::string History::encode() const {
  wire::JsonWriter out;
  wire::FieldWriter write(out);
  out.open("", '{');
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    write(wire::to_string(static_cast<HistorySpan>(i)), spans_[i], kPoints);
  }
  out.close('}');
  return std::move(out.str());
}

Result<History> History::decode(std::string_view json) {
  return wire::decode_json<History>(json, "history", kFileBytesMax, [](wire::JsonReader& in, History& history) {
    wire::FieldReader read(in);
    for (std::size_t i = 0; i < history.spans_.size(); ++i) {
      read(wire::to_string(static_cast<HistorySpan>(i)), history.spans_[i], kPoints);
    }
  });
}

HistoryFile::HistoryFile(const std::filesystem::path& dir) : path_(dir / "history.json") {
  const auto json = read_file(path_, kFileBytesMax);
  if (!json.ok() && json.error().code == ErrorCode::not_found) return;
  auto decoded = json.ok() ? History::decode(*json) : Result<History>(json.error());
  if (decoded.ok()) {
    history_ = std::move(*decoded);
  } else if (const auto aside = set_aside(path_, decoded.error().message); !aside.ok()) {
    log_warning("'{}' cannot be used: {}", path_.string(), decoded.error().message);
  }
}

void HistoryFile::add(const HistoryPoint& round) {
  history_.add(round);
  changed_ = true;
}

Status HistoryFile::save() {
  if (!changed_) return {};
  STARLING_TRY(write_file_atomically(path_, history_.encode()));
  changed_ = false;
  return {};
}

Status HistoryFile::remove() {
  history_ = {};
  changed_ = false;
  std::error_code problem;
  std::filesystem::remove(path_, problem);
  if (problem) return Error{ErrorCode::io, "remove '" + path_.string() + "': " + problem.message()};
  return {};
}

}  // namespace starling::storage
