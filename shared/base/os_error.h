// What the operating system answered, as an Error.
#pragma once

#include <filesystem>
#include <string_view>

#include "shared/base/result.h"

namespace starling {

// `error_number` as in errno; io for everything that has no code of its own.
ErrorCode code_of_errno(int error_number);
// "create 'r41.bin': No space left on device"
Error os_error(std::string_view what, const std::filesystem::path& path, int error_number);

}  // namespace starling
