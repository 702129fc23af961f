#include "tests/support/temp_dir.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include "shared/base/verify.h"

namespace starling::testing {

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "starling-test-XXXXXX").string();
  VERIFY(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace starling::testing
