#include "client/trainer_link/tasks.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "client/trainer_link/shared_floats.h"

using namespace starling;
using namespace starling::trainer_link;

namespace {

std::span<const std::int32_t> numbers(std::span<const float> floats) {
  return {reinterpret_cast<const std::int32_t*>(floats.data()), floats.size()};
}

template <typename One, typename Other>
bool is_same(std::span<One> one, std::span<Other> other) {
  return one.size() == other.size() && (one.empty() || one.data() == other.data());
}

}  // namespace

TEST_CASE("a task comes out of its message with the places in the tray that it had") {
  std::vector<float> tray(100);
  const std::span<float> all(tray);
  routing::TrunkTask trunk;
  trunk.step = {3, 2, routing::Way::back};
  trunk.results = all.first(7);
  trunk.places = numbers(all.subspan(7, 5));
  trunk.inputs_gradient = all.subspan(90, 10);
  trunk.text = numbers(all.subspan(12, 3));
  trunk.scores = all.subspan(15, 60);
  const auto same_trunk = unpack_trunk_task(pack(trunk, tray), tray);
  REQUIRE(same_trunk.ok());
  CHECK(same_trunk->step == trunk.step);
  CHECK(is_same(same_trunk->results, trunk.results));
  CHECK(is_same(same_trunk->places, trunk.places));
  CHECK(is_same(same_trunk->inputs_gradient, trunk.inputs_gradient));
  CHECK(is_same(same_trunk->text, trunk.text));
  CHECK(is_same(same_trunk->scores, trunk.scores));
  CHECK(same_trunk->inputs.empty());

  CellTask cell{.cell = 9, .is_back = true};
  cell.counts = numbers(all.subspan(1, 2));
  cell.rows = numbers(all.subspan(3, 4));
  cell.inputs = all.subspan(10, 8);
  cell.upstream = all.subspan(20, 16);
  cell.answer = all.subspan(40, 8);
  const auto same_cell = unpack_cell_task(pack(cell, tray), tray);
  REQUIRE(same_cell.ok());
  CHECK(same_cell->cell == 9);
  CHECK(same_cell->is_back);
  CHECK(is_same(same_cell->counts, cell.counts));
  CHECK(is_same(same_cell->rows, cell.rows));
  CHECK(is_same(same_cell->inputs, cell.inputs));
  CHECK(is_same(same_cell->upstream, cell.upstream));
  CHECK(is_same(same_cell->answer, cell.answer));
}

TEST_CASE("places outside of the tray, other bytes and other ways are refused") {
  std::vector<float> tray(100);
  CellTask cell;
  cell.answer = std::span(tray).subspan(60, 40);
  const std::string packed = pack(cell, tray);
  CHECK(unpack_cell_task(packed, tray).ok());
  CHECK_FALSE(unpack_cell_task(packed, std::span(tray).first(99)).ok());
  CHECK_FALSE(unpack_cell_task(packed, {}).ok());
  CHECK_FALSE(unpack_cell_task(packed.substr(1), tray).ok());
  CHECK_FALSE(unpack_trunk_task(packed, tray).ok());
  // A place so far away that its end is a small number again.
  std::string far = packed;
  const std::uint64_t first = UINT64_MAX - 8;
  std::memcpy(far.data() + far.size() - 2 * sizeof first, &first, sizeof first);
  CHECK_FALSE(unpack_cell_task(far, tray).ok());
  std::string third_way = packed;
  third_way[4] = 2;
  CHECK_FALSE(unpack_cell_task(third_way, tray).ok());
  routing::TrunkTask trunk;
  std::string no_way = pack(trunk, tray);
  no_way[12] = 9;
  CHECK_FALSE(unpack_trunk_task(no_way, tray).ok());
}

TEST_CASE("shared floats are the same at both ends, and their size is fixed") {
  const auto made = SharedFloats::create(1000, "a test");
  REQUIRE(made.ok());
  CHECK(made->all().size() == 1000);
  const auto other = SharedFloats::attach(made->fd());
  REQUIRE(other.ok());
  made->all()[999] = 2.5F;
  CHECK(other->all()[999] == 2.5F);
  CHECK(::ftruncate(made->fd(), 0) != 0);
  CHECK_FALSE(SharedFloats::create(0, "a test").ok());
  CHECK_FALSE(SharedFloats::create(std::size_t{1} << 50, "a test").ok());
}

TEST_CASE("floats whose size may change, or that are no whole number, are not attached") {
  const UniqueFd loose(::memfd_create("loose", MFD_CLOEXEC));
  REQUIRE(::ftruncate(loose.get(), 400) == 0);
  CHECK_FALSE(SharedFloats::attach(loose.get()).ok());
  const UniqueFd odd(::memfd_create("odd", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(odd.get(), 401) == 0);
  REQUIRE(::fcntl(odd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  CHECK_FALSE(SharedFloats::attach(odd.get()).ok());
  CHECK_FALSE(SharedFloats::attach(-1).ok());
}
