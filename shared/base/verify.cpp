#include "shared/base/verify.h"

#include <cstdio>
#include <cstdlib>

namespace starling {

void verify_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: VERIFY(%s) failed: this is a bug in Starling\n", file, line, condition);
  std::abort();
}

}  // namespace starling
