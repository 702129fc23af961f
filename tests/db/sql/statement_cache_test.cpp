#include "db/sql/statement_cache.h"

#include <doctest/doctest.h>

#include <string>

using namespace starling::db;

namespace {

struct Compiled {
  std::string text;
  [[nodiscard]] std::string_view sql() const { return text; }
};
using Cache = StatementCache<Compiled>;

std::unique_ptr<Compiled> compiled(const std::string& text) { return std::make_unique<Compiled>(Compiled{text}); }

}  // namespace

TEST_CASE("a statement is lent once, and found again when it is back") {
  Cache cache(2);
  CHECK(cache.take("SELECT 1") == nullptr);
  cache.give_back(compiled("SELECT 1"));
  auto lent = cache.take(std::string("SELECT ") + "1");
  REQUIRE(lent != nullptr);
  CHECK(cache.take("SELECT 1") == nullptr);
  cache.give_back(std::move(lent));
  CHECK(cache.take("SELECT 1") != nullptr);
}

TEST_CASE("a second one of the same text, and one too many, are dropped") {
  Cache cache(2);
  for (const char* sql : {"SELECT 1", "SELECT 1", "SELECT 2", "SELECT 3"}) cache.give_back(compiled(sql));
  CHECK(cache.take("SELECT 3") == nullptr);
  CHECK(cache.take("SELECT 1") != nullptr);
  CHECK(cache.take("SELECT 1") == nullptr);
  CHECK(cache.take("SELECT 2") != nullptr);
}
