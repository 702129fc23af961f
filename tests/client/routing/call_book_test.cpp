#include "client/routing/call_book.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

using namespace starling;
using namespace starling::routing;

namespace {

constexpr TimePoint kStart{std::chrono::hours(1)};

PeerId peer(std::uint8_t number) {
  PeerId id;
  id.bytes.fill(number);
  return id;
}

TimePoint at(double seconds) { return kStart + from_seconds(seconds); }

struct Book {
  Book() : book(holders) {
    holders.set(0, {peer(1), peer(2)});
    holders.set(1, {peer(3), peer(4)});
    // All have answered within 0.1 s, so that they are expected to.
    for (std::uint8_t number = 1; number <= 4; ++number) {
      for (int i = 0; i < 20; ++i) holders.on_answered(at(0.1), holders.on_sent(at(0), peer(number), 10));
    }
  }
  // The holder to which each part of the exchange is sent now.
  std::map<std::size_t, PeerId> sends() {
    std::map<std::size_t, PeerId> to;
    for (const CallBook::Send& send : book.take_sends()) to.emplace(send.part, send.holder);
    return to;
  }

  Holders holders;
  CallBook book;
};

// Two tokens, each through both cells.
std::vector<CallBook::Part> two_parts() { return {{0, 10, {0, 1}, {}}, {1, 10, {0, 1}, {}}}; }

constexpr CallBook::Terms kOne{.tokens = 2, .answers_min = 1, .budget = std::chrono::seconds(10)};

}  // namespace

TEST_CASE("an exchange ends when all its parts are answered") {
  Book made;
  const ExchangeId id = made.book.begin(at(1), kOne, two_parts());
  const auto sent = made.sends();
  REQUIRE(sent.size() == 2);
  CHECK(made.book.on_answer(at(1.1), id, 0, sent.at(0)));
  CHECK(made.book.take_ended().empty());
  CHECK_FALSE(made.book.on_answer(at(1.1), id, 0, sent.at(0)));  // twice
  CHECK_FALSE(made.book.on_answer(at(1.1), id, 1, peer(9)));     // it was not asked
  CHECK_FALSE(made.book.on_answer(at(1.1), id, 7, sent.at(0)));
  CHECK(made.book.on_answer(at(1.12), id, 1, sent.at(1)));
  const auto ended = made.book.take_ended();
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].exchange == id);
  CHECK(ended[0].enough);
  CHECK(ended[0].answered_by[0] == sent.at(0));
  CHECK(ended[0].answered_by[1] == sent.at(1));
  CHECK_FALSE(made.book.on_answer(at(1.2), id, 1, sent.at(1)));
  CHECK(made.book.next_deadline() == kNever);
}

TEST_CASE("once each token has enough answers, the others are waited for half as long again") {
  Book made;
  const ExchangeId id = made.book.begin(at(1), kOne, two_parts());
  const auto sent = made.sends();
  CHECK(made.book.on_answer(at(1.2), id, 0, sent.at(0)));
  made.book.on_timer(at(1.29));
  CHECK(made.book.take_ended().empty());
  made.book.on_timer(at(1.31));
  const auto ended = made.book.take_ended();
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].enough);
  CHECK(ended[0].answered_by[0]);
  CHECK_FALSE(ended[0].answered_by[1]);
}

TEST_CASE("an exchange that needs no answer waits for all of them, as long as its time lasts") {
  Book made;
  CallBook::Terms terms = kOne;
  terms.answers_min = 0;
  const ExchangeId id = made.book.begin(at(1), terms, two_parts());
  const auto sent = made.sends();
  CHECK(made.book.on_answer(at(1.2), id, 0, sent.at(0)));
  made.book.on_timer(at(10.9));
  CHECK(made.book.take_ended().empty());
  made.book.on_timer(at(11));
  const auto ended = made.book.take_ended();
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].enough);
  CHECK_FALSE(ended[0].answered_by[1]);
}

