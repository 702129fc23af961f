#include "client/storage/audited_states.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::storage;
using starling::testing::TempDir;

namespace {

Digest digest(std::uint8_t number) {
  Digest digest;
  digest.bytes.fill(number);
  return digest;
}

}  // namespace

TEST_CASE("the parameters of a state are read for the round that began with just that state, until it is forgotten") {
  const TempDir folder;
  PreviousState previous(folder.path());
  std::vector<float> state(1000, 1.5F);
  state[600] = 7;  // a moment
  AuditedStates audited;
  CHECK_FALSE(previous.give().file);
  REQUIRE(previous.keep(state, digest(1)).ok());
  REQUIRE(audited.keep(4, previous.give(), 500).ok());
  CHECK(previous.restore(digest(1), state).error().code == ErrorCode::not_found);
  const auto parameters = audited.parameters(4, digest(1));
  REQUIRE(parameters.ok());
  CHECK(std::vector<float>(parameters->begin(), parameters->end()) == std::vector<float>(500, 1.5F));
  CHECK(audited.parameters(4, digest(2)).error().code == ErrorCode::not_found);  // this member was elsewhere then
  CHECK(audited.parameters(3, digest(1)).error().code == ErrorCode::not_found);
  state.assign(state.size(), 2.5F);
  REQUIRE(previous.keep(state, digest(2)).ok());
  REQUIRE(audited.keep(5, previous.give(), 500).ok());
  CHECK(audited.parameters(5, digest(2))->front() == 2.5F);
  CHECK(audited.parameters(4, digest(1))->front() == 1.5F);
  audited.forget(4);
  CHECK_FALSE(audited.parameters(4, digest(1)).ok());
  CHECK(audited.parameters(5, digest(2)).ok());
}
