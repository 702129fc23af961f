#include "coordinator/core/cell_book.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace starling;
using namespace starling::core;

namespace {

constexpr TimePoint kStart{std::chrono::hours(1)};

PeerId peer(int number) {
  PeerId id;
  id.bytes.fill(static_cast<std::uint8_t>(number + 1));
  return id;
}

// Volunteers that call every second, and have each cell's state a call after it was dealt to them.
struct Swarm {
  struct Member {
    AccountId account = 0;
    std::int64_t bytes = 0;
    int port = 4000;
    std::vector<wire::CellIndex> held{};
    std::int64_t table = 0;
    bool is_paused = false;
    double line = 0;
    std::optional<std::int64_t> leaves_in_s{};
  };
  explicit Swarm(std::size_t cells, int holders = 2, std::int64_t bytes = 10)
      : cells(cells), book(CellPlan{std::vector<std::int64_t>(cells, bytes), holders, 7}) {}

  void join(int number, std::int64_t bytes, int port = 4000) { members[number] = {number + 1, bytes, port}; }
  void run(int seconds = 5) {
    for (int second = 0; second < seconds; ++second) {
      now += std::chrono::seconds(1);
      for (auto& [number, member] : members) {
        const PeerId id = peer(number);
        book.on_offer(now, {id, member.account, ""}, {{id, "10.0.0.1", member.port}, member.is_paused, member.line},
                      {member.bytes, member.held, member.table, member.leaves_in_s});
        const wire::CellsDealt dealt = book.answer(id, member.table);
        member.held = dealt.hold;
        if (dealt.table) {
          member.table = dealt.table->number;
          table = *dealt.table;
        }
      }
      for (std::size_t cell = 0; cell < cells; ++cell) {
        std::vector<PeerId> ready;
        for (const auto& [number, member] : members) {
          if (!member.is_paused && holds(number, static_cast<int>(cell))) ready.push_back(peer(number));
        }
        book.set_ready(static_cast<wire::CellIndex>(cell), ready);
      }
      book.deal(now);
    }
  }
  [[nodiscard]] bool holds(int number, int cell) const {
    const auto& held = members.at(number).held;
    return std::find(held.begin(), held.end(), cell) != held.end();
  }
  [[nodiscard]] int least() const {
    int least = 99;
    for (const int holders : book.cover().holders) least = std::min(least, holders);
    return least;
  }

  std::size_t cells;
  CellBook book;
  std::map<int, Member> members;
  wire::CellTable table;
  TimePoint now = kStart;
};

}  // namespace

TEST_CASE("each cell gets as many holders as it is to have, and nobody more than there is room for") {
  Swarm swarm(8);
  for (int number = 0; number < 5; ++number) swarm.join(number, 40);
  swarm.run();
  CHECK(swarm.book.cover().holders == std::vector<int>(8, 2));
  CHECK(swarm.book.cover().held_by(2) == 8);
  CHECK(swarm.book.cover().held_by(3) == 0);
  int parts = 0;
  for (const CellShare& share : swarm.book.cover().shares) {
    CHECK(share.computers == 1);
    CHECK(share.alone == 0);
    parts += share.cells;
  }
  CHECK(parts == 16);
  for (const auto& [number, member] : swarm.members) CHECK(member.held.size() <= 4);
  CHECK(swarm.table.cells.size() == 8);
  CHECK(swarm.table.members.size() == 5);
}

TEST_CASE("where room is short, every cell has a holder before any has two") {
  Swarm swarm(6);
  swarm.join(0, 40);
  swarm.join(1, 40);
  swarm.run();
  CHECK(swarm.least() == 1);
}

TEST_CASE("holders of a cell are of different accounts where there are any") {
  Swarm swarm(4);
  for (int number = 0; number < 4; ++number) swarm.join(number, 100);
  swarm.members[0].account = swarm.members[1].account = swarm.members[2].account = 5;
  swarm.run();
  for (int cell = 0; cell < 4; ++cell) CHECK(swarm.holds(3, cell));
}

TEST_CASE("one holder of each cell can be called, where somebody can") {
  Swarm swarm(3, 1);
  swarm.join(0, 30, 0);
  swarm.join(1, 30);
  swarm.run();
  for (int cell = 0; cell < 3; ++cell) CHECK(swarm.holds(1, cell));
}

