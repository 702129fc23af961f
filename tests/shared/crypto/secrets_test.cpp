#include "shared/crypto/secrets.h"

#include <doctest/doctest.h>

#include <array>

#include "shared/crypto/digest.h"

using namespace starling;

namespace {
constexpr crypto::ScryptOptions kCheap{.log2_n = 4, .r = 8, .p = 1};
}

TEST_CASE("a token is matched by its stored hash and by nothing else") {
  const std::string token = crypto::make_token();
  CHECK(token.size() == 64);
  CHECK(token != crypto::make_token());
  const Digest stored = crypto::hash_token(token);
  CHECK(stored != crypto::sha256(token));
  CHECK(crypto::token_matches(token, stored));
  CHECK(!crypto::token_matches(token.substr(1), stored));
  CHECK(!crypto::token_matches("", stored));
}

TEST_CASE("comparison in constant time is still a comparison") {
  const std::array<std::uint8_t, 3> a{1, 2, 3};
  const std::array<std::uint8_t, 3> b{1, 2, 4};
  CHECK(crypto::constant_time_equal(a, a));
  CHECK(!crypto::constant_time_equal(a, b));
  CHECK(!crypto::constant_time_equal(a, std::span(a).first(2)));
}

TEST_CASE("a password is recognised by its hash, and equal passwords have different hashes") {
  const auto stored = crypto::hash_password("correct horse", kCheap);
  REQUIRE(stored.ok());
  CHECK(stored->starts_with("$scrypt$ln=4,r=8,p=1$"));
  CHECK(*crypto::verify_password("correct horse", *stored));
  CHECK(!*crypto::verify_password("correct horsf", *stored));
  CHECK(!*crypto::verify_password("", *stored));
  CHECK(*stored != *crypto::hash_password("correct horse", kCheap));
}

TEST_CASE("no password fits a hash of none, which looks like any other") {
  const std::string stored = crypto::hash_of_no_password(kCheap);
  CHECK(stored.size() == crypto::hash_password("correct horse", kCheap)->size());
  const auto fits = crypto::verify_password("correct horse", stored);
  REQUIRE(fits.ok());
  CHECK_FALSE(*fits);
  CHECK(stored != crypto::hash_of_no_password(kCheap));
}

TEST_CASE("the full-strength hash gets the memory it needs") {
  const auto stored = crypto::hash_password("battery staple");
  REQUIRE(stored.ok());
  CHECK(stored->starts_with("$scrypt$ln=17,r=8,p=1$"));
  CHECK(*crypto::verify_password("battery staple", *stored));
}

TEST_CASE("a hash made by another implementation of scrypt is recognised") {
  // Computed by Python's hashlib.scrypt for N=2^4, r=8, p=1 and this salt.
  const char* stored =
      "$scrypt$ln=4,r=8,p=1$000102030405060708090a0b0c0d0e0f$"
      "1aec9c0af3af0574b25e7efe9d8f92c21b686ba126a9eaa5c85c446cf39ecf9a";
  CHECK(*crypto::verify_password("pleaseletmein", stored));
}

TEST_CASE("empty and overlong passwords and damaged hashes are errors") {
  CHECK(crypto::hash_password("", kCheap).error().code == ErrorCode::invalid_argument);
  CHECK(!crypto::hash_password(std::string(crypto::kPasswordBytesMax + 1, 'x'), kCheap).ok());
  const std::string stored = *crypto::hash_password("p", kCheap);
  for (std::size_t size = 0; size < stored.size(); ++size) {
    CHECK(crypto::verify_password("p", stored.substr(0, size)).error().code == ErrorCode::corrupt);
  }
  CHECK(!crypto::verify_password("p", stored + "0").ok());
  CHECK(!crypto::verify_password("p", "$scrypt$ln=21,r=8,p=1" + stored.substr(stored.find('$', 9))).ok());
  CHECK(!crypto::verify_password("p", "$scrypt$ln=-1,r=8,p=1" + stored.substr(stored.find('$', 9))).ok());
}
