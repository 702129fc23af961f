#include "client/storage/checkpoint_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>

#include "client/storage/checkpoint_format.h"
#include "client/storage/set_aside.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/base/unique_fd.h"
#include "shared/base/verify.h"

namespace starling::storage {
namespace {

constexpr std::string_view kSuffix = ".safetensors";

struct CheckpointFile {
  RoundIndex round = 0;
  std::filesystem::path path;
};

// "<run>-<round>.safetensors"
std::filesystem::path file_name(const RunId& run_id, RoundIndex round) {
  return fmt::format("{}-{}{}", run_id, round, kSuffix);
}

std::optional<RoundIndex> round_of(const std::string& name, const RunId& run_id) {
  const std::string prefix = run_id + "-";
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix) || name.size() < prefix.size() + kSuffix.size()) {
    return std::nullopt;
  }
  RoundIndex round = 0;
  const char* begin = name.data() + prefix.size();
  const char* end = name.data() + name.size() - kSuffix.size();
  const auto parsed = std::from_chars(begin, end, round);
  if (parsed.ec != std::errc() || parsed.ptr != end || round < 0) return std::nullopt;
  return round;
}

// Newest first.
std::vector<CheckpointFile> list(const std::filesystem::path& folder, const RunId& run_id) {
  std::vector<CheckpointFile> files;
  std::error_code problem;
  for (std::filesystem::directory_iterator entries(folder, problem), end; !problem && entries != end;
       entries.increment(problem)) {
    if (const auto round = round_of(entries->path().filename().string(), run_id)) {
      files.push_back({*round, entries->path()});
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.round > b.round; });
  return files;
}

Status read_exactly(int fd, void* into, std::size_t bytes) {
  auto* to = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = ::read(fd, to, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{ErrorCode::io, fmt::format("cannot be read: {}", std::strerror(errno))};
    if (got == 0) return Error{ErrorCode::corrupt, "ends too early"};
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return {};
}

Result<CheckpointInfo> read_checkpoint(const CheckpointFile& file, const StateShape& shape, std::span<float> state) {
  const UniqueFd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return Error{ErrorCode::io, fmt::format("cannot be opened: {}", std::strerror(errno))};
  }
  std::array<std::uint8_t, kHeaderLengthBytes> first{};
  STARLING_TRY(read_exactly(fd.get(), first.data(), first.size()));
  STARLING_ASSIGN(const std::size_t header_bytes,
                  decode_header_length(first, static_cast<std::uint64_t>(info.st_size), shape));
  std::string header(header_bytes, '\0');
  STARLING_TRY(read_exactly(fd.get(), header.data(), header.size()));
  STARLING_ASSIGN(CheckpointInfo checkpoint, decode_header(header, shape));
  if (checkpoint.round != file.round) return Error{ErrorCode::corrupt, "holds another round than its name says"};
  STARLING_TRY(read_exactly(fd.get(), state.data(), state.size_bytes()));
  return checkpoint;
}

}  // namespace

CheckpointStore::CheckpointStore(std::filesystem::path folder, RunId run_id, std::size_t parameter_count,
                                 int optimizer_vectors)
    : folder_(std::move(folder)),
      run_id_(std::move(run_id)),
      parameter_count_(parameter_count),
      optimizer_vectors_(optimizer_vectors) {
  remove_leftovers(folder_);
}

Status CheckpointStore::save(const CheckpointInfo& info, std::span<const float> state) {
  const StateShape shape{run_id_, parameter_count_, optimizer_vectors_};
  VERIFY(info.run_id == run_id_ && info.round >= 0 && state.size_bytes() == shape.data_bytes());
  STARLING_TRY(ensure_directory(folder_));
  const std::string head = encode_head(info, shape);
  const std::string_view pieces[] = {head, {reinterpret_cast<const char*>(state.data()), state.size_bytes()}};
  const auto path = folder_ / file_name(run_id_, info.round);
  if (Status written = write_file_atomically(path, pieces); !written.ok()) {
    return written.error().prefixed(fmt::format("save a checkpoint of round {}", info.round));
  }
  // Files of later rounds hold states that this replica gave up when it was sent back to an earlier round.
  int kept = 0;
  for (const CheckpointFile& file : list(folder_, run_id_)) {
    if (file.round <= info.round && ++kept <= kCheckpointsKept) continue;
    std::error_code problem;
    if (!std::filesystem::remove(file.path, problem)) {
      log_warning("remove the old checkpoint '{}': {}", file.path.string(), problem.message());
    }
  }
  return {};
}

Result<CheckpointInfo> CheckpointStore::load_newest(std::span<float> state) {
  const StateShape shape{run_id_, parameter_count_, optimizer_vectors_};
  VERIFY(state.size_bytes() == shape.data_bytes());
  for (const CheckpointFile& file : list(folder_, run_id_)) {
    auto info = read_checkpoint(file, shape, state);
    if (info.ok()) return info;
    if (info.error().code != ErrorCode::corrupt) {
      return info.error().prefixed(fmt::format("load checkpoint '{}'", file.path.string()));
    }
    STARLING_ASSIGN(std::string problem, set_aside(file.path, info.error().message));
    problems_.push_back(std::move(problem));
  }
  return Error{ErrorCode::not_found, fmt::format("no checkpoint of run '{}' in '{}'", run_id_, folder_.string())};
}

Status CheckpointStore::set_newest_aside(const std::string& reason) {
  const auto files = list(folder_, run_id_);
  if (files.empty()) return Error{ErrorCode::not_found, "set a checkpoint aside: there is none"};
  STARLING_ASSIGN(std::string problem, set_aside(files.front().path, reason));
  problems_.push_back(std::move(problem));
  return {};
}

}  // namespace starling::storage
