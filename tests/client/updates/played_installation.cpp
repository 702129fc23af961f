#include "tests/client/updates/played_installation.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "client/updates/handover.h"
#include "shared/base/files.h"

namespace starling::testing {
namespace {

namespace fs = std::filesystem;

void write_daemon(const fs::path& root, const std::string& version, const std::string& text) {
  const fs::path bin = root / "versions" / version / "bin";
  fs::create_directories(bin);
  REQUIRE(write_file_atomically(bin / "starlingd", text, {.mode = 0755}).ok());
}

}  // namespace

std::string working_daemon(const std::string& version, int exit_code) {
  return "#!/bin/sh\necho '" + updates::self_check_words(version) + "'\nexit " + std::to_string(exit_code) + "\n";
}

PlayedInstallation::PlayedInstallation(const std::string& version) : root_(folder_ / "root") {
  add_version(version, working_daemon(version));
  REQUIRE(write_file_atomically(root_ / "installation.json", "{\"layout\":1}").ok());
  fs::create_symlink("versions/" + version, root_ / "current");
}

updates::Installation PlayedInstallation::open(const std::string& version) const {
  auto installation = updates::Installation::of(root_ / "versions" / version / "bin" / "starlingd");
  REQUIRE(installation.has_value());
  return *installation;
}

std::string PlayedInstallation::current() const { return fs::read_symlink(root_ / "current").string(); }

void PlayedInstallation::add_version(const std::string& version, const std::string& daemon) const {
  write_daemon(root_, version, daemon);
}

fs::path PlayedInstallation::archive(const std::string& version, const std::string& daemon) const {
  const fs::path tree = folder_ / ("tree-" + version);
  write_daemon(tree / "starling", version, daemon);
  const fs::path file = folder_ / ("starling-" + version + ".tar.gz");
  const std::string command = "tar -czf '" + file.string() + "' -C '" + tree.string() + "' starling";
  REQUIRE(std::system(command.c_str()) == 0);
  return file;
}

}  // namespace starling::testing
