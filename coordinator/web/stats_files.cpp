#include "coordinator/web/stats_files.h"

#include <algorithm>
#include <array>

#include "coordinator/web/responses.h"

namespace starling::web {
namespace {

constexpr std::array<std::string_view, 12> kFiles = {kStatsTables,
                                                     "user.gz",
                                                     "team.gz",
                                                     "host.gz",
                                                     "user_deleted.gz",
                                                     "host_deleted.gz",
                                                     "user.jsonl.gz",
                                                     "team.jsonl.gz",
                                                     "host.jsonl.gz",
                                                     "user_deleted.jsonl.gz",
                                                     "host_deleted.jsonl.gz",
                                                     kStatsDigests};

}  // namespace

std::span<const std::string_view> stats_files() { return kFiles; }

gate::Response stats_response(const std::filesystem::path& folder, std::string_view name) {
  const auto known = std::find(kFiles.begin(), kFiles.end(), name);
  const std::filesystem::path file = known == kFiles.end() ? std::filesystem::path() : folder / *known;
  std::error_code absent;
  const auto bytes = std::filesystem::file_size(file, absent);
  if (file.empty() || absent) {
    gate::Response response = response_of("text/plain; charset=utf-8", "There is no such file.\n");
    response.status = 404;
    return response;
  }
  gate::Response response = response_of(name == kStatsTables    ? "application/xml"
                                        : name == kStatsDigests ? "text/plain; charset=utf-8"
                                                                : "application/gzip",
                                        "");
  response.file = gate::FileBody{file, 0, static_cast<std::int64_t>(bytes)};
  return response;
}

}  // namespace starling::web
