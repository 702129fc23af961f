#include "client/storage/memberships.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

#include "client/storage/set_aside.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"
#include "shared/wire/web_address.h"

namespace starling::storage {
namespace {

constexpr std::size_t kFileBytesMax = 64 * 1024;
constexpr double kSecondsMax = 1e12;

struct Shared {
  int number = 0;
  double share = 1;
  double trained_s = 0;
};
struct Shares {
  int current = 0;
  std::vector<Shared> projects;
};

Result<Shares> decode_shares(std::string_view json) {
  return wire::decode_json<Shares>(json, "projects", kFileBytesMax, [](wire::JsonReader& in, Shares& shares) {
    wire::read_int(in, "current", shares.current, 0, INT32_MAX);
    in.list("projects", kProjectsMax, [&](wire::JsonReader& item) {
      Shared& shared = shares.projects.emplace_back();
      wire::read_int(item, "number", shared.number, 0, INT32_MAX);
      item.number("share", shared.share, 0, kShareMax);
      item.number("trained_s", shared.trained_s, 0, kSecondsMax);
    });
  });
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Numbers of the folders in DIR/projects; other names are ignored.
std::vector<int> numbers_in(const std::filesystem::path& folder) {
  std::vector<int> numbers;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size() && number > 0) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Status read_membership(int number, std::unique_ptr<ProjectFiles> files, std::vector<Membership>& all) {
  STARLING_ASSIGN(std::optional<Project> project, files->project());
  if (!project.has_value() || all.size() >= kProjectsMax) return {};  // left, or never joined
  HistoryFile history(files->dir());
  all.push_back({number, std::move(*project), 1, 0, std::move(files), std::move(history)});
  return {};
}

}  // namespace

std::string address_of(const Project& project) { return wire::format_host_and_port(project.host, project.port); }

Result<Memberships> Memberships::open(ProjectFiles root) {
  const std::filesystem::path dir = root.dir();
  std::vector<Membership> all;
  STARLING_ASSIGN(ProjectFiles first, ProjectFiles::within(dir));
  STARLING_TRY(read_membership(0, std::make_unique<ProjectFiles>(std::move(first)), all));
  for (const int number : numbers_in(dir / "projects")) {
    STARLING_ASSIGN(ProjectFiles files, ProjectFiles::within(dir / "projects" / std::to_string(number)));
    STARLING_TRY(read_membership(number, std::make_unique<ProjectFiles>(std::move(files)), all));
  }
  Memberships memberships(std::make_unique<ProjectFiles>(std::move(root)), std::move(all));
  memberships.load_shares();
  return memberships;
}

Memberships::Memberships(std::unique_ptr<ProjectFiles> root, std::vector<Membership> all)
    : root_(std::move(root)), all_(std::move(all)), current_(all_.empty() ? kNone : 0) {}

void Memberships::load_shares() {
  const auto path = root_->dir() / "projects.json";
  const auto json = read_file(path, kFileBytesMax);
  if (!json.ok()) return;  // with a single project the file is not needed
  const auto shares = decode_shares(*json);
  if (!shares.ok()) {
    if (const auto aside = set_aside(path, shares.error().message); !aside.ok()) {
      log_warning("'{}' cannot be used: {}", path.string(), shares.error().message);
    }
    return;
  }
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].number == shares->current) current_ = i;
    for (const Shared& shared : shares->projects) {
      if (shared.number != all_[i].number) continue;
      all_[i].share = shared.share;
      all_[i].trained_s = shared.trained_s;
    }
  }
}

std::filesystem::path Memberships::folder_of(int number) const {
  return number == 0 ? root_->dir() : root_->dir() / "projects" / std::to_string(number);
}

Status Memberships::check_new(const std::string& host, std::uint16_t port) const {
  for (const Membership& membership : all_) {
    if (membership.project.host != host || membership.project.port != port) continue;
    return Error{ErrorCode::already_exists,
                 fmt::format("this computer has joined '{}' already, as {}; to join it anew, leave it first (starling "
                             "leave)",
                             membership.project.name, membership.project.display_name)};
  }
  if (all_.size() < kProjectsMax) return {};
  return Error{ErrorCode::resource_exhausted,
               fmt::format("this computer has joined {} projects, and more are not possible: leave one first "
                           "(starling leave NAME)",
                           kProjectsMax)};
}

Status Memberships::add(const Project& project, double trained_s) {
  STARLING_TRY(check_new(project.host, project.port));
  int number = 0;
  const auto taken = [&](int n) {
    return std::any_of(all_.begin(), all_.end(), [n](const Membership& m) { return m.number == n; });
  };
  while (taken(number)) ++number;
  STARLING_ASSIGN(ProjectFiles opened, ProjectFiles::within(folder_of(number)));
  auto files = std::make_unique<ProjectFiles>(std::move(opened));
  STARLING_TRY(files->save_project(project));
  HistoryFile history(files->dir());
  all_.push_back({number, project, 1, trained_s, std::move(files), std::move(history)});
  return save();
}

Status Memberships::remove(std::size_t index) {
  Membership& gone = all_[index];
  STARLING_TRY(gone.files->remove_project());
  if (const Status removed = gone.history.remove(); !removed.ok()) log_warning("{}", removed.error().message);
  std::error_code problem;
  if (gone.number > 0) std::filesystem::remove_all(folder_of(gone.number), problem);
  const bool was_current = current_ == index;
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(index));
  if (was_current) {
    current_ = kNone;
  } else if (current_ != kNone && current_ > index) {
    --current_;
  }
  if (all_.empty()) {
    std::filesystem::remove(root_->dir() / "projects.json", problem);
    std::filesystem::remove(root_->dir() / "projects", problem);
    return {};
  }
  return save();
}

Result<std::size_t> Memberships::find(const std::string& name) const {
  std::vector<std::size_t> found;
  std::string known;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Project& project = all_[i].project;
    if (lower(address_of(project)) == lower(name)) return i;
    if (lower(project.name) == lower(name)) found.push_back(i);
    known += fmt::format("{}'{}' ({})", known.empty() ? "" : ", ", project.name, address_of(project));
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    return Error{ErrorCode::invalid_argument, fmt::format("more than one project is called '{}'; say which by its "
                                                          "address: {}",
                                                          name, known)};
  }
  return Error{ErrorCode::not_found, fmt::format("no project '{}' was joined here; there {}", name,
                                                 known.empty() ? std::string("is none") : "is " + known)};
}

Status Memberships::save() const {
  wire::JsonWriter out;
  out.open("", '{');
  out.integer("current", current_ < all_.size() ? all_[current_].number : 0);
  out.open("projects", '[');
  for (const Membership& membership : all_) {
    out.open("", '{');
    out.integer("number", membership.number);
    out.number("share", membership.share);
    out.number("trained_s", membership.trained_s);
    out.close('}');
  }
  out.close(']');
  out.close('}');
  return write_file_atomically(root_->dir() / "projects.json", out.str());
}

}  // namespace starling::storage
