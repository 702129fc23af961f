#include "client/daemon/limit_warning.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::daemon;

namespace {

constexpr double kHalfMegabit = 62'500;

ExchangeNeeds needs() {
  ExchangeNeeds needs;
  needs.traffic.floats = 4'000'000;
  needs.traffic.codec = needs.traffic.contribution_codec = wire::Codec::fp16;
  needs.batch_s = 20;
  needs.swarm_size = 4;
  return needs;
}

}  // namespace

TEST_CASE("half a megabit beside fast peers is warned of, with the times") {
  const std::string words = limit_warning(needs(), kHalfMegabit, 0);
  CHECK(words.find("too low for this run") != std::string::npos);
  CHECK(words.find("compute for 20 s") != std::string::npos);
  CHECK(!limit_warning(needs(), 0, kHalfMegabit).empty());
}

TEST_CASE("limits that leave time enough are not warned of") {
  ExchangeNeeds narrow = needs();
  narrow.traffic.narrows_contributions = true;  // hardly any part of each gradient need be sent then
  CHECK(limit_warning(narrow, kHalfMegabit, 0).empty());
  CHECK(limit_warning(needs(), 0, 0).empty());
  CHECK(limit_warning(needs(), 40 * kHalfMegabit, 40 * kHalfMegabit).empty());
}

TEST_CASE("nothing is said before it is known how fast the others are, nor where there is nobody else") {
  ExchangeNeeds unknown = needs();
  unknown.batch_s = 0;
  CHECK(limit_warning(unknown, kHalfMegabit, kHalfMegabit).empty());
  ExchangeNeeds alone = needs();
  alone.swarm_size = 1;
  CHECK(limit_warning(alone, kHalfMegabit, kHalfMegabit).empty());
}
