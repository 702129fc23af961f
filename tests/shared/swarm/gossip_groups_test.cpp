#include "shared/swarm/gossip_groups.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "shared/base/words.h"
#include "tests/shared/swarm/gossip_round.h"

using namespace starling;
using namespace starling::swarm;
using namespace starling::swarm::testing;

namespace {

Digest state(std::uint8_t byte) {
  Digest digest;
  digest.bytes[3] = byte;
  return digest;
}

// Each member's own view of the gossip.
std::vector<GossipGroups> views(wire::GossipPartners partners, std::size_t members, std::uint8_t digest = 1,
                                RoundIndex next = 5) {
  const wire::GroupInfo round = gossip_round(members);
  std::vector<GossipGroups> all;
  for (std::size_t k = 0; k < members; ++k)
    all.emplace_back(partners, round, peers_of(round), AgreedBucket{gossip_bucket(round), next, state(digest)});
  return all;
}

}  // namespace

TEST_CASE("all members see the same mixings, each in one of them, and all plans can be carried out") {
  for (const wire::GossipPartners partners : all_values<wire::GossipPartners>()) {
    for (const std::size_t count : {2U, 3U, 5U, 8U, 12U}) {
      CAPTURE(word_of(partners));
      CAPTURE(count);
      auto members = views(partners, count);
      std::set<GroupId> earlier;
      for (int number = 0; number < 6; ++number) {
        std::map<GroupId, std::vector<std::size_t>> meetings;
        for (std::size_t k = 0; k < count; ++k) {
          const auto gossip = members[k].next(gossip_peer(k));
          if (!gossip) continue;
          CHECK(wire::check_group(gossip->group).ok());
          CHECK(gossip->group.round == 5);
          CHECK(gossip->group.members[gossip->self].endpoint.peer == gossip_peer(k));
          meetings[gossip->group.id].push_back(gossip->group.members.size());
        }
        for (const auto& [id, sizes] : meetings) {
          CHECK(earlier.insert(id).second);
          CHECK(sizes == std::vector<std::size_t>(sizes.size(), sizes.size()));
        }
      }
      CHECK(earlier.size() >= 3);
    }
  }
}

TEST_CASE("where a round has but one mixing, all have their turn, and not always with the same one") {
  for (const wire::GossipPartners partners : all_values<wire::GossipPartners>()) {
    for (const std::size_t count : {3U, 4U, 5U}) {
      CAPTURE(word_of(partners));
      CAPTURE(count);
      std::vector<int> mixed(count);
      std::vector<std::set<PeerId>> met(count);
      const int rounds = 6 * static_cast<int>(count);
      for (int round = 0; round < rounds; ++round) {
        auto members = views(partners, count, static_cast<std::uint8_t>(round), round);
        for (std::size_t k = 0; k < count; ++k) {
          const auto gossip = members[k].next(gossip_peer(k));
          if (!gossip) continue;
          ++mixed[k];
          for (const auto& member : gossip->group.members) met[k].insert(member.endpoint.peer);
        }
      }
      for (std::size_t k = 0; k < count; ++k) {
        CHECK(mixed[k] >= rounds / 3);
        CHECK(met[k].size() >= 3);  // itself and two others
      }
    }
  }
}

TEST_CASE("buckets have the same partners, but mixings of their own") {
  const wire::GroupInfo round = gossip_round(4);
  std::vector<GossipGroups> buckets;
  for (const std::size_t number : {0U, 1U}) {
    const AgreedBucket bucket{{number, 0, 500}, 5, state(1)};
    buckets.emplace_back(wire::GossipPartners::exponential, round, peers_of(round), bucket);
  }
  const auto first = buckets[0].next(gossip_peer(0));
  const auto second = buckets[1].next(gossip_peer(0));
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->group.vector_floats == 500);
  CHECK(first->group.members[1].endpoint.peer == second->group.members[1].endpoint.peer);
  CHECK(first->group.id != second->group.id);
}

namespace {

// The largest distance of eight members from their mean after this many gossips; it is 49 in the beginning.
double apart_after(wire::GossipPartners partners, int gossips) {
  constexpr std::size_t kCount = 8;
  auto members = views(partners, kCount);
  std::vector<double> values;
  for (std::size_t k = 0; k < kCount; ++k) values.push_back(static_cast<double>(k * k));
  for (int number = 0; number < gossips; ++number) {
    std::vector<double> mixed = values;
    for (std::size_t k = 0; k < kCount; ++k) {
      const auto gossip = members[k].next(gossip_peer(k));
      if (!gossip) continue;
      mixed[k] = 0;
      const auto count = static_cast<double>(gossip->group.members.size());
      for (const auto& member : gossip->group.members) mixed[k] += values[member.endpoint.peer.bytes[0] - 1U] / count;
    }
    values = mixed;
  }
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value - 140.0 / kCount));
  return most;
}

}  // namespace

