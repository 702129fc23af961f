#include "coordinator/core/part_limits.h"

#include <doctest/doctest.h>

#include <numeric>

#include "coordinator/core/upload_book.h"
#include "tests/coordinator/core/run_parts.h"

using namespace starling;
using namespace starling::core;
using namespace starling::core::testing;

namespace {

// Members of one group that others have seen at these rates; those from the `blocked_from`th on cannot be dialled.
struct Lines {
  explicit Lines(int count, int blocked_from = 1000) {
    for (int number = 1; number <= count; ++number) {
      Member& member = parts.call(number, parts.training());
      if (number >= blocked_from) member.reach.verdict = wire::Reachability::blocked;
    }
  }
  void see(int number, double bytes_per_s, std::size_t accounts = 15) {
    parts.member(number).speeds.seen_upload = {bytes_per_s, bytes_per_s, accounts};
  }
  // Returns the limits in the order of the numbers.
  std::vector<double> limits(std::size_t columns = 1, std::size_t coming = 0) {
    std::vector<Member*> members;
    for (int number = 1; number <= static_cast<int>(parts.members.all().size()); ++number)
      members.push_back(&parts.member(number));
    return part_limits(members, columns, coming);
  }

  RunParts parts;
};

}  // namespace

TEST_CASE("a line that fewer than three others have seen owns two equal parts, and half of the vector, at most") {
  Lines eight(8);
  CHECK(eight.limits() == std::vector<double>(8, 2.0 / 8));
  for (int number = 2; number <= 8; ++number) eight.see(number, 100);
  eight.see(1, 1e9, 2);
  CHECK(eight.limits()[0] == 2.0 / 8);
  CHECK(Lines(4).limits() == std::vector<double>(4, 0.5));
}

TEST_CASE("a line that three others have seen owns twice its share of all uplinks at most, and may own an equal part") {
  Lines eight(8);
  for (int number = 2; number <= 7; ++number) eight.see(number, 100);
  eight.see(1, 400);  // the last one counts as a usual one, at 100
  CHECK(eight.limits()[0] == doctest::Approx(2 * 400.0 / 1100));
  CHECK(eight.limits()[1] == doctest::Approx(2 * 100.0 / 1100));
  CHECK(eight.limits()[7] == 2.0 / 8);
  eight.parts.member(1).speeds.seen_upload.upper = 600;
  CHECK(eight.limits()[0] == doctest::Approx(2 * 400.0 / 1300));
  eight.see(1, 1);
  CHECK(eight.limits()[0] == 1.0 / 8);
  eight.see(1, 1e12);
  CHECK(eight.limits()[0] == 1);
}

TEST_CASE("a line is seen by three others, and more than two thirds of those that have a voice, or eleven") {
  const auto needed = [](int members, int voices) {
    Lines lines(members);
    for (int number = 2; number <= members; ++number) lines.see(number, 1);
    for (int number = voices + 1; number <= members; ++number) lines.parts.member(number).voice = false;
    for (std::size_t accounts = 0; accounts <= kFiguresMax; ++accounts) {
      lines.see(1, 1e6, accounts);
      if (lines.limits()[0] == 1) return accounts;
    }
    return kFiguresMax + 1;
  };
  CHECK(needed(4, 4) == 3);
  CHECK(needed(5, 5) == 3);
  CHECK(needed(7, 7) == 5);
  CHECK(needed(16, 16) == 11);
  CHECK(needed(100, 100) == 11);
  CHECK(needed(16, 7) == 5);
  CHECK(needed(16, 2) == 3);
}

TEST_CASE("nothing is limited in a group of three, unless others are on the way to it") {
  Lines three(3);
  CHECK(three.limits() == std::vector<double>(3, 1));
  CHECK(three.limits(1, 1) == std::vector<double>(3, 0.5));
  CHECK(Lines(2).limits(1, 1) == std::vector<double>(2, 1));
  CHECK(Lines(2).limits(1, 14) == std::vector<double>(2, 0.5));
  three.parts.member(2).voice = false;
  CHECK(three.limits()[1] == doctest::Approx(1.0 / 3));
}

TEST_CASE("an account on probation owns an equal part, whatever others have seen") {
  Lines eight(8);
  for (int number = 1; number <= 8; ++number) eight.see(number, number == 1 ? 1e6 : 100);
  eight.parts.member(1).voice = false;
  CHECK(eight.limits()[0] == 1.0 / 8);
}

TEST_CASE("where few can be dialled, these are measured by one another, and an unseen one owns half at most") {
  Lines two(16, 3);
  CHECK(two.limits()[0] == 0.5);
  two.see(1, 1000);
  two.see(2, 10);
  for (int number = 3; number <= 16; ++number) two.see(number, 1e6);  // they own nothing
  CHECK(two.limits()[0] == 1);
  CHECK(two.limits()[1] == 0.5);
  CHECK(Lines(16, 6).limits()[0] == doctest::Approx(2.0 / 5));
  CHECK(Lines(16, 9).limits()[0] == doctest::Approx(2.0 / 16));  // half of them
}

TEST_CASE("in a grid the limits are of a column") {
  Lines eight(8);
  CHECK(eight.limits(2) == std::vector<double>(8, 2.0 / 4));
  for (int number = 1; number <= 8; ++number) eight.see(number, number == 1 ? 200 : 100);
  CHECK(eight.limits(2)[0] == doctest::Approx(2 * 2 * 200.0 / 900));
  CHECK(eight.limits(2)[1] == doctest::Approx(2 * 2 * 100.0 / 900));
}

TEST_CASE("limits leave room for the whole vector where half can be dialled") {
  for (int members = 4; members <= 20; ++members) {
    for (int owners = (members + 1) / 2; owners <= members; ++owners) {
      const std::vector<double> limits = Lines(members, owners + 1).limits();
      CHECK(std::accumulate(limits.begin(), limits.begin() + owners, 0.0) > 1 - 1e-9);
    }
  }
}
