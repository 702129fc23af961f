#include "coordinator/core/credit_book.h"

#include <doctest/doctest.h>

namespace starling::core {

TEST_CASE("credit is told once the store has it, in the order of the rounds") {
  CreditBook book;
  book.replace({{7, 100}});
  book.add(3, {{7, 10}, {8, 5}});
  book.add(4, {{7, 1}});
  CHECK(book.stored(7) == 100);
  CHECK(book.stored(8) == 0);
  CHECK(book.durable_below(5) == 3);
  book.on_stored(3);
  CHECK(book.stored(7) == 110);
  CHECK(book.stored(8) == 5);
  CHECK(book.rounds_pending() == 1);
  CHECK(book.durable_below(5) == 4);
  book.on_stored(4);
  CHECK(book.stored(7) == 111);
  CHECK(book.durable_below(5) == 5);
}

TEST_CASE("one answer of the store may make several rounds durable") {
  CreditBook book;
  for (RoundIndex round = 0; round < 3; ++round) book.add(round, {{7, 1}});
  book.on_stored(1);
  CHECK(book.stored(7) == 2);
  CHECK(book.durable_below(3) == 2);
}

TEST_CASE("nobody gets credit for a round that the store refused") {
  CreditBook book;
  book.add(0, {{7, 10}});
  book.add(1, {{7, 20}});
  book.on_refused(0);
  CHECK(book.durable_below(2) == 1);
  book.on_stored(1);
  CHECK(book.stored(7) == 20);
}

TEST_CASE("new sums replace the stored ones, and leave what is pending") {
  CreditBook book;
  book.replace({{7, 100}, {8, 1}});
  book.add(0, {{7, 10}});
  book.replace({{7, 50}});
  CHECK(book.stored(8) == 0);
  book.on_stored(0);
  CHECK(book.stored(7) == 60);
}

TEST_CASE("credit that was taken back waits for nothing") {
  CreditBook book;
  for (RoundIndex round = 0; round < 3; ++round) book.add(round, {{7, 10}, {8, 1}});
  book.on_stored(2);
  book.finalize(0);
  CHECK(book.not_final(7) == 30);
  book.take_back(7, 25);
  CHECK(book.not_final(7) == 5);
  CHECK(book.not_final(8) == 3);
  book.finalize(3);
  CHECK(book.not_final(7) == 0);
  CHECK(book.not_final(8) == 0);
}

}  // namespace starling::core
