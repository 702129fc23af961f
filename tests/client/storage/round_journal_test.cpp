#include "client/storage/round_journal.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "shared/base/files.h"
#include "tests/client/storage/file_limit.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::storage;
using starling::testing::TempDir;

namespace {

wire::RoundReport report_of(RoundIndex round) {
  wire::RoundReport report;
  report.round = round;
  report.group.bytes.fill(static_cast<std::uint8_t>(round));
  report.state_digest.bytes.fill(0xcd);
  PeerId peer;
  peer.bytes.fill(0x0a);
  report.members = {peer};
  report.contributions = {{peer, 8 * round}};
  report.loss = 1.0 / 3;
  return report;
}

RoundJournal open_journal(const TempDir& folder, const RunId& run_id = "small") {
  auto journal = RoundJournal::open(folder.path(), run_id);
  REQUIRE(journal.ok());
  return std::move(*journal);
}

void record(RoundJournal& journal, RoundIndex round) {
  REQUIRE(journal.record(report_of(round), std::chrono::milliseconds(1500)).ok());
}

std::vector<RoundIndex> pending_rounds(const RoundJournal& journal) {
  std::vector<RoundIndex> rounds;
  for (const auto& report : journal.pending()) rounds.push_back(report.round);
  return rounds;
}

std::string content(const std::filesystem::path& path) {
  auto bytes = read_file(path, 1 << 24);
  REQUIRE(bytes.ok());
  return *bytes;
}

std::size_t lines_in(const std::filesystem::path& path) {
  const std::string text = content(path);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("a finished round is one line for people, and a report until it is settled") {
  const TempDir folder;
  {
    RoundJournal journal = open_journal(folder);
    record(journal, 1);
    record(journal, 2);
    record(journal, 3);
    REQUIRE(journal.forget(2).ok());
    CHECK(pending_rounds(journal) == std::vector<RoundIndex>{2, 3});
  }
  const RoundJournal journal = open_journal(folder);
  REQUIRE(pending_rounds(journal) == std::vector<RoundIndex>{2, 3});
  CHECK(wire::encode(journal.pending()[0]) == wire::encode(report_of(2)));
  const std::string text = content(folder / "rounds.jsonl");
  CHECK(lines_in(folder / "rounds.jsonl") == 3);
  CHECK(text.starts_with(
      R"({"run_id":"small","round":1,"group_id":"01010101010101010101010101010101","autonomous":false,"state_digest":"cdcd)"));
  CHECK(text.find(R"("contributions":{"0a0a)") != std::string::npos);
  CHECK(text.find(R"(0a":8},"seconds":1.5})") != std::string::npos);
}

TEST_CASE("whoever reads the rounds sees which of them do not count") {
  const TempDir folder;
  {
    RoundJournal journal = open_journal(folder);
    for (const RoundIndex round : {1, 2, 3}) record(journal, round);
    REQUIRE(journal.withdraw(2).ok());
    CHECK(journal.pending().empty());
    CHECK(content(folder / "rounds.jsonl").ends_with("{\"run_id\":\"small\",\"void_from\":2}\n"));
    CHECK(lines_in(folder / "rounds.jsonl") == 4);
    REQUIRE(journal.withdraw(2).ok());  // there is none any more
    record(journal, 2);
  }
  CHECK(pending_rounds(open_journal(folder)) == std::vector<RoundIndex>{2});
  CHECK(lines_in(folder / "rounds.jsonl") == 5);
}

TEST_CASE("a crash at any byte of a record leaves it whole or not there, in both files alike") {
  const TempDir whole;
  {
    RoundJournal journal = open_journal(whole);
    record(journal, 1);
    record(journal, 2);
  }
  const std::string reports = content(whole / "reports-small.jsonl");
  const std::string rounds = content(whole / "rounds.jsonl");
  const std::size_t first_report = reports.find('\n') + 1;
  const std::size_t first_round = rounds.find('\n') + 1;
  // The report is written first, then the line: every state the two files can be in after a crash in record 2.
  const std::size_t last = reports.size() + rounds.size() - first_round;
  std::vector<std::size_t> cuts{
      first_report, first_report + 1, reports.size() - 1, reports.size(), reports.size() + 1, last - 1, last};
  for (std::size_t cut = first_report; cut < last; cut += 13) cuts.push_back(cut);
  for (const std::size_t cut : cuts) {
    const TempDir folder;
    const std::size_t report_bytes = std::min(cut, reports.size());
    const std::size_t round_bytes = first_round + (cut - report_bytes);
    std::ofstream(folder / "reports-small.jsonl") << reports.substr(0, report_bytes);
    std::ofstream(folder / "rounds.jsonl") << rounds.substr(0, round_bytes);
    RoundJournal journal = open_journal(folder);
    const std::size_t expected = report_bytes == reports.size() ? 2 : 1;
    CHECK(journal.pending().size() == expected);
    CHECK(lines_in(folder / "rounds.jsonl") == expected);
    record(journal, 3);
    CHECK(lines_in(folder / "rounds.jsonl") == expected + 1);
  }
}

TEST_CASE("a damaged report is skipped, the others are kept") {
  const TempDir folder;
  {
    RoundJournal journal = open_journal(folder);
    for (RoundIndex round = 1; round <= 3; ++round) record(journal, round);
  }
  std::string text = content(folder / "reports-small.jsonl");
  text[text.find('\n') + 5] = '\x01';
  std::ofstream(folder / "reports-small.jsonl") << text;
  CHECK(pending_rounds(open_journal(folder)) == std::vector<RoundIndex>{1, 3});
}

TEST_CASE("the reports file does not grow with settled rounds") {
  const TempDir folder;
  RoundJournal journal = open_journal(folder);
  for (RoundIndex round = 1; round <= 150; ++round) {
    record(journal, round);
    REQUIRE(journal.forget(round).ok());
  }
  CHECK(pending_rounds(journal) == std::vector<RoundIndex>{150});
  CHECK(lines_in(folder / "reports-small.jsonl") < 100);
  CHECK(pending_rounds(open_journal(folder)) == std::vector<RoundIndex>{150});
  CHECK(lines_in(folder / "rounds.jsonl") == 150);
}

TEST_CASE("on a full disk the report is still pending, and the files stay readable") {
  const TempDir folder;
  RoundJournal journal = open_journal(folder);
  record(journal, 1);
  {
    const storage::testing::FileLimit full(content(folder / "reports-small.jsonl").size() + 20);
    CHECK(journal.record(report_of(2), std::chrono::seconds(1)).error().code == ErrorCode::resource_exhausted);
  }
  CHECK(pending_rounds(journal) == std::vector<RoundIndex>{1, 2});
  CHECK(pending_rounds(open_journal(folder)) == std::vector<RoundIndex>{1});
}

TEST_CASE("what a full disk kept out is written when there is room again") {
  for (const bool by_record : {true, false}) {
    const TempDir folder;
    RoundJournal journal = open_journal(folder);
    record(journal, 1);
    {
      const storage::testing::FileLimit full(content(folder / "reports-small.jsonl").size() + 20);
      for (const RoundIndex round : {2, 3}) CHECK_FALSE(journal.record(report_of(round), std::chrono::seconds(1)).ok());
      CHECK_FALSE(journal.forget(1).ok());
    }
    if (by_record) {
      record(journal, 4);
    } else {
      CHECK(journal.forget(1).ok());
    }
    const std::vector<RoundIndex> rounds =
        by_record ? std::vector<RoundIndex>{1, 2, 3, 4} : std::vector<RoundIndex>{1, 2, 3};
    CHECK(pending_rounds(open_journal(folder)) == rounds);
    std::istringstream lines(content(folder / "rounds.jsonl"));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      CHECK(line.find("\"round\":" + std::to_string(count + 1) + ",") != std::string::npos);
    }
    CHECK(count == rounds.size());
  }
}

TEST_CASE("more reports than the limit give up the oldest") {
  const TempDir folder;
  {
    RoundJournal journal = open_journal(folder);
    record(journal, 7);
  }
  const std::string line = content(folder / "reports-small.jsonl");
  const std::string mark = R"({\"round\":7,)";
  const std::size_t at = line.find(mark);
  REQUIRE(at != std::string::npos);
  std::ofstream file(folder / "reports-small.jsonl");
  for (std::size_t round = 0; round < kPendingReportsMax + 3; ++round) {
    std::string other = line;
    file << other.replace(at, mark.size(), R"({\"round\":)" + std::to_string(round) + ",");
  }
  file.close();
  RoundJournal journal = open_journal(folder);
  CHECK(journal.pending().size() == kPendingReportsMax);
  CHECK(journal.pending().front().round == 3);
  record(journal, 5'000);
  CHECK(journal.pending().size() == kPendingReportsMax);
  CHECK(journal.pending().front().round == 4);
}

TEST_CASE("a run's reports wait for their run, whatever is trained meanwhile") {
  const TempDir folder;
  {
    RoundJournal first = open_journal(folder);
    record(first, 900);
  }
  {
    RoundJournal second = open_journal(folder, "next");
    CHECK(second.pending().empty());
    record(second, 1);
  }
  CHECK(pending_rounds(open_journal(folder)) == std::vector<RoundIndex>{900});
  CHECK(pending_rounds(open_journal(folder, "next")) == std::vector<RoundIndex>{1});
  CHECK(content(folder / "rounds.jsonl").find(R"("run_id":"next","round":1,)") != std::string::npos);
}
