// The proofs of runs' states: a statement, and links of the rounds since.
#include <doctest/doctest.h>

#include "tests/db/stores/fixture.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::TempDir;

namespace {

struct Fixture {
  TempDir dir;
  std::unique_ptr<Database> database = open(dir / "a.db");
  const Stores& stores = database->stores();
  AccountId ada = join(stores, "Ada", 1);

  Fixture() { create_run(stores, "r"); }
  void append(RoundIndex round, std::string link, std::optional<StateStatement> statement = {}) const {
    RoundResult result = round_of("r", round, {{peer(1), ada, 10, 1000, {3000 + round}}});
    result.record.state_digest = digest(static_cast<std::uint8_t>(round + 1));
    result.link = std::move(link);
    result.statement = std::move(statement);
    REQUIRE(stores.training.contributions.append(result).ok());
  }
  [[nodiscard]] StateChain chain() const { return stores.training.chains.read("r").value(); }
};

}  // namespace

TEST_SUITE_BEGIN("stores");

TEST_CASE_FIXTURE(Fixture, "links are stored with their rounds, until a statement takes their place") {
  CHECK_FALSE(chain().statement.has_value());
  const StateStatement first{0, 5, "first"};
  REQUIRE(stores.training.chains.state("r", first, 0).ok());
  append(0, "link 0");
  append(1, "link 1");
  CHECK(chain().statement == first);
  CHECK(chain().links == std::vector<std::string>{"link 0", "link 1"});
  const StateStatement second{3, 6, "second"};
  append(2, "", second);
  append(3, "link 3");
  CHECK(chain().statement == second);
  CHECK(chain().links == std::vector<std::string>{"link 3"});
}

TEST_CASE_FIXTURE(Fixture, "a rollback states the state that it goes back to, and later words of before are refused") {
  REQUIRE(stores.training.chains.state("r", {0, 5, "first"}, 0).ok());
  append(0, "link 0");
  append(1, "link 1");
  REQUIRE(stores.training.checkpoints.keep({"r", 1, digest(1), digest(9), 7, peer(1), {9}}, 0).ok());
  RollbackRequest request{"r", 1, {5000}};
  request.state = [](RoundIndex round, const Digest& state_digest) {
    CHECK(state_digest == digest(1));
    return StateStatement{round, 7, "back"};
  };
  REQUIRE(stores.training.runs.roll_back(request).ok());
  CHECK(chain().statement == StateStatement{3, 7, "back"});
  CHECK(chain().links.empty());
  CHECK(stores.training.chains.state("r", {2, 8, "late"}, 0).error().code == ErrorCode::failed_precondition);
}

TEST_SUITE_END();
