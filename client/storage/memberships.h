// The projects that this computer has joined. Each has a folder for its files: the first has the data directory itself,
// the others DIR/projects/<number>. Their shares of this computer, and how long each was trained, are in
// DIR/projects.json; without that file all shares are equal.
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

// One joined project with its open files. Memberships owns it; a pointer to it ends when a project is joined or left.
struct Membership {
  int number = 0;  // number of its folder; 0: the data directory itself
  Project project;
  double share = 1;  // share of the time, relative to the others
  double trained_s = 0;
  std::unique_ptr<ProjectFiles> files;  // on the heap, so that its address is stable
  HistoryFile history;
};

class Memberships {
 public:
  // `root` holds the data directory's lock and must outlive this. corrupt, naming the file, for a project that cannot
  // be read; a damaged projects.json is only set aside.
  static Result<Memberships> open(ProjectFiles root);

  [[nodiscard]] std::vector<Membership>& all() { return all_; }
  [[nodiscard]] const std::vector<Membership>& all() const { return all_; }
  // Index of the project that was trained last; kNone, beyond all indices, if there is none.
  static constexpr std::size_t kNone = SIZE_MAX;
  [[nodiscard]] std::size_t current() const { return current_; }
  void set_current(std::size_t index) { current_ = index; }

  // already_exists for a project that was joined before, resource_exhausted beyond kProjectsMax. add() appends, or
  // fails for these reasons too.
  [[nodiscard]] Status check_new(const std::string& host, std::uint16_t port) const;
  Status add(const Project& project, double trained_s);
  // Removes a project with its files; only the first project's rounds.jsonl stays. None of its files may be open. If it
  // was the current project, there is none afterwards.
  Status remove(std::size_t index);
  // Finds a project by name or "host:port", ignoring case. not_found lists the projects; invalid_argument if two share
  // a name.
  [[nodiscard]] Result<std::size_t> find(const std::string& name) const;
  // Writes shares and times. ProjectFiles saves the projects themselves.
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