TEST_CASE(
    "cells of a volunteer that stays away are dealt to others, and those that it comes back with are not doubled") {
  Swarm swarm(4);
  for (int number = 0; number < 3; ++number) swarm.join(number, 40);
  swarm.run();
  const Swarm::Member gone = swarm.members[0];
  REQUIRE(!gone.held.empty());
  swarm.members.erase(0);
  swarm.run(29);
  CHECK(swarm.least() == 1);  // it may come back
  swarm.run(10);
  CHECK(swarm.least() == 2);
  swarm.members[0] = gone;
  swarm.run();
  for (const int holders : swarm.book.cover().holders) CHECK(holders <= 3);
}

TEST_CASE("a cell whose only holder is silent gets another soon, and lets the first one go once it has two") {
  Swarm swarm(2, 1);
  swarm.join(0, 20);
  swarm.run();
  swarm.join(1, 20);
  const Swarm::Member gone = swarm.members[0];
  swarm.members.erase(0);
  swarm.run(8);
  CHECK(swarm.least() == 0);
  swarm.run(6);
  CHECK(swarm.least() == 1);
  swarm.members[0] = gone;  // it was away for less than it takes to be forgotten
  swarm.run(20);
  CHECK(swarm.book.cover().holders == std::vector<int>(2, 1));
}

TEST_CASE("who leaves with a word is replaced at once") {
  Swarm swarm(4);
  for (int number = 0; number < 3; ++number) swarm.join(number, 40);
  swarm.run();
  swarm.members.erase(0);
  swarm.book.on_goodbye(peer(0));
  swarm.run(3);
  CHECK(swarm.least() == 2);
}

TEST_CASE("who says when it stops is replaced before that, and keeps its cells until others have their state") {
  for (const int holders : {1, 2}) {
    CAPTURE(holders);
    Swarm swarm(4, holders);
    for (int number = 0; number < 3; ++number) swarm.join(number, 40);
    swarm.run(20);
    REQUIRE(!swarm.members[0].held.empty());
    swarm.members[0].leaves_in_s = 3600;
    swarm.run();
    CHECK(!swarm.members[0].held.empty());
    for (std::int64_t left = 170; left > 150; --left) {
      swarm.members[0].leaves_in_s = left;
      swarm.run(1);
      CHECK(swarm.least() >= holders);
    }
    CHECK(swarm.members[0].held.empty());
    swarm.members[0].leaves_in_s.reset();
    swarm.run(60);
    CHECK(!swarm.members[0].held.empty());  // it stays after all
  }
}

TEST_CASE("a volunteer on a slow line holds less than others, and lines that are faster than most count like these") {
  Swarm swarm(13, 1);
  for (int number = 0; number < 4; ++number) swarm.join(number, 130);
  swarm.members[0].line = 1e6;
  swarm.members[1].line = swarm.members[2].line = 4e6;
  swarm.members[3].line = 4e8;
  swarm.run(60);
  CHECK(swarm.members[0].held.size() == 1);
  for (const int number : {1, 2, 3}) CHECK(swarm.members[number].held.size() == 4);
  const std::map<int, Swarm::Member> before = swarm.members;
  swarm.members[1].line = 3e6;  // measured again: no reason to move anything
  swarm.run(60);
  for (const auto& [number, member] : before) CHECK(swarm.members[number].held == member.held);
}

TEST_CASE("where nobody else has room, who is leaving keeps its cells") {
  Swarm swarm(4, 1);
  swarm.join(0, 40);
  swarm.run();
  swarm.members[0].leaves_in_s = 10;
  swarm.run(20);
  CHECK(swarm.members[0].held.size() == 4);
}

TEST_CASE("who pauses for a moment keeps its cells, and who does for long is replaced") {
  Swarm swarm(4);
  for (int number = 0; number < 3; ++number) swarm.join(number, 40);
  swarm.run(20);
  const std::vector<wire::CellIndex> held = swarm.members[0].held;
  swarm.members[0].is_paused = true;
  swarm.run(50);
  CHECK(swarm.members[0].held == held);
  CHECK(swarm.least() == 1);
  swarm.run(20);
  CHECK(swarm.members[0].held.empty());
  CHECK(swarm.least() == 2);
  swarm.members[0].is_paused = false;
  swarm.run(60);
  CHECK(!swarm.members[0].held.empty());
}

