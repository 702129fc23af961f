#include "coordinator/core/upload_book.h"

#include <doctest/doctest.h>

#include <utility>

#include "tests/coordinator/core/run_parts.h"

using namespace starling;
using namespace starling::core;
using namespace starling::core::testing;

namespace {

// Five members in a group of round 3; the reports say how fast data of member 1 came in.
struct Group {
  void report(int number, double bytes_per_s, RoundIndex round = 3) {
    const SeatedGroup group = seated_group(group_id(1), round, {1, 2, 3, 4, 5}, hosts);
    wire::RoundReport report = report_of(group, {});
    report.received = {{0, bytes_per_s}, {7, 1e9}};
    std::vector<Seat> seats = group.columns[0];
    for (Seat& seat : seats) seat.voice = !hosts.on_probation.contains(seat.account);
    book.on_report(peer_id(number), report, seats);
  }
  [[nodiscard]] SeenUpload seen() const { return book.of(peer_id(1)); }

  OpenHosts hosts;
  UploadBook book;
};

}  // namespace

TEST_CASE("a member's upload is the median of the figures of other accounts, for all that it serves") {
  Group group;
  CHECK(group.seen().accounts == 0);
  group.report(2, 100);
  group.report(3, 1e12);  // a friend
  group.report(1, 1e12);  // itself
  CHECK(group.seen().accounts == 2);
  CHECK(group.seen().bytes_per_s == 400);
  group.report(4, 120);
  group.report(5, 90);
  CHECK(group.seen().accounts == 4);
  CHECK(group.seen().bytes_per_s == 400);
  group.report(2, 10, 4);
  group.report(5, 500, 2);  // an older round's
  CHECK(group.seen().bytes_per_s == 360);
}

TEST_CASE("beside others a member counts by the figure above which a third are") {
  Group group;
  group.report(2, 1);  // lies
  group.report(3, 1);
  group.report(4, 120);
  CHECK(group.seen().bytes_per_s == 4);
  CHECK(group.seen().upper == 480);
  group.report(5, 100);
  CHECK(group.seen().bytes_per_s == 4);
  CHECK(group.seen().upper == 400);
}

TEST_CASE("an account's figures count once, its own for nothing, and those of accounts without a voice neither") {
  Group group;
  group.hosts.accounts[peer_id(2)] = group.hosts.accounts[peer_id(3)] = 7;
  group.report(2, 100);
  group.report(3, 50);
  CHECK(group.seen().accounts == 1);
  CHECK(group.seen().bytes_per_s == 200);
  group.hosts.accounts[peer_id(1)] = 8;
  group.hosts.accounts[peer_id(4)] = 8;
  group.hosts.on_probation.insert(group.hosts.accounts[peer_id(5)] = 9);
  group.report(4, 1e12);
  group.report(5, 1e12);
  CHECK(group.seen().accounts == 1);
}

TEST_CASE("figures are forgotten") {
  Group group;
  group.report(2, 100);
  group.book.begin_round(3 + kRemembered);
  CHECK(group.seen().accounts == 1);
  group.book.begin_round(4 + kRemembered);
  CHECK(group.seen().accounts == 0);
}

TEST_CASE("in a large group a member is heard about those that the group's id draws for it, and few figures are kept") {
  OpenHosts hosts;
  UploadBook book;
  std::vector<int> numbers;
  for (int number = 1; number <= 100; ++number) numbers.push_back(number);
  for (std::uint8_t round = 0; round < 8; ++round) {
    const SeatedGroup group = seated_group(group_id(round), round, numbers, hosts);
    for (const int number : numbers) {
      wire::RoundReport report = report_of(group, {});
      // Everybody speaks about everybody.
      for (int place = 0; place < 100; ++place) report.received.push_back({place, 10});
      book.on_report(peer_id(number), report, group.columns[0]);
    }
    for (const int number : numbers) CHECK(book.of(peer_id(number)).accounts == kFiguresMax);
  }
}

TEST_CASE("the newest figures are kept") {
  OpenHosts hosts;
  UploadBook book;
  for (RoundIndex round = 0; round < 2; ++round) {
    for (int other = 0; other < static_cast<int>(kFiguresMax); ++other) {
      const int number = 2 + other + static_cast<int>(round * kFiguresMax);
      const SeatedGroup group = seated_group(group_id(1), round, {1, number}, hosts);
      wire::RoundReport report = report_of(group, {});
      report.received = {{0, round == 0 ? 10.0 : 20.0}};
      book.on_report(peer_id(number), report, group.columns[0]);
    }
  }
  CHECK(book.of(peer_id(1)).accounts == kFiguresMax);
  CHECK(book.of(peer_id(1)).bytes_per_s == 20);
}

TEST_CASE("a report whose members are others than the group's says nothing about lines") {
  Group group;
  const SeatedGroup seated = seated_group(group_id(1), 3, {1, 2, 3, 4, 5}, group.hosts);
  wire::RoundReport report = report_of(seated, {});
  std::swap(report.members[0], report.members[1]);
  report.received = {{0, 100}};
  group.book.on_report(peer_id(3), report, seated.columns[0]);
  CHECK(group.seen().accounts == 0);
}
