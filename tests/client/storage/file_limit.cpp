#include "tests/client/storage/file_limit.h"

#include <signal.h>

#include "shared/base/verify.h"

namespace starling::storage::testing {

FileLimit::FileLimit(rlim_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  VERIFY(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
  const rlimit limited{bytes, before_.rlim_max};
  VERIFY(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
}

FileLimit::~FileLimit() { VERIFY(::setrlimit(RLIMIT_FSIZE, &before_) == 0); }

}  // namespace starling::storage::testing
