#include "shared/crypto/sealed_text.h"

#include <doctest/doctest.h>

using namespace starling;

namespace {

constexpr crypto::ScryptOptions kCheap{.log2_n = 4, .r = 8, .p = 1};
constexpr std::size_t kCostAt = 23;  // after the first line

}  // namespace

TEST_CASE("the passphrase opens what it sealed, and no other does") {
  const std::string text = "-----BEGIN PRIVATE KEY-----\n";
  const std::string sealed = crypto::seal("correct horse", text, kCheap).value();
  CHECK(sealed.find("PRIVATE KEY") == std::string::npos);
  CHECK(crypto::unseal("correct horse", sealed).value() == text);
  CHECK(crypto::unseal("correct horsf", sealed).error().code == ErrorCode::permission_denied);
  CHECK(crypto::unseal("", sealed).error().code == ErrorCode::permission_denied);
  CHECK(crypto::seal("correct horse", text, kCheap).value() != sealed);
  CHECK(crypto::unseal("a", crypto::seal("a", "", kCheap).value()).value().empty());
  CHECK(crypto::seal("", text, kCheap).error().code == ErrorCode::invalid_argument);
  CHECK(crypto::seal(std::string(crypto::kPasswordBytesMax + 1, 'x'), text, kCheap).error().code ==
        ErrorCode::invalid_argument);
}

TEST_CASE("no byte of a sealed text can be changed, added or left out") {
  const std::string sealed = crypto::seal("correct horse", "keys", kCheap).value();
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    if (i >= kCostAt && i < kCostAt + 3) continue;  // another cost takes its time
    CAPTURE(i);
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK_FALSE(crypto::unseal("correct horse", changed).ok());
  }
  CHECK_FALSE(crypto::unseal("correct horse", sealed + "x").ok());
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    CHECK_FALSE(crypto::unseal("correct horse", sealed.substr(0, size)).ok());
  }
}

TEST_CASE("a sealed text that asks for a key that takes for ever is refused") {
  const std::string sealed = crypto::seal("correct horse", "keys", kCheap).value();
  CHECK(sealed[kCostAt] == 4);
  for (const char cost : {'\0', static_cast<char>(21), static_cast<char>(255)}) {
    std::string changed = sealed;
    changed[kCostAt] = cost;
    CHECK(crypto::unseal("correct horse", changed).error().code == ErrorCode::corrupt);
  }
}

TEST_CASE("the usual cost is that of a password's hash") {
  const std::string sealed = crypto::seal("correct horse", "keys").value();
  CHECK(sealed[kCostAt] == 17);
  CHECK(crypto::unseal("correct horse", sealed).value() == "keys");
}
