#include "client/trainer_link/shared_region.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

using namespace starling;
using namespace starling::trainer_link;

namespace {
constexpr session::StateLayout kLayout{5000, 2};
}

TEST_CASE("both ends see the same state, gradient and journal, all zero at first") {
  auto ours = SharedRegion::create(kLayout);
  REQUIRE(ours.ok());
  auto theirs = SharedRegion::attach(ours->fd(), kLayout);
  REQUIRE(theirs.ok());
  REQUIRE(ours->state().size() == 15'000);
  REQUIRE(theirs->gradient().size() == 5'000);
  CHECK(std::all_of(ours->state().begin(), ours->state().end(), [](float value) { return value == 0; }));
  std::fill(ours->state().begin(), ours->state().end(), 1.0F);
  std::fill(theirs->gradient().begin(), theirs->gradient().end(), 2.0F);
  theirs->journal().begin(3);
  CHECK(theirs->state().back() == 1.0F);
  CHECK(ours->gradient().front() == 2.0F);
  CHECK(ours->journal().in_progress(3));
}

TEST_CASE("a run with local steps has memory for them in the region, and both ends must know how much") {
  auto ours = SharedRegion::create(kLayout, 10'000);
  REQUIRE(ours.ok());
  auto theirs = SharedRegion::attach(ours->fd(), kLayout, 10'000);
  REQUIRE(theirs.ok());
  REQUIRE(theirs->local().size() == 10'000);
  theirs->local().back() = 3.0F;
  CHECK(ours->local().back() == 3.0F);
  CHECK(ours->gradient().back() == 0.0F);
  CHECK_FALSE(SharedRegion::attach(ours->fd(), kLayout).ok());
  CHECK_FALSE(SharedRegion::attach(ours->fd(), kLayout, 9'999).ok());
  CHECK_FALSE(SharedRegion::create(kLayout, std::size_t{1} << 40).ok());
}

TEST_CASE("neither end can change the region's size") {
  auto region = SharedRegion::create(kLayout);
  REQUIRE(region.ok());
  CHECK(::ftruncate(region->fd(), 0) != 0);
  CHECK(::ftruncate(region->fd(), 1 << 30) != 0);
}

TEST_CASE("memory that is not such a region is refused") {
  auto region = SharedRegion::create(kLayout);
  REQUIRE(region.ok());
  CHECK_FALSE(SharedRegion::attach(region->fd(), {5001, 2}).ok());
  CHECK_FALSE(SharedRegion::attach(region->fd(), {50'000, 2}).ok());
  CHECK_FALSE(SharedRegion::attach(region->fd(), {7'500, 1}).ok());
  const UniqueFd other(::memfd_create("other", MFD_CLOEXEC));
  CHECK_FALSE(SharedRegion::attach(other.get(), kLayout).ok());
}

TEST_CASE("more memory than there is, or nonsense, is refused before anything is mapped") {
  CHECK(SharedRegion::create({0, 2}).ok());  // a trainer without a piece
  CHECK_FALSE(SharedRegion::create({std::size_t{1} << 60, 2}).ok());
  CHECK_FALSE(SharedRegion::create({1, -1}).ok());
}
