#include "db/sql/failure_text.h"

#include <doctest/doctest.h>

using namespace starling::db;

TEST_CASE("a failure names the database, the reason and the beginning of the statement, in one line") {
  CHECK(failure_text("database 'a.db'", "disk I/O error", "") == "database 'a.db': disk I/O error");
  CHECK(failure_text("database 'a.db'", "no", "SELECT a,\n\t  b FROM c") ==
        "database 'a.db': no, in \"SELECT a, b FROM c\"");
  const std::string cut = failure_text("d", "no", std::string(500, 'x'));
  CHECK(cut.size() < 200);
  CHECK(cut.ends_with("…\""));
}
