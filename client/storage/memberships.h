// The projects that this computer has joined. Each has a folder for its files: the first the data directory itself,
// the others DIR/projects/<number>. How they share this computer, and how long each was trained, is in
// DIR/projects.json; without that file they share alike.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "client/storage/history.h"
#include "client/storage/project_files.h"
#include "shared/base/result.h"

namespace starling::storage {

constexpr std::size_t kProjectsMax = 16;
constexpr double kShareMax = 1000;

struct Membership {
  int number = 0;  // of its folder; 0: the data directory itself
  Project project;
  double share = 1;  // of the time, relative to the others
  double trained_s = 0;
  std::unique_ptr<ProjectFiles> files;  // where it is, it stays
  HistoryFile history;
};

class Memberships {
 public:
  // `root` holds the data directory's lock and outlives this. corrupt, naming the file, for a project that cannot be
  // read; what projects.json says is worth less, and set aside where it is damaged.
  static Result<Memberships> open(ProjectFiles root);

  [[nodiscard]] std::vector<Membership>& all() { return all_; }
  [[nodiscard]] const std::vector<Membership>& all() const { return all_; }
  // Who was trained last; kNone, beyond them all, where nobody is.
  static constexpr std::size_t kNone = SIZE_MAX;
  [[nodiscard]] std::size_t current() const { return current_; }
  void set_current(std::size_t index) { current_ = index; }

  // Appends. already_exists for a project that was joined before, resource_exhausted beyond kProjectsMax.
  [[nodiscard]] Status check_new(const std::string& host, std::uint16_t port) const;
  Status add(const Project& project, double trained_s);
  // With its files; only the journal of the first one's rounds stays. Nothing of it may be open. If it was the current
  // one, there is none afterwards.
  Status remove(std::size_t index);
  // By name or "host:port", whatever the case. not_found lists what there is; invalid_argument where two share a name.
  [[nodiscard]] Result<std::size_t> find(const std::string& name) const;
  // Shares and times. Projects themselves are saved by ProjectFiles.
  Status save() const;

 private:
  Memberships(std::unique_ptr<ProjectFiles> root, std::vector<Membership> all);
  void load_shares();
  [[nodiscard]] std::filesystem::path folder_of(int number) const;

  std::unique_ptr<ProjectFiles> root_;
  std::vector<Membership> all_;
  std::size_t current_ = kNone;
};

// "example.org:7700", "[2001:db8::7]:7700"
std::string address_of(const Project& project);

}  // namespace starling::storage