TEST_CASE("after a restart of the coordinator volunteers go on with what they hold") {
  Swarm swarm(6);
  for (int number = 0; number < 4; ++number) swarm.join(number, 60);
  swarm.run(20);
  const std::map<int, Swarm::Member> before = swarm.members;
  swarm.book = CellBook(CellPlan{std::vector<std::int64_t>(6, 10), 2, 99});
  swarm.run(1);
  for (const auto& [number, member] : before) CHECK(swarm.members[number].held == member.held);
  CHECK(swarm.members[0].table > 98);  // tables of before are out
}

TEST_CASE("after a restart those that call last keep what they hold, until others have its state") {
  Swarm swarm(6);
  for (int number = 0; number < 3; ++number) swarm.join(number, 40);
  swarm.run(20);
  swarm.book = CellBook(CellPlan{std::vector<std::int64_t>(6, 10), 2, 99});
  swarm.join(3, 60);  // it has nothing, and calls first
  for (const int number : {3, 2, 1, 0}) {
    Swarm::Member& member = swarm.members[number];
    const PeerId id = peer(number);
    swarm.book.on_offer(swarm.now, {id, member.account, ""}, {{id, "10.0.0.1", 4000}}, {member.bytes, member.held, 0});
    swarm.book.deal(swarm.now);
    const std::vector<wire::CellIndex> hold = swarm.book.answer(id, 0).hold;
    CHECK(std::includes(hold.begin(), hold.end(), member.held.begin(), member.held.end()));
  }
  swarm.run(30);
  CHECK(swarm.book.cover().holders == std::vector<int>(6, 2));
}

TEST_CASE("a newcomer takes cells over, one at a time, and no cell is without its holders meanwhile") {
  Swarm swarm(8);
  swarm.join(0, 80);
  swarm.join(1, 80);
  swarm.run();
  swarm.join(2, 80);
  swarm.join(3, 80);
  for (int second = 0; second < 60; ++second) {
    std::size_t before = 0, after = 0;
    for (const auto& [number, member] : swarm.members) before += member.held.size();
    swarm.run(1);
    for (const auto& [number, member] : swarm.members) after += member.held.size();
    CHECK(after <= before + 1);
    CHECK(swarm.least() >= 2);
  }
  for (const auto& [number, member] : swarm.members) CHECK(member.held.size() == 4);
}

TEST_CASE("who gives less memory lets go, and others take over") {
  Swarm swarm(4);
  for (int number = 0; number < 3; ++number) swarm.join(number, 40);
  swarm.run(20);
  swarm.members[0].bytes = 10;
  swarm.run();
  CHECK(swarm.members[0].held.size() <= 1);
  swarm.run(10);
  CHECK(swarm.least() == 2);
}

TEST_CASE("a table comes once, and again when holders change") {
  Swarm swarm(2);
  swarm.join(0, 20);
  swarm.join(1, 20);
  swarm.run();
  const std::int64_t number = swarm.members[0].table;
  CHECK_FALSE(swarm.book.answer(peer(0), number).table);
  swarm.run(10);
  CHECK(swarm.members[0].table == number);
  swarm.members.erase(1);
  swarm.book.on_goodbye(peer(1));
  swarm.run(2);
  CHECK(swarm.members[0].table != number);
  CHECK(swarm.table.members.size() == 1);
}

TEST_CASE("whatever comes and goes, nobody holds more than there is room for, and cells come back") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Swarm swarm(1 + random() % 12, 1 + static_cast<int>(random() % 3));
    for (int step = 0; step < 60; ++step) {
      const int number = static_cast<int>(random() % 10);
      const bool is_in = swarm.members.contains(number);
      if (random() % 3 == 0 && is_in) {
        if (random() % 2 == 0) swarm.book.on_goodbye(peer(number));
        swarm.members.erase(number);
      } else {
        swarm.join(number, static_cast<std::int64_t>(random() % 13) * 10, random() % 4 == 0 ? 0 : 4000);
      }
      swarm.run(2 + static_cast<int>(random() % 20));
      for (const auto& [who, member] : swarm.members) {
        CHECK(static_cast<std::int64_t>(member.held.size()) * 10 <= std::max<std::int64_t>(member.bytes, 0) + 10);
      }
    }
    for (int number = 20; number < 24; ++number) swarm.join(number, 500);
    swarm.run(80);
    for (const int holders : swarm.book.cover().holders) CHECK(holders >= swarm.book.cover().wanted);
  }
}
