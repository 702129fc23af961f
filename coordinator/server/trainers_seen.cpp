#include "coordinator/server/trainers_seen.h"

#include <utility>

#include "coordinator/server/server_link.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/protocol/compute_device_fields.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/limits.h"
#include "shared/run/model_options.h"
#include "shared/wire/fields.h"
#include "shared/wire/json_reader.h"

namespace starling::core {

template <typename Visitor>
void each_field(Visitor& visit, wire::Seen<Visitor, DevicesAlike>& alike) {
  visit("computers", alike.members, wire::Whole{1, INT32_MAX});
  visit("some_have_more", alike.some_have_more);
  visit("device", alike.device);
}

}  // namespace starling::core

namespace starling::server {
namespace {

constexpr std::size_t kSheetBytesMax = 64 * 1024;
constexpr Duration kWriteEvery = std::chrono::seconds(3);

// The content of the file.
struct Sheet {
  RunId run_id;
  std::string failure;  // the reason that most of those give whose trainers fail
  core::DevicesInUse devices;
};

template <typename Visitor>
void each_field(Visitor& visit, wire::Seen<Visitor, Sheet>& sheet) {
  visit("run_id", sheet.run_id, wire::Text{wire::kNameBytesMax});
  visit("failure", sheet.failure, wire::Text{wire::kTrainerFailureBytesMax});
  visit("devices", sheet.devices.alike, wire::Items{core::kDevicesShownMax});
  visit("others", sheet.devices.others, wire::Whole{0, INT32_MAX});
  visit("untold", sheet.devices.untold, wire::Whole{0, INT32_MAX});
}

std::filesystem::path sheet_of(const Project& project) { return project.files.at("trainers.json"); }

// The server's sheet about this run; an empty one if there is none.
Sheet read_sheet(const Project& project, const RunId& run_id) {
  const auto text = read_file(sheet_of(project), kSheetBytesMax);
  auto sheet =
      text ? wire::decode_fields<Sheet>(*text, "sheet of trainers", kSheetBytesMax) : Result<Sheet>(text.error());
  return sheet && sheet->run_id == run_id ? std::move(*sheet) : Sheet{};
}

}  // namespace

void TrainersSeen::look(const std::optional<api::ServedRun>& served, const std::function<core::DevicesInUse()>& devices,
                        TimePoint now) {
  const bool fails = served && served->failing.count > 0;
  const std::string failure = fails ? served->failing.why : "";
  if (fails && (served->failing.all() || failure != failure_told_) && lines_.admit(now)) {
    log_warning("run '{}': {}", served->manifest.run_id, core::failing_text(served->failing));
  }
  failure_told_ = failure;
  if (now < next_write_) return;
  next_write_ = now + kWriteEvery;
  write(served ? wire::encode_fields(Sheet{served->manifest.run_id, failure, devices()}) : "", now);
}

void TrainersSeen::write(const std::string& sheet, TimePoint now) {
  if (sheet == written_) return;
  written_ = sheet;
  std::error_code unknown;
  if (sheet.empty()) {
    std::filesystem::remove(sheet_of(project_), unknown);
    return;
  }
  const Status written = write_file_atomically(sheet_of(project_), sheet);
  if (!written.ok() && lines_.admit(now)) log_warning("{}", written.error().message);
}

LiveFigures ask_server(const Project& project, const RunId& run_id) {
  const auto body = ServerLink(project).get("/v1/status");
  if (!body) return {};
  const auto document = wire::JsonDocument::parse(*body, wire::kReplyBytesMax);
  if (!document) return {};
  LiveFigures live;
  wire::JsonReader reader = document->root();
  std::string served;
  reader.text("run_id", served, wire::kNameBytesMax);
  reader.integer("samples_accumulated", live.swarm.samples_accumulated, 0, INT64_MAX);
  wire::read_int(reader, "swarm_size", live.swarm.swarm_size, 0, INT32_MAX);
  reader.number("samples_per_s", live.swarm.samples_per_s, 0, 1e15);
  if (reader.present("plan")) reader.text("plan", live.swarm.plan, wire::kReasonBytesMax);
  if (reader.present("cell_holders")) {
    core::CellCover& cells = live.swarm.cells;
    reader.list("cell_holders", static_cast<std::size_t>(wire::kCellsMax), [&cells](wire::JsonReader& item) {
      wire::read_int(item, "", cells.holders.emplace_back(), 0, INT32_MAX);
    });
    wire::read_int(reader, "cell_holders_wanted", cells.wanted, 1, wire::kCellHoldersMax);
  }
  if (reader.present("trainers_failing")) {  // a server that was started before this program was installed has none
    wire::read_int(reader, "trainers", live.failing.of, 0, INT32_MAX);
    wire::read_int(reader, "trainers_failing", live.failing.count, 0, INT32_MAX);
  }
  if (reader.present("trainers_on_cards")) {
    wire::read_int(reader, "trainers_on_processors", live.device_sums.on_processors, 0, INT32_MAX);
    wire::read_int(reader, "trainers_on_cards", live.device_sums.on_cards, 0, INT32_MAX);
    wire::read_int(reader, "trainers_untold", live.device_sums.untold, 0, INT32_MAX);
  }
  if (!reader.status().ok() || served != run_id) return {};
  Sheet sheet = read_sheet(project, run_id);
  if (live.failing.count > 0) live.failing.why = std::move(sheet.failure);
  if (live.device_sums != core::DeviceSums{}) live.devices = std::move(sheet.devices);
  return live;
}

}  // namespace starling::server
