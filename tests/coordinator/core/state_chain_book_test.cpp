#include "coordinator/core/state_chain_book.h"

#include <doctest/doctest.h>

#include "coordinator/core/reports.h"
#include "tests/coordinator/core/small_run.h"

namespace starling::core::testing {
namespace {

// Signs with plain words.
class Words final : public StateSigner {
 public:
  [[nodiscard]] std::string sign(const wire::StateStatement& statement) const override {
    return wire::encode(statement);
  }
  [[nodiscard]] SignatureBytes seal(const RunId&, const wire::StateLink&) const override { return {}; }
};

Digest state_of(RoundIndex round) {
  Digest digest;
  digest.bytes.fill(static_cast<std::uint8_t>(round + 1));
  return digest;
}

// Members 1, 2 and 3; 3 and 4 are of one account. Member 5 is on probation.
SeatedGroup group_of(RoundIndex round) {
  SeatedGroup group;
  group.round = round;
  group.columns = {{{peer_id(1), 1}, {peer_id(2), 2}, {peer_id(3), 3}, {peer_id(4), 3}, {peer_id(5), 5}}};
  group.columns[0][4].voice = false;
  return group;
}

ResultClass signed_by(RoundIndex round, const std::vector<int>& members) {
  ResultClass result;
  result.base_digest = state_of(round);
  result.state_digest = state_of(round + 1);
  for (const int member : members) {
    PeerSignature signature;
    signature.key.bytes.fill(static_cast<std::uint8_t>(member));
    result.signatures.emplace(peer_id(member), signature);
  }
  return result;
}

std::optional<wire::StateLink> link_by(RoundIndex round, const std::vector<int>& members) {
  const ResultClass result = signed_by(round, members);
  return link_of(group_of(round), result, {&result, 1}, state_of(round));
}

}  // namespace

TEST_CASE("a link has one vote of each of just more than half of the accounts, and none of members without a voice") {
  const auto link = link_by(4, {1, 2, 3, 4, 5});
  REQUIRE(link.has_value());
  REQUIRE(link->voters.size() == 5);
  CHECK(link->voters[2].voter == link->voters[3].voter);
  CHECK(link->voters[4].voter == 0);
  CHECK(link->votes.size() == 2);
  CHECK(link_by(4, {1, 4}).has_value());
  CHECK_FALSE(link_by(4, {3, 4}).has_value());
  CHECK_FALSE(link_by(4, {1, 5}).has_value());
}

TEST_CASE("holders that report other contributions have signed the same result; those at another base have not") {
  const ResultClass first = signed_by(4, {1});
  ResultClass second = signed_by(4, {2});
  const auto link = [&] {
    const std::vector<ResultClass> told = {first, second};
    return link_of(group_of(4), told[0], told, state_of(4));
  };
  CHECK(link().has_value());
  second.base_digest = state_of(9);
  CHECK_FALSE(link().has_value());
  CHECK_FALSE(link_of(group_of(4), first, {&first, 1}, state_of(9)).has_value());
}

TEST_CASE("links follow a statement until they are too many; then another statement takes their place") {
  StateChainBook book("run", std::make_shared<Words>(), {});
  CHECK_FALSE(book.proof().has_value());
  const ChainGrowth start = book.state({1000}, wire::StatementCause::start, 0, state_of(0));
  CHECK(start.stated.serial == 1000);
  CHECK(start.link.empty());
  RoundIndex round = 0;
  ChainGrowth growth;
  while (growth.statement.empty()) {
    const auto link = link_by(round, {1, 2});
    growth = book.on_decided({1000}, &*link, round, state_of(round + 1));
    ++round;
    REQUIRE(book.proof().has_value());
    CHECK(wire::encode(*book.proof()).size() <= wire::kStateProofBytesMax);
    CHECK(growth.link.empty() != growth.statement.empty());
  }
  CHECK(round > 10);
  CHECK(growth.stated.round == round);
  CHECK(growth.stated.serial == 1001);
  CHECK(book.proof()->links.empty());
  CHECK(wire::decode_state_statement(book.proof()->statement)->cause == wire::StatementCause::advance);
  growth = book.on_decided({5000}, nullptr, round, state_of(round + 1));
  CHECK(growth.stated.serial == 5000);
}

TEST_CASE("a chain goes on after a restart, and without a key there is none") {
  RecoveredChain recovered{"statement", {"run", 3, state_of(3), 7, wire::StatementCause::advance}, {}};
  CHECK(recovered.newest()->state_digest == state_of(3));
  recovered.links = {*link_by(3, {1, 2})};
  CHECK(recovered.newest()->round == 4);
  CHECK(recovered.newest()->state_digest == state_of(4));
  CHECK_FALSE(RecoveredChain().newest().has_value());
  StateChainBook book("run", std::make_shared<Words>(), recovered);
  const auto link = link_by(4, {1, 2});
  CHECK_FALSE(book.on_decided({1}, &*link, 4, state_of(5)).link.empty());
  CHECK(book.proof()->links.size() == 2);
  CHECK(book.state({1}, wire::StatementCause::loss, 9, state_of(9)).stated.serial == 8);

  StateChainBook keyless("run", nullptr, {});
  CHECK(keyless.on_decided({1}, &*link, 4, state_of(5)).statement.empty());
  CHECK_FALSE(keyless.proof().has_value());
}

}  // namespace starling::core::testing
