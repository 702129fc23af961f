#include "coordinator/core/part_owners.h"

#include <doctest/doctest.h>

#include <array>

using namespace starling;
using namespace starling::core;

TEST_CASE("a dispute takes the owner's part for a few rounds, and a second between the same two for many") {
  PartOwners owners;
  const std::array<AccountId, 1> owner = {7};
  CHECK_FALSE(owners.on_dispute(10, 1, owner, 4).of_member);
  CHECK_FALSE(owners.may_own(7, 11));
  CHECK(owners.may_own(7, 19));
  CHECK_FALSE(owners.on_dispute(20, 1, owner, 4).of_member);
  CHECK_FALSE(owners.may_own(7, 84));
  CHECK(owners.may_own(7, 85));
  CHECK(owners.may_own(1, 13));
}

TEST_CASE("a member that is at odds with many is at fault, unless one of these is at odds with more") {
  PartOwners owners;
  for (AccountId owner = 10; owner < 13; ++owner) {
    CHECK_FALSE(owners.on_dispute(owner, 1, std::array{owner}, 4).of_member);
  }
  CHECK(owners.on_dispute(20, 1, std::array<AccountId, 1>{13}, 4).of_member);
  for (AccountId member = 30; member < 35; ++member) {
    const auto fault = owners.on_dispute(40, member, std::array<AccountId, 1>{50}, 4);
    CHECK_FALSE(fault.of_member);
    CHECK(fault.of_owners.size() == (member < 33 ? 0 : 1));
  }
}

TEST_CASE("an owner that received false work from many is no worse as a member") {
  PartOwners owners;
  for (AccountId liar = 10; liar < 14; ++liar) (void)owners.on_dispute(10, liar, std::array<AccountId, 1>{1}, 8);
  for (AccountId framer = 20; framer < 23; ++framer) {
    CHECK_FALSE(owners.on_dispute(20, 1, std::array{framer}, 4).of_member);
  }
}

TEST_CASE("old disputes are forgotten") {
  PartOwners owners;
  for (AccountId owner = 10; owner < 20; ++owner) {
    CHECK_FALSE(owners.on_dispute(100 * owner, 1, std::array{owner}, 4).of_member);
  }
}

TEST_CASE("an account whose parts are off three times, or hardly ever told of, owns nothing for a while") {
  PartOwners owners;
  for (const RoundIndex round : {1, 2, 2, 2}) owners.on_off(round, 5);
  CHECK(owners.may_own(5, 3));
  owners.on_off(100, 5);
  CHECK_FALSE(owners.may_own(5, 101));
  for (RoundIndex round = 0; round < 100; ++round) owners.on_word(round, 6, round % 3 == 0);
  CHECK(owners.may_own(6, 100));
  for (RoundIndex round = 100; round < 110; ++round) owners.on_word(round, 6, false);
  CHECK_FALSE(owners.may_own(6, 110));
}
