#include "client/updates/installation.h"

#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "client/updates/child.h"
#include "shared/base/files.h"
#include "shared/base/os_error.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::updates {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNoteBytesMax = 16 * 1024;
constexpr std::size_t kVersionBytesMax = 64;
constexpr std::size_t kFailedMax = 32;
constexpr int kLayout = 1;
constexpr Duration kUnpackLimit = std::chrono::minutes(20);
constexpr double kMegabyte = 1e6;

bool has_layout(const fs::path& root) {
  const auto json = read_file(root / "installation.json", kNoteBytesMax);
  if (!json.ok()) return false;
  struct Note {
    int layout = 0;
  };
  const auto note = wire::decode_json<Note>(*json, "installation", kNoteBytesMax, [](wire::JsonReader& in, Note& out) {
    wire::read_int(in, "layout", out.layout, kLayout, kLayout);
  });
  return note.ok();
}

// Forces all files below the folder to the disk, so that `current` never leads to files that a power cut emptied.
Status sync_tree(const fs::path& folder) {
  std::error_code problem;
  for (const auto& entry : fs::recursive_directory_iterator(folder, problem)) {
    if (entry.is_symlink() || !(entry.is_regular_file() || entry.is_directory())) continue;
    STARLING_TRY(sync_to_disk(entry.path()));
  }
  if (problem) return os_error("look through", folder, problem.value());
  return sync_to_disk(folder);
}

}  // namespace

std::optional<Installation> Installation::of(const fs::path& program) {
  std::error_code problem;
  const fs::path real = fs::canonical(program, problem);
  if (problem) return std::nullopt;
  const fs::path folder = real.parent_path().parent_path();  // ROOT/versions/1.2.0
  const fs::path root = folder.parent_path().parent_path();
  if (folder.parent_path().filename() != "versions" || !has_layout(root)) return std::nullopt;
  if (!fs::is_symlink(root / "current", problem)) return std::nullopt;
  for (const fs::path& written : {root, root / "versions"}) {
    if (access(written.c_str(), W_OK) != 0) return std::nullopt;
  }
  return Installation(root, folder.filename().string());
}

fs::path Installation::program(const std::string& version, const std::string& name) const {
  return folder(version) / "bin" / name;
}

Status Installation::check_room(std::int64_t bytes) const {
  struct statvfs disk {};
  if (statvfs(root_.c_str(), &disk) != 0) return os_error("look at the disk of", root_, errno);
  const auto free = static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
  if (free >= bytes) return {};
  return Error{
      ErrorCode::resource_exhausted,
      fmt::format("updating needs {:.0f} MB of the disk of '{}', and {:.0f} MB are free",
                  static_cast<double>(bytes) / kMegabyte, root_.string(), static_cast<double>(free) / kMegabyte)};
}

Status Installation::unpack(const fs::path& archive, const wire::ReleaseFeed& feed, const wire::ReleaseFile& file,
                            const std::function<bool()>& go_on) const {
  std::error_code problem;
  if (fs::exists(folder(feed.version), problem)) return {};
  STARLING_TRY(check_room(file.unpacked_bytes));
  const fs::path incoming = root_ / "incoming";
  fs::remove_all(incoming, problem);  // left by an earlier try
  STARLING_TRY(ensure_directory(incoming));
  const auto unpacked = run_child({"tar", "--extract", "--gzip", "--file", archive.string(), "--directory",
                                   incoming.string(), "--strip-components=1"},
                                  kUnpackLimit, go_on);
  Status status = unpacked.ok() ? Status() : Status(unpacked.error());
  const fs::path fresh = incoming / "versions" / feed.version;
  if (status.ok() && access((fresh / "bin" / "starlingd").c_str(), X_OK) != 0) {
    status = Error{ErrorCode::corrupt, fmt::format("the archive holds no version {}", feed.version)};
  }
  if (status.ok()) status = sync_tree(fresh);
  if (status.ok() && rename(fresh.c_str(), folder(feed.version).c_str()) != 0) {
    status = os_error("move into place", folder(feed.version), errno);
  }
  fs::remove_all(incoming, problem);
  if (!status.ok()) return status.error().prefixed("unpack the update");
  return sync_to_disk(root_ / "versions");
}

Status Installation::switch_to(const std::string& version) const {
  const fs::path fresh = root_ / "current.new";
  std::error_code problem;
  fs::remove(fresh, problem);
  fs::create_symlink(fs::path("versions") / version, fresh, problem);
  if (problem) return os_error("make the link", fresh, problem.value());
  if (rename(fresh.c_str(), (root_ / "current").c_str()) != 0) return os_error("switch to", folder(version), errno);
  return sync_to_disk(root_);
}

std::optional<Trial> Installation::trial() const {
  const auto json = read_file(root_ / "trial.json", kNoteBytesMax);
  if (!json.ok()) return std::nullopt;
  const auto trial = wire::decode_json<Trial>(*json, "trial", kNoteBytesMax, [](wire::JsonReader& in, Trial& out) {
    in.text("version", out.version, kVersionBytesMax);
    in.text("previous", out.previous, kVersionBytesMax);
    wire::read_int(in, "starts", out.starts, 0, 1000);
  });
  return trial.ok() ? std::optional(*trial) : std::nullopt;
}

Status Installation::save_trial(const Trial& trial) const {
  wire::JsonWriter out;
  out.open("", '{');
  out.text("version", trial.version);
  out.text("previous", trial.previous);
  out.integer("starts", trial.starts);
  out.close('}');
  return write_file_atomically(root_ / "trial.json", out.str());
}

void Installation::end_trial() const {
  const std::optional<Trial> over = trial();
  if (!over.has_value()) return;
  std::error_code problem;  // files that cannot be removed now are removed after the next update
  for (const auto& entry : fs::directory_iterator(root_ / "versions", problem)) {
    const std::string name = entry.path().filename().string();
    if (name != version_ && name != over->version && name != over->previous) fs::remove_all(entry.path(), problem);
  }
  fs::remove_all(downloads(), problem);
  fs::remove(root_ / "trial.json", problem);
}

Status Installation::go_back(const Trial& trial) const {
  STARLING_TRY(note_failed(trial.version));
  STARLING_TRY(switch_to(trial.previous));
  std::error_code problem;
  fs::remove(root_ / "trial.json", problem);
  return problem ? Status(os_error("remove", root_ / "trial.json", problem.value())) : Status();
}

std::vector<std::string> Installation::failed() const {
  std::vector<std::string> versions;
  const auto json = read_file(root_ / "failed.json", kNoteBytesMax);
  if (!json.ok()) return versions;
  auto read = wire::decode_json<std::vector<std::string>>(
      *json, "failed versions", kNoteBytesMax, [](wire::JsonReader& in, std::vector<std::string>& out) {
        in.list("versions", kFailedMax,
                [&](wire::JsonReader& version) { version.text("", out.emplace_back(), kVersionBytesMax); });
      });
  return read.ok() ? std::move(*read) : versions;
}

Status Installation::note_failed(const std::string& version) const {
  std::vector<std::string> versions = failed();
  if (std::find(versions.begin(), versions.end(), version) != versions.end()) return {};
  if (versions.size() == kFailedMax) versions.erase(versions.begin());
  versions.push_back(version);
  wire::JsonWriter out;
  out.open("", '{');
  out.open("versions", '[');
  for (const std::string& failed : versions) out.text("", failed);
  out.close(']');
  out.close('}');
  return write_file_atomically(root_ / "failed.json", out.str());
}

}  // namespace starling::updates
