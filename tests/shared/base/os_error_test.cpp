#include "shared/base/os_error.h"

#include <doctest/doctest.h>

#include <cerrno>

using namespace starling;

TEST_CASE("what the system answers becomes the code that callers react to, and says what was tried") {
  CHECK(code_of_errno(ENOENT) == ErrorCode::not_found);
  CHECK(code_of_errno(EEXIST) == ErrorCode::already_exists);
  CHECK(code_of_errno(EROFS) == ErrorCode::permission_denied);
  CHECK(code_of_errno(EDQUOT) == ErrorCode::resource_exhausted);
  CHECK(code_of_errno(EIO) == ErrorCode::io);
  const Error error = os_error("write", "some/file", ENOSPC);
  CHECK(error.code == ErrorCode::resource_exhausted);
  CHECK(error.message == "write 'some/file': No space left on device");
}
