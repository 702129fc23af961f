#include "client/routing/receipts.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace starling;
using namespace starling::routing;

namespace {

PeerId peer(std::uint8_t number) {
  PeerId id;
  id.bytes.fill(number);
  return id;
}

// Two layers of four experts, in cells of two; samples of three tokens, each of which goes to two experts.
wire::RunManifest run_of(wire::CellUpdate update) {
  wire::RunManifest run;
  run.model = {.architecture = wire::Architecture::decoder, .layers = 2, .width = 4, .heads = 1, .context = 3};
  run.model.experts.rows = 4;
  run.model.experts.active = 2;
  run.model.experts.cells.experts = 2;
  run.model.experts.cells.update = update;
  return run;
}

// A window whose cell 1 two holders have computed.
Window::Outcome window() {
  Window::Outcome outcome;
  outcome.samples = 5;
  outcome.weights = {{{0, peer(1)}, 5}, {{1, peer(1)}, 2}, {{1, peer(2)}, 3}};
  outcome.computed = {{{0, peer(1)}, {4, 9}}, {{1, peer(1)}, {2, 3}}, {{1, peer(2)}, {6, 4}}};
  return outcome;
}

wire::CallReceipts told(Receipts& receipts) {
  const std::optional<wire::CallReceipts> list = receipts.tell();
  REQUIRE(list);
  return *list;
}

}  // namespace

TEST_CASE("the coordinator hears once what holders have computed") {
  Receipts receipts(run_of(wire::CellUpdate::round), 7);
  CHECK_FALSE(receipts.tell());
  receipts.add(window());
  const wire::CallReceipts first = told(receipts);
  CHECK(first == wire::CallReceipts{7, {{peer(1), 6, {{0, 5}, {1, 2}}}, {peer(2), 6, {{1, 3}}}}});
  receipts.on_reply();
  CHECK_FALSE(receipts.tell());
  receipts.add(window());
  CHECK(told(receipts).number == 8);
  receipts.on_reply();
  CHECK_FALSE(receipts.tell());
}

TEST_CASE("what no reply has followed is told again, as it was") {
  Receipts receipts(run_of(wire::CellUpdate::round), 7);
  receipts.add(window());
  const wire::CallReceipts first = told(receipts);
  receipts.add(window());
  CHECK(told(receipts) == first);
  receipts.on_reply();
  CHECK(told(receipts).holders == first.holders);
}

TEST_CASE("a reply to a call that told nothing ends nothing") {
  Receipts receipts(run_of(wire::CellUpdate::round), 7);
  CHECK_FALSE(receipts.tell());
  receipts.add(window());
  receipts.on_reply();
  CHECK(told(receipts).holders.size() == 2);
}

TEST_CASE("where cells step as gradients arrive units are counted, and rests kept") {
  // A sample has six units in a layer, three of them in each cell.
  Receipts receipts(run_of(wire::CellUpdate::arrival), 7);
  receipts.add(window());
  CHECK(told(receipts) == wire::CallReceipts{7, {{peer(1), 6, {{0, 3}, {1, 1}}}, {peer(2), 6, {{1, 1}}}}});
  receipts.on_reply();
  receipts.add(window());
  receipts.add(window());
  // Nine units: eight, and one that was left over.
  CHECK(told(receipts).holders.back() == wire::HolderReceipt{peer(2), 12, {{1, 3}}});
}

TEST_CASE("a message has room for so many cells, and the rest comes later") {
  Receipts receipts(run_of(wire::CellUpdate::round), 7);
  Window::Outcome outcome;
  constexpr std::size_t kAll = wire::kReceiptCellsMax + 100;
  for (std::size_t i = 0; i < kAll; ++i) {
    const PeerId holder = peer(static_cast<std::uint8_t>(1 + i / 4));
    outcome.weights[{static_cast<wire::CellIndex>(i % 4), holder}] = 1;
  }
  receipts.add(outcome);
  std::size_t cells = 0;
  for (int message = 0; message < 2; ++message) {
    std::size_t in_message = 0;
    for (const wire::HolderReceipt& receipt : told(receipts).holders) in_message += receipt.cells.size();
    CHECK(in_message <= wire::kReceiptCellsMax);
    cells += in_message;
    receipts.on_reply();
  }
  CHECK(cells == kAll);
  CHECK_FALSE(receipts.tell());
}
