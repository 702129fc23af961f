#include "tests/support/skip.h"

#include <stdexcept>

namespace starling::testing {

void skip(const std::string& reason) { throw std::runtime_error(kSkipMark + reason); }

}  // namespace starling::testing
