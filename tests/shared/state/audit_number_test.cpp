#include "shared/state/audit_number.h"

#include <doctest/doctest.h>

#include <set>

using namespace starling;
using namespace starling::state;

namespace {

template <typename Id>
Id id(std::uint8_t byte) {
  Id id;
  id.bytes.fill(byte);
  return id;
}

}  // namespace

TEST_CASE("each group has a number of its own, which only the secret tells") {
  const Digest number = audit_number(id<Digest>(1), id<GroupId>(2));
  CHECK(number == audit_number(id<Digest>(1), id<GroupId>(2)));
  CHECK(number != audit_number(id<Digest>(1), id<GroupId>(3)));
  CHECK(number != audit_number(id<Digest>(2), id<GroupId>(2)));
  CHECK(audit_commitment(number) != number);
  CHECK(audit_commitment(number) != audit_commitment(id<Digest>(1)));
}

TEST_CASE("the seed depends on the number and on the result") {
  const Digest number = audit_number(id<Digest>(1), id<GroupId>(2));
  std::set<Hash128> seeds = {audit_seed(number, id<Hash128>(1)), audit_seed(number, id<Hash128>(2)),
                             audit_seed(id<Digest>(1), id<Hash128>(1))};
  CHECK(seeds.size() == 3);
}
