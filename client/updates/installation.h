// A per-user installation, which may update itself. Its folder, which nobody else writes:
//
//   ROOT/installation.json           {"layout":1}: made by the installer or the archive, never by a system's package
//   ROOT/versions/1.2.0/bin/…        one folder per version, complete in itself
//   ROOT/current -> versions/1.2.0   used by menus and autostart; replaced in one step
//   ROOT/downloads/                  archives that are being fetched
//   ROOT/trial.json                  present after an update, until the new version has shown that it works
//   ROOT/failed.json                 versions that did not work
//
// After any interruption, `current` leads to a complete version.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/protocol/release_feed.h"

namespace starling::updates {

// A version that was switched to and has not yet shown that it works.
struct Trial {
  std::string version;
  std::string previous;
  int starts = 0;  // starts of its daemon so far
};
constexpr int kTrialStartsMax = 3;  // the next start brings the previous version back

class Installation {
 public:
  // The installation that `program` (ROOT/versions/1.2.0/bin/starlingd, links resolved) belongs to. Empty when the
  // program is a system package's or a build folder's, or when this user cannot write there.
  static std::optional<Installation> of(const std::filesystem::path& program);

  [[nodiscard]] const std::string& version() const { return version_; }  // version of that program
  [[nodiscard]] std::filesystem::path downloads() const { return root_ / "downloads"; }
  [[nodiscard]] std::filesystem::path program(const std::string& version, const std::string& name) const;

  // Unpacks the release's archive, already checked, to a version's folder; returns at once if the folder exists. Needs
  // room for the unpacked files and `free_bytes_min` besides. resource_exhausted, with the missing amount, before
  // anything is written.
  Status unpack(const std::filesystem::path& archive, const wire::ReleaseFeed& feed, const wire::ReleaseFile& file,
                const std::function<bool()>& go_on) const;
  Status check_room(std::int64_t bytes) const;

  // Makes `current` lead to that version.
  Status switch_to(const std::string& version) const;
  [[nodiscard]] std::optional<Trial> trial() const;
  Status save_trial(const Trial& trial) const;
  // Ends the trial because the version works: removes all versions except it and the previous one.
  void end_trial() const;
  // Ends the trial because the version failed: `current` leads to the previous version again, and this one is not tried
  // again.
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
