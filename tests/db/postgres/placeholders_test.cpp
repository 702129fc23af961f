#include "db/postgres/placeholders.h"

#include <doctest/doctest.h>

using namespace starling::db;

TEST_CASE("parameters get PostgreSQL's numbers, and quoted text is left alone") {
  CHECK(numbered_parameters("SELECT ?, ?") == "SELECT $1, $2");
  CHECK(numbered_parameters("SELECT ?2, ?1, ?12") == "SELECT $2, $1, $12");
  CHECK(numbered_parameters("SELECT 'why?', 'it''s?' || ?") == "SELECT 'why?', 'it''s?' || $1");
  CHECK(numbered_parameters("SELECT 1") == "SELECT 1");
}
