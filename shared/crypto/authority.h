// Certificates of authorities outside of the project.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::crypto {

// The first certificate of a PEM text, whatever the kind of its key, as PEM. invalid_argument if it is not a CA's.
Result<std::string> read_authority(std::string_view pem);

}  // namespace starling::crypto
