#include "coordinator/server/failing_trainers.h"

#include "coordinator/server/server_link.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/protocol/limits.h"
#include "shared/wire/fields.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

constexpr std::size_t kSheetBytesMax = 4096;
constexpr Duration kWritesApart = std::chrono::seconds(10);  // a member may say something else at each call

std::filesystem::path sheet_of(const Project& project) { return project.files.at("failing.json"); }

std::string encode(const api::ServedRun& served) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("run_id", served.manifest.run_id);
  writer.text("why", served.failing.why);
  writer.close('}');
  return std::move(writer.str());
}

// The reason that the server has written down for this run; empty if there is none.
std::string reason_of(const Project& project, const RunId& run_id) {
  const auto sheet = read_file(sheet_of(project), kSheetBytesMax);
  const auto document =
      sheet ? wire::JsonDocument::parse(*sheet, kSheetBytesMax) : Result<wire::JsonDocument>(sheet.error());
  if (!document) return "";
  wire::JsonReader reader = document->root();
  std::string run, why;
  reader.text("run_id", run, wire::kNameBytesMax);
  reader.text("why", why, kSheetBytesMax);
  return reader.status().ok() && run == run_id ? why : "";
}

}  // namespace

void FailingTrainers::look(const std::optional<api::ServedRun>& served, TimePoint now) {
  const bool fails = served && served->failing.count > 0;
  const std::string tells = fails ? encode(*served) : "";
  if (fails && (served->failing.all() || tells != told_) && lines_.admit(now)) {
    log_warning("run '{}': {}", served->manifest.run_id, core::failing_text(served->failing));
  }
  if (tells == told_ || now < next_write_) return;
  told_ = tells;
  next_write_ = now + kWritesApart;
  std::error_code unknown;
  if (!fails) {
    std::filesystem::remove(sheet_of(project_), unknown);
    return;
  }
  const Status written = write_file_atomically(sheet_of(project_), tells);
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
  if (reader.present("trainers_failing")) {  // a server that was started before this program was installed has none
    wire::read_int(reader, "trainers", live.failing.of, 0, INT32_MAX);
    wire::read_int(reader, "trainers_failing", live.failing.count, 0, INT32_MAX);
  }
  if (!reader.status().ok() || served != run_id) return {};
  if (live.failing.count > 0) live.failing.why = reason_of(project, run_id);
  return live;
}

}  // namespace starling::server
