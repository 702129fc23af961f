#include "client/daemon/report_keeper.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/small_disk.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::daemon;

namespace {

storage::RoundJournal open_journal(const std::filesystem::path& folder) {
  auto journal = storage::RoundJournal::open(folder, "small");
  REQUIRE(journal.ok());
  return std::move(*journal);
}

void record(ReportKeeper& keeper, RoundIndex round) {
  wire::RoundReport report;
  report.round = round;
  PeerId peer;
  peer.bytes.fill(0x0a);
  report.members = {peer};
  report.contributions = {{peer, 8}};
  keeper.record(report, std::chrono::seconds(1));
}

std::vector<RoundIndex> rounds_on_disk(const std::filesystem::path& folder) {
  std::vector<RoundIndex> rounds;
  const storage::RoundJournal journal = open_journal(folder);
  for (const wire::RoundReport& report : journal.pending()) rounds.push_back(report.round);
  return rounds;
}

using Rounds = std::vector<RoundIndex>;

}  // namespace

TEST_CASE("a round that is withdrawn and trained once more can be settled again") {
  const testing::TempDir folder;
  ReportKeeper keeper(open_journal(folder.path()));
  for (const RoundIndex round : {5, 6, 7}) record(keeper, round);
  keeper.forget(7);
  CHECK(rounds_on_disk(folder.path()) == Rounds{7});
  keeper.withdraw(6);
  CHECK(rounds_on_disk(folder.path()).empty());
  record(keeper, 6);
  CHECK(rounds_on_disk(folder.path()) == Rounds{6});
  keeper.forget(7);
  CHECK(rounds_on_disk(folder.path()).empty());
  CHECK(keeper.problem().empty());
}

TEST_CASE("a full disk is a problem until it takes the reports again") {
  const testing::SmallDisk disk(256 * 1024);
  ReportKeeper keeper(open_journal(disk.path()));
  record(keeper, 1);
  CHECK(keeper.problem().empty());
  {
    std::ofstream filler(disk.path() / "filler");
    while (filler << std::string(4096, 'x') << std::flush) continue;
  }
  // The rest of the last block takes some.
  for (RoundIndex round = 2; round < 200 && keeper.problem().empty(); ++round) record(keeper, round);
  CHECK(keeper.problem().find("keep finished rounds on disk: ") == 0);
  std::filesystem::remove(disk.path() / "filler");
  record(keeper, 200);
  CHECK(keeper.problem() == "");
  CHECK(rounds_on_disk(disk.path()).back() == 200);
}