TEST_CASE("a part that is refused, lost or late goes to another holder, and the first answer counts") {
  Book made;
  const ExchangeId id = made.book.begin(at(1), kOne, {{0, 10, {0, 1}, {}}});
  const PeerId first = made.sends().at(0);
  const PeerId second = first == peer(1) ? peer(2) : peer(1);
  SUBCASE("refused") { made.book.on_refused(at(1.01), id, 0, first, std::chrono::seconds(5)); }
  SUBCASE("lost") { made.book.on_failed(at(1.01), id, 0, first); }
  SUBCASE("gone") { made.book.on_gone(at(1.01), first); }
  SUBCASE("late") {
    const TimePoint late = made.book.next_deadline();
    CHECK(late < at(2));
    made.book.on_timer(late);
  }
  CHECK(made.sends().at(0) == second);
  CHECK(made.book.on_answer(at(1.5), id, 0, second));
  CHECK_FALSE(made.book.on_answer(at(1.5), id, 0, first));
  CHECK(made.book.take_ended()[0].answered_by[0] == second);
}

TEST_CASE("a part that its holder passes over goes to another one in half of its time") {
  Book made;
  const ExchangeId id = made.book.begin(at(1), kOne, {{0, 10, {0, 1}, {}}});
  const PeerId first = made.sends().at(0);
  // It goes on answering others' calls, and so it is not silent.
  for (double seconds = 1.1; seconds < 5.9; seconds += 0.1) {
    made.holders.on_answered(at(seconds), made.holders.on_sent(at(seconds - 0.1), first, 10));
    made.book.on_timer(at(seconds));
    CHECK(made.sends().empty());
  }
  made.holders.on_answered(at(6), made.holders.on_sent(at(5.9), first, 10));
  made.book.on_timer(at(6.01));
  const auto again = made.sends();
  REQUIRE(again.size() == 1);
  CHECK(again.at(0) != first);
  CHECK(made.book.on_answer(at(6.1), id, 0, again.at(0)));
}

TEST_CASE("a holder that is busy is asked once more when it is free, if there is no other") {
  Book made;
  made.holders.set(0, {peer(1)});
  const ExchangeId id = made.book.begin(at(1), kOne, {{0, 10, {0, 1}, {}}});
  CHECK(made.sends().at(0) == peer(1));
  made.book.on_refused(at(1.1), id, 0, peer(1), std::chrono::seconds(2));
  CHECK(made.sends().empty());
  CHECK(made.book.take_ended().empty());
  CHECK(made.book.next_deadline() == at(3.1));
  made.book.on_timer(at(3.1));
  CHECK(made.sends().at(0) == peer(1));
}

TEST_CASE("a part that nobody can answer is lost at once, and so is an exchange whose tokens have no other") {
  Book made;
  made.holders.set(0, {peer(1)});
  std::vector<CallBook::Part> parts = two_parts();
  parts[1].tokens = {1};
  const ExchangeId id = made.book.begin(at(1), kOne, parts);
  const auto sent = made.sends();
  made.book.on_failed(at(1.1), id, 0, peer(1));
  CHECK(made.book.take_ended().empty());
  CHECK(made.book.on_answer(at(1.2), id, 1, sent.at(1)));
  const auto ended = made.book.take_ended();
  REQUIRE(ended.size() == 1);
  CHECK_FALSE(ended[0].enough);  // token 0 has no answer at all
  made.book.begin(at(2), kOne, {{7, 10, {0}, {}}});
  CHECK_FALSE(made.book.take_ended().at(0).enough);
  made.book.begin(at(2), kOne, {});
  CHECK(made.book.take_ended().at(0).enough);  // no token needs anything
}

TEST_CASE("what was kept at a holder is asked of that one first") {
  Book made;
  for (const std::uint8_t number : {1, 2}) {
    const ExchangeId id = made.book.begin(at(1), kOne, {{0, 10, {0, 1}, peer(number)}});
    CHECK(made.sends().at(0) == peer(number));
    made.book.on_refused(at(1.1), id, 0, peer(number), Duration{});
    CHECK(made.sends().count(0) == 1);
    made.book.drop(at(1.2), id);
  }
}

