// Writes contributions as fast as it can and reports acknowledged ones on standard output, eight bytes each, until it
// is killed. Arguments: database file or address, number of the first round, and "waits" for credit that waits and is
// voided: then -1 - round stands for what was found out after that round.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/db/stores/ledger_load.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;

namespace {

void report(std::int64_t written) {
  if (::write(STDOUT_FILENO, &written, sizeof written) != sizeof written) ::_exit(3);
}

// Stores what the check of the round found, and takes credit back.
void find_out(const Stores& stores, AccountId account, RoundIndex round) {
  if (!stores.credit.corrections.void_pending(load_void(account, round))) return;
  if (stores.credit.checks.add(load_check(account, round))) report(-1 - round);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string where = argv[1];
  const bool waits = std::string(argv[3]) == "waits";
  const DatabaseOptions options{.create = true, .commit_interval = from_ms(1)};
  auto database =
      where.find("://") == std::string::npos ? Database::open(where, options) : Database::connect(where, options);
  if (!database) return std::fputs(database.error().message.c_str(), stderr), 1;
  const Stores& stores = (*database)->stores();
  const Result<AccountId> account = prepare_load(stores);
  if (!account) return std::fputs(account.error().message.c_str(), stderr), 1;
  for (RoundIndex round = std::atoll(argv[2]);; ++round) {
    const auto acknowledge = [round](const Result<AppendOutcome>& outcome) {
      if (outcome) report(round);
    };
    // Waiting now and then makes commits of one round and of many, and a ledger that is quick to read.
    const RoundResult result = waits ? waiting_round(*account, round) : load_round(*account, round);
    if (round % 16 == 0 || !stores.training.contributions.append_async(result, acknowledge)) {
      acknowledge(stores.training.contributions.append(result));
    }
    if (waits && round % kFoundOutEvery == 0) find_out(stores, *account, round);
  }
}
