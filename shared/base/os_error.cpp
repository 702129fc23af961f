#include "shared/base/os_error.h"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

namespace starling {

ErrorCode code_of_errno(int error_number) {
  switch (error_number) {
    case ENOENT:
      return ErrorCode::not_found;
    case EEXIST:
      return ErrorCode::already_exists;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
      return ErrorCode::resource_exhausted;
    default:
      return ErrorCode::io;
  }
}

Error os_error(std::string_view what, const std::filesystem::path& path, int error_number) {
  return {code_of_errno(error_number),
          fmt::format("{} '{}': {}", what, path.string(), std::generic_category().message(error_number))};
}

}  // namespace starling
