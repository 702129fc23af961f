#include "client/daemon/cell_runs.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/client/trainer_link/decoder_run.h"

using namespace starling;
using namespace starling::daemon;
using Cells = std::vector<wire::CellIndex>;

namespace {

wire::RunManifest trunk() { return trainer_link::testing::decoder_run("no program", wire::kTrunk, 4).manifest; }

PeerId peer(std::uint8_t number) {
  PeerId id;
  id.bytes.fill(number);
  return id;
}

}  // namespace

TEST_CASE("dealt cells are begun, and all others end") {
  const wire::RunManifest run = trunk();
  const std::int64_t all = 4 * wire::held_bytes(run, 0);
  const CellChange change = change_to(run, {0, 1}, Cells{1, 3}, all);
  CHECK(change.begin == Cells{3});
  CHECK(change.end == Cells{0});
  const CellChange none = change_to(run, {1, 3}, Cells{3, 1}, all);
  CHECK((none.begin.empty() && none.end.empty()));
  CHECK(change_to(run, {1, 3}, {}, all).end == Cells{1, 3});
}

TEST_CASE("cells are begun as far as there is memory, which cells that end have until they are gone") {
  const wire::RunManifest run = trunk();
  const std::int64_t two = 2 * wire::held_bytes(run, 0);
  CHECK(change_to(run, {}, Cells{0, 1, 2}, two).begin == Cells{0, 1});
  CHECK(change_to(run, {}, Cells{0, 1, 2}, two - 1).begin == Cells{0});
  CHECK(change_to(run, {3}, Cells{0, 1}, two).begin == Cells{0});
  CHECK(change_to(run, {}, Cells{0}, 0).begin.empty());
}

TEST_CASE("cells that the model has not, or that are named twice, are passed over") {
  const wire::RunManifest run = trunk();
  const std::int64_t all = 4 * wire::held_bytes(run, 0);
  CHECK(change_to(run, {}, Cells{-1, 4, 2, 2, 1}, all).begin == Cells{2, 1});
}

TEST_CASE("a table names the holders of each cell") {
  wire::CellTable table;
  for (std::uint8_t i = 0; i < 3; ++i) table.members.push_back({peer(i), "127.0.0.1", 4000 + i});
  table.cells = {{0, {2, 0}}, {3, {1, 3, -1}}};
  const auto holders = holders_by(table);
  REQUIRE(holders.size() == 2);
  CHECK(holders.at(0) == std::vector<PeerId>{peer(2), peer(0)});
  CHECK(holders.at(3) == std::vector<PeerId>{peer(1)});
}
