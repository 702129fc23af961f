// Writes contributions as fast as it can and reports acknowledged ones on standard output, eight bytes each, until it
// is killed. Arguments: database file, number of the first round.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/db/stores/ledger_load.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto database = Database::open(argv[1], {.create = true, .commit_interval = from_ms(1)});
  if (!database) return std::fputs(database.error().message.c_str(), stderr), 1;
  const Stores& stores = (*database)->stores();
  const Result<AccountId> account = prepare_load(stores);
  if (!account) return std::fputs(account.error().message.c_str(), stderr), 1;
  for (RoundIndex round = std::atoll(argv[2]);; ++round) {
    const auto acknowledge = [round](const Result<AppendOutcome>& outcome) {
      if (outcome && ::write(STDOUT_FILENO, &round, sizeof round) != sizeof round) ::_exit(3);
    };
    // Waiting now and then makes commits of one round and of many, and a ledger that is quick to read.
    const RoundResult result = load_round(*account, round);
    if (round % 16 == 0 || !stores.training.contributions.append_async(result, acknowledge)) {
      acknowledge(stores.training.contributions.append(result));
    }
  }
}
