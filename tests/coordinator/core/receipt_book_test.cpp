#include "coordinator/core/receipt_book.h"

#include <doctest/doctest.h>

#include <vector>

using namespace starling;
using namespace starling::core;

namespace {

constexpr std::size_t kCells = 4;
constexpr SampleCount kAhead = 100;

// Peer n belongs to account n.
PeerId peer(AccountId account) {
  PeerId id;
  id.bytes.fill(static_cast<std::uint8_t>(account));
  return id;
}

class Hosts final : public KnownHosts {
 public:
  [[nodiscard]] std::optional<AccountId> account_of(const PeerId& id) const override {
    return id.bytes[0] < 100 ? std::optional<AccountId>(id.bytes[0]) : std::nullopt;
  }
  [[nodiscard]] AccountStanding standing_of(AccountId /*account*/) const override { return {}; }
  [[nodiscard]] bool has_signed(const PeerId& /*peer*/, std::span<const std::uint8_t> /*text*/,
                                const PeerSignature& /*signature*/) const override {
    return true;
  }
};

struct Book {
  Hosts hosts;
  ReceiptBook receipts{kCells, kAhead, hosts};
  std::int64_t number = 0;

  void train(AccountId account, SampleCount samples) { receipts.on_trained({{peer(account), account, samples}}); }
  void tell(AccountId caller, AccountId holder, wire::CellIndex cell, SampleCount samples) {
    receipts.on_receipts({peer(caller), caller, ""}, {++number, {{peer(holder), 1, {{cell, samples}}}}});
  }
  SampleCount settle(AccountId holder, wire::CellIndex cell, SampleCount samples) {
    return receipts.settle(cell, holder, samples);
  }
};

}  // namespace

TEST_CASE("a holder earns what callers confirm, whichever word comes first") {
  Book book;
  SampleCount earned = 0;
  for (int round = 0; round < 50; ++round) {
    const bool early = round % 3 == 0;
    if (early) earned += book.settle(2, 1, 60);
    for (wire::CellIndex cell = 0; cell < static_cast<int>(kCells); ++cell) {
      book.tell(1, 2, cell, 40);
      book.tell(2, 2, cell, 20);  // its own samples count like another's
    }
    if (!early) earned += book.settle(2, 1, 60);
    book.train(1, 40);
    book.train(2, 20);
  }
  CHECK(earned == 50 * 60);
}

TEST_CASE("a holder that claims more than callers confirm gains a bounded number of samples, once") {
  Book book;
  SampleCount earned = 0;
  for (int round = 0; round < 1000; ++round) {
    book.train(1, 10);
    book.tell(1, 2, 0, 10);
    earned += book.settle(2, 0, 1'000'000);
  }
  CHECK(earned >= 10'000);
  CHECK(earned <= 10'000 + kAhead);
  CHECK(book.settle(3, 0, 1'000'000) == kAhead);  // an account that nobody has called
}

TEST_CASE("a caller confirms no more than its own samples are worth") {
  Book book;
  SampleCount earned = 0;
  for (int round = 0; round < 1000; ++round) {
    book.train(1, 10);
    book.tell(1, 2, round % static_cast<int>(kCells), 1'000'000);
    for (wire::CellIndex cell = 0; cell < static_cast<int>(kCells); ++cell) earned += book.settle(2, cell, 1'000'000);
  }
  constexpr auto kAll = static_cast<SampleCount>(kCells);
  CHECK(earned > 0);
  CHECK(earned <= kAll * (10'000 + 2 * kAhead));
}

TEST_CASE("receipts that come again count once, and foreign ones not at all") {
  Book book;
  book.train(1, 100);
  const wire::CallReceipts receipts{7, {{peer(2), 3, {{0, 50}}}}};
  for (int i = 0; i < 3; ++i) book.receipts.on_receipts({peer(1), 1, ""}, receipts);
  CellCover cover{{1, 1, 1, 1}, 1, {{2, 1, 4, 4, 0}, {3, 1, 0, 0, 9}}, 0};
  book.receipts.count_calls(cover);
  CHECK(cover.calls == 3);
  CHECK(cover.shares[0].calls == 3);
  CHECK(cover.shares[1].calls == 0);
  CHECK(book.settle(2, 0, 1000) == kAhead + 50);
  book.tell(1, 200, 0, 10);                       // no host of the project
  book.tell(1, 2, static_cast<int>(kCells), 10);  // no cell of the model
  book.receipts.count_calls(cover);
  CHECK(cover.calls == 4);
  CHECK(book.settle(2, 0, 1000) == 0);
}