TEST_CASE("a holder that refuses what was kept there is left alone, and another one is asked, if there is one") {
  for (const bool is_alone : {false, true}) {
    Book made;
    if (is_alone) made.holders.set(0, {peer(1)});
    CallBook::Terms terms = kOne;
    terms.once = true;
    const ExchangeId id = made.book.begin(at(1), terms, {{0, 10, {0, 1}, peer(1)}});
    CHECK(made.sends().at(0) == peer(1));
    made.book.on_refused(at(1.1), id, 0, peer(1), std::chrono::seconds(1));
    const auto again = made.sends();
    if (is_alone) {
      CHECK(again.empty());
      CHECK(made.book.next_deadline() == at(2.1));
    } else {
      CHECK(again.at(0) == peer(2));
    }
  }
}

TEST_CASE("what may be done only once goes to another holder after a refusal, and is lost with a holder that fails") {
  Book made;
  CallBook::Terms terms = kOne;
  terms.once = true;
  const ExchangeId id = made.book.begin(at(1), terms, two_parts());
  const auto sent = made.sends();
  made.book.on_refused(at(1.1), id, 0, sent.at(0), std::chrono::seconds(5));
  const auto again = made.sends();
  REQUIRE(again.size() == 1);
  CHECK(again.at(0) != sent.at(0));
  made.book.on_timer(at(9));  // it is late, and nobody else is asked
  CHECK(made.sends().empty());
  made.book.on_gone(at(9.1), again.at(0));
  CHECK(made.sends().empty());
  CHECK(made.book.take_ended().empty());
  CHECK(made.book.on_answer(at(9.2), id, 1, sent.at(1)));
  const auto ended = made.book.take_ended();
  REQUIRE(ended.size() == 1);
  CHECK_FALSE(ended[0].answered_by[0]);
  CHECK(ended[0].answered_by[1] == sent.at(1));
}

TEST_CASE("whatever holders do, each exchange ends once and in its time, and no call stays open") {
  std::mt19937 random(11);
  for (int run = 0; run < 200; ++run) {
    Holders holders;
    CallBook book(holders);
    for (wire::CellIndex cell = 0; cell < 4; ++cell) holders.set(cell, {peer(1), peer(2), peer(3)});
    struct Due {
      TimePoint when;
      CallBook::Send send;
      int event = 0;
    };
    std::vector<Due> due;
    std::map<ExchangeId, TimePoint> ends_by;
    TimePoint now = kStart;
    const auto chance = [&](int below) { return std::uniform_int_distribution<>(0, below - 1)(random); };
    for (int step = 0; step < 60; ++step) {
      if (step < 20) {
        std::vector<CallBook::Part> parts;
        for (wire::CellIndex cell = 0; cell < 4; ++cell) parts.push_back({cell, 5, {chance(3), 3}, {}});
        const CallBook::Terms terms{.tokens = 4, .answers_min = chance(3), .budget = std::chrono::seconds(3)};
        ends_by.emplace(book.begin(now, terms, std::move(parts)), now + std::chrono::seconds(3));
      }
      now += std::chrono::milliseconds(100 + chance(200));
      for (const CallBook::Send& send : book.take_sends()) {
        due.push_back({now + std::chrono::milliseconds(chance(1500)), send, chance(4)});
      }
      for (const Due& one : due) {
        if (one.when > now) continue;
        const auto& [exchange, part, holder, budget] = one.send;
        if (one.event < 2) book.on_answer(now, exchange, part, holder);
        if (one.event == 2) book.on_failed(now, exchange, part, holder);
      }
      std::erase_if(due, [now](const Due& one) { return one.when <= now; });
      if (chance(10) == 0) book.on_gone(now, peer(static_cast<std::uint8_t>(1 + chance(3))));
      if (book.next_deadline() <= now) book.on_timer(now);
      for (const CallBook::Ended& ended : book.take_ended()) {
        REQUIRE(ends_by.contains(ended.exchange));
        CHECK(now <= ends_by.at(ended.exchange) + std::chrono::milliseconds(300));
        ends_by.erase(ended.exchange);
      }
    }
    CHECK(ends_by.empty());
    CHECK(book.next_deadline() == kNever);
    // The load of calls that are over weighs on nobody.
    for (std::uint8_t number = 1; number <= 3; ++number) CHECK(holders.on_sent(now, peer(number), 1).load == 1);
  }
}