TEST_CASE("eight members of the exponential graph have their mean after three mixings, and taking turns after six") {
  CHECK(apart_after(wire::GossipPartners::exponential, 2) > 1);
  CHECK(apart_after(wire::GossipPartners::exponential, 3) < 1e-12);
  CHECK(apart_after(wire::GossipPartners::alternating_exponential_ring, 5) > 1);
  CHECK(apart_after(wire::GossipPartners::alternating_exponential_ring, 6) < 1e-12);
}

TEST_CASE("a manifest may name every topology") {
  wire::RunManifest manifest;
  manifest.run_id = "topologies";
  manifest.title = "Topologies";
  manifest.flops_per_sample = 1;
  for (const wire::GossipPartners partners : all_values<wire::GossipPartners>()) {
    CAPTURE(word_of(partners));
    manifest.local.emplace().partners = partners;
    CHECK(wire::check_manifest_settings(manifest).ok());
  }
}

TEST_CASE("everybody with everybody has the mean after one mixing") {
  CHECK(apart_after(wire::GossipPartners::complete, 1) < 1e-12);
}

TEST_CASE("of eight that take turns, four mix at a time, and the other four at the next") {
  auto members = views(wire::GossipPartners::alternating_exponential_ring, 8);
  for (int number = 0; number < 12; number += 2) {
    for (std::size_t k = 0; k < 8; ++k) {
      const bool first = members[k].next(gossip_peer(k)).has_value();
      const bool second = members[k].next(gossip_peer(k)).has_value();
      CHECK(first != second);
    }
  }
}

TEST_CASE("with members missing at random the mean stays, and values come together all the same") {
  for (const wire::GossipPartners partners : all_values<wire::GossipPartners>()) {
    CAPTURE(word_of(partners));
    constexpr std::size_t kCount = 7;
    auto members = views(partners, kCount, 9);
    std::vector<double> values{5, -3, 8, 0, 1, 2, -6};
    std::uint64_t weather = 12345;
    for (int number = 0; number < 400; ++number) {
      std::vector<bool> missing;
      for (std::size_t k = 0; k < kCount; ++k) {
        weather = weather * 6364136223846793005U + 1442695040888963407U;
        missing.push_back(weather >> 62 == 0);  // a quarter
      }
      std::vector<double> mixed = values;
      for (std::size_t k = 0; k < kCount; ++k) {
        const auto gossip = members[k].next(gossip_peer(k));
        if (!gossip || missing[k]) continue;
        double sum = 0;
        double present = 0;
        for (const auto& member : gossip->group.members) {
          const std::size_t peer = member.endpoint.peer.bytes[0] - 1U;
          if (missing[peer]) continue;
          sum += values[peer];
          present += 1;
        }
        mixed[k] = sum / present;
      }
      values = mixed;
    }
    double sum = 0;
    for (const double value : values) sum += value;
    CHECK(sum == doctest::Approx(7));
    for (const double value : values) CHECK(std::abs(value - 1) < 1e-3);
  }
}

TEST_CASE("members of another state meet nobody of this one") {
  auto ours = views(wire::GossipPartners::exponential, 2, 1);
  auto theirs = views(wire::GossipPartners::exponential, 2, 2);
  CHECK(ours[0].next(gossip_peer(0))->group.id != theirs[1].next(gossip_peer(1))->group.id);
}

TEST_CASE("who can be called over a relay at best owns no part, and two of them do not meet") {
  wire::GroupInfo round = gossip_round(4);
  round.members[2].endpoint.port = 0;
  round.members[3].endpoint.relay = gossip_peer(0);
  GossipGroups gossips(wire::GossipPartners::exponential, round, peers_of(round),
                       AgreedBucket{gossip_bucket(round), 4, state(1)});
  CHECK(!gossips.next(gossip_peer(3)));  // with its neighbour, which cannot be called either
  const auto gossip = gossips.next(gossip_peer(3));
  REQUIRE(gossip);
  CHECK(gossip->group.members[gossip->self].part_floats == 0);
  CHECK(gossip->group.members[1 - gossip->self].part_floats == 1001);
}
