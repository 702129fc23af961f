#include "client/storage/history.h"

#include <doctest/doctest.h>

#include <fstream>

#include "shared/control/control.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::storage;
using wire::HistoryPoint;
using wire::HistorySpan;

namespace {

constexpr std::int64_t kDayMs = 24 * 60 * 60 * 1000;
constexpr std::int64_t kBeginMs = 20000 * kDayMs;

HistoryPoint round_at(std::int64_t ms, RoundIndex round, SampleCount samples = 10) {
  HistoryPoint point;
  point.begin.unix_ms = kBeginMs + ms;
  point.round = round;
  point.samples = samples;
  point.swarm_samples = 4 * samples;
  point.loss = 1.0 + static_cast<double>(round);
  point.credit = static_cast<double>(round);
  point.bytes = 1000;
  return point;
}

SampleCount samples_in(const std::vector<HistoryPoint>& points) {
  SampleCount samples = 0;
  for (const HistoryPoint& point : points) samples += point.samples;
  return samples;
}

}  // namespace

TEST_CASE("rounds of five minutes make one stretch of the day: sums, the mean loss and the last credit") {
  History history;
  history.add(round_at(1000, 0));
  history.add(round_at(2000, 1));
  history.add(round_at(5 * 60 * 1000, 2));
  CHECK(history.points(HistorySpan::rounds).size() == 3);
  const auto& day = history.points(HistorySpan::day);
  REQUIRE(day.size() == 2);
  CHECK(day[0].begin.unix_ms == kBeginMs);
  CHECK(day[0].rounds == 2);
  CHECK(day[0].samples == 20);
  CHECK(day[0].swarm_samples == 80);
  CHECK(day[0].loss == doctest::Approx(1.5));
  CHECK(day[0].credit == 1);
  CHECK(day[0].bytes == 2000);
  CHECK(history.points(HistorySpan::all).size() == 1);
}

TEST_CASE("years of rounds stay within bounds, and fit a reply") {
  History history;
  for (int i = 0; i < 30000; ++i) history.add(round_at(std::int64_t{i} * kDayMs / 24, i));
  CHECK(history.points(HistorySpan::rounds).size() == 240);
  CHECK(history.points(HistorySpan::day).size() == 288);
  CHECK(history.points(HistorySpan::month).size() == 360);
  CHECK(history.points(HistorySpan::all).size() == wire::kHistoryPointsMax);
  CHECK(history.points(HistorySpan::all).back().round == 29999);
  wire::ControlReply reply;
  reply.history = history.points(HistorySpan::all);
  CHECK(wire::encode_line(reply).size() < wire::kControlLineBytesMax);
}

TEST_CASE("a clock that is set back loses nothing and mixes no order") {
  History history;
  history.add(round_at(kDayMs, 0));
  history.add(round_at(0, 1));
  history.add(round_at(2 * kDayMs, 2));
  const auto& all = history.points(HistorySpan::all);
  REQUIRE(all.size() == 2);
  CHECK(all[0].begin < all[1].begin);
  CHECK(samples_in(all) == 30);
}

TEST_CASE("it survives a restart, and leaving the project removes it") {
  const testing::TempDir dir;
  {
    HistoryFile file(dir.path());
    file.add(round_at(0, 7));
    REQUIRE(file.save().ok());
  }
  HistoryFile again(dir.path());
  REQUIRE(again.history().points(HistorySpan::rounds).size() == 1);
  CHECK(again.history().points(HistorySpan::rounds)[0].round == 7);
  REQUIRE(again.remove().ok());
  CHECK(HistoryFile(dir.path()).history().points(HistorySpan::rounds).empty());
}

TEST_CASE("a damaged file is set aside and a new one begun") {
  const testing::TempDir dir;
  std::ofstream(dir / "history.json") << "{\"rounds\":[";
  HistoryFile file(dir.path());
  CHECK(file.history().points(HistorySpan::all).empty());
  CHECK(std::filesystem::exists(dir / "history.json.corrupt"));
  file.add(round_at(0, 1));
  CHECK(file.save().ok());
}
