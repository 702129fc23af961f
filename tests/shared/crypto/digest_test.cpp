#include "shared/crypto/digest.h"

#include <doctest/doctest.h>

#include <string>

#include "shared/base/files.h"
#include "tests/support/temp_dir.h"

using namespace starling;

// FIPS 180-2, appendix B.
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST_CASE("SHA-256 agrees with the published vectors") {
  CHECK(crypto::sha256("abc").hex() == kAbc);
  CHECK(crypto::sha256("").hex() == kEmpty);
}

TEST_CASE("bytes in pieces have the digest of the whole, and the hash then starts afresh") {
  crypto::Sha256 hash;
  hash.update("a");
  hash.update("");
  hash.update("bc");
  CHECK(hash.finish().hex() == kAbc);
  CHECK(hash.finish().hex() == kEmpty);
}

TEST_CASE("a file has the digest of its bytes, whatever its size") {
  const testing::TempDir folder;
  const std::string bytes(700'001, 'x');
  REQUIRE(write_file_atomically(folder / "f", bytes).ok());
  const auto digest = crypto::sha256_file(folder / "f");
  REQUIRE(digest.ok());
  CHECK(*digest == crypto::sha256(bytes));
  CHECK(crypto::sha256_file(folder / "missing").error().code == ErrorCode::not_found);
}
