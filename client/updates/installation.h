// A per-user installation, which may update itself. Its folder, which nobody else writes:
//
//   ROOT/installation.json           {"layout":1}: made by the installer or the archive, never by a system's package
//   ROOT/versions/1.2.0/bin/…        one folder a version, complete in itself
//   ROOT/current -> versions/1.2.0   what menus and autostart call; replaced in one step
//   ROOT/downloads/                  archives that are being fetched
//   ROOT/trial.json                  after an update, until the new version has shown that it works
//   ROOT/failed.json                 versions that did not
//
// Whatever is interrupted, `current` leads to a complete version.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/wire/release_feed.h"

namespace starling::updates {

// A version that was switched to and has not shown yet that it works.
struct Trial {
  std::string version;
  std::string previous;
  int starts = 0;  // of its daemon so far
};
constexpr int kTrialStartsMax = 3;  // one more, and the previous version comes back

class Installation {
 public:
  // The installation that `program` (ROOT/versions/1.2.0/bin/starlingd, links resolved) belongs to. Empty when it is a
  // system package's, a build folder's, or cannot be written by this user.
  static std::optional<Installation> of(const std::filesystem::path& program);

  [[nodiscard]] const std::string& version() const { return version_; }  // of that program
  [[nodiscard]] std::filesystem::path downloads() const { return root_ / "downloads"; }
  [[nodiscard]] std::filesystem::path program(const std::string& version, const std::string& name) const;

  // Unpacks the release's archive, already checked, to a version's folder; at once when it is there. Needs room for the
  // unpacked files and `free_bytes_min` besides. resource_exhausted, saying how much is missing, before anything is
  // written.
  Status unpack(const std::filesystem::path& archive, const wire::ReleaseFeed& feed, const wire::ReleaseFile& file,
                const std::function<bool()>& go_on) const;
  Status check_room(std::int64_t bytes) const;

  // `current` leads to that version from now on.
  Status switch_to(const std::string& version) const;
  [[nodiscard]] std::optional<Trial> trial() const;
  Status save_trial(const Trial& trial) const;
  // The version works: the trial is over, and all versions but it and the one before it are removed.
  void end_trial() const;
  // It does not: `current` leads back to the one before, and the version is not tried again.
  Status go_back(const Trial& trial) const;
  Status note_failed(const std::string& version) const;
  [[nodiscard]] std::vector<std::string> failed() const;

 private:
  Installation(std::filesystem::path root, std::string version)
      : root_(std::move(root)), version_(std::move(version)) {}
  [[nodiscard]] std::filesystem::path folder(const std::string& version) const { return root_ / "versions" / version; }

  std::filesystem::path root_;
  std::string version_;
};

}  // namespace starling::updates
