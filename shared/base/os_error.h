// An operating system's failure as an Error.
#pragma once

#include <filesystem>
#include <string_view>

#include "shared/base/result.h"

namespace starling {

// `error_number` is an errno value; one without a code of its own gives io.
ErrorCode code_of_errno(int error_number);
// "create 'r41.bin': No space left on device"
Error os_error(std::string_view what, const std::filesystem::path& path, int error_number);

}  // namespace starling
