#include "client/storage/previous_state.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace starling::storage {
namespace {

Error failed(std::string_view what, const std::filesystem::path& folder) {
  const ErrorCode code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::resource_exhausted : ErrorCode::io;
  return {code, fmt::format("{} the state before a step in '{}': {}", what, folder.string(), std::strerror(errno))};
}

// Not all file systems know files without a name.
UniqueFd open_unnamed(const std::filesystem::path& folder) {
  UniqueFd unnamed(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (unnamed) return unnamed;
  std::string name = (folder / "previous-state.tmp-XXXXXX").string();
  UniqueFd named(::mkostemp(name.data(), O_CLOEXEC));
  if (named) ::unlink(name.c_str());
  return named;
}

}  // namespace

Status PreviousState::keep(std::span<const float> state, const Digest& digest) {
  forget();
  if (!file_) file_ = open_unnamed(folder_);
  if (!file_) return failed("make a file for", folder_);
  const char* const bytes = reinterpret_cast<const char*>(state.data());
  for (std::size_t written = 0; written < state.size_bytes();) {
    const ssize_t count =
        ::pwrite(file_.get(), bytes + written, state.size_bytes() - written, static_cast<off_t>(written));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const Error error = failed("keep", folder_);
      forget();
      return error;
    }
    written += static_cast<std::size_t>(count);
  }
  digest_ = digest;
  bytes_ = state.size_bytes();
  return {};
}

Status PreviousState::restore(const Digest& digest, std::span<float> state) const {
  if (digest_.is_zero() || digest != digest_ || state.size_bytes() != bytes_) {
    return Error{ErrorCode::not_found, "the state before the last step is not kept here"};
  }
  char* const bytes = reinterpret_cast<char*>(state.data());
  for (std::size_t taken = 0; taken < bytes_;) {
    const ssize_t count = ::pread(file_.get(), bytes + taken, bytes_ - taken, static_cast<off_t>(taken));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("read", folder_);
    taken += static_cast<std::size_t>(count);
  }
  return {};
}

PreviousState::Given PreviousState::give() {
  if (digest_.is_zero()) return {};
  bytes_ = 0;
  return {std::move(file_), std::exchange(digest_, {})};
}

void PreviousState::forget() {
  digest_ = {};
  bytes_ = 0;
  if (file_ && ::ftruncate(file_.get(), 0) != 0) file_.reset();  // its room is given back in any case
}

}  // namespace starling::storage
