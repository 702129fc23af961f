#include "shared/swarm/witnesses.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace starling;
using namespace starling::swarm;

namespace {

GroupId group_id(std::uint8_t number) {
  GroupId id;
  id.bytes.fill(number);
  return id;
}

}  // namespace

TEST_CASE("in a small group each tells about all others") {
  for (const std::size_t members : {1U, 2U, 3U, 17U}) {
    for (std::size_t own = 0; own < members; ++own) {
      const auto places = told_about(group_id(1), own, members);
      const std::set<std::size_t> different(places.begin(), places.end());
      CHECK(places.size() == members - 1);
      CHECK(different.size() == members - 1);
      CHECK_FALSE(different.contains(own));
    }
  }
}

TEST_CASE("in a large group as many tell about each, and in the next group others do") {
  constexpr std::size_t kMembers = 100;
  std::set<std::size_t> about_first;
  for (std::uint8_t number = 0; number < 50; ++number) {
    std::map<std::size_t, std::size_t> heard;
    for (std::size_t own = 0; own < kMembers; ++own) {
      const auto places = told_about(group_id(number), own, kMembers);
      CHECK(places.size() == wire::kReceivedMax);
      CHECK(std::find(places.begin(), places.end(), own) == places.end());
      for (const std::size_t place : places) ++heard[place];
      if (std::find(places.begin(), places.end(), 0) != places.end()) about_first.insert(own);
    }
    CHECK(heard.size() == kMembers);
    CHECK(std::all_of(heard.begin(), heard.end(), [](const auto& one) { return one.second == wire::kReceivedMax; }));
  }
  CHECK(about_first.size() > kMembers / 2);
}
