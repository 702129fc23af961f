#include "shared/manifest/signed_statement.h"

#include <doctest/doctest.h>

#include <array>

#include "shared/crypto/digest.h"
#include "shared/manifest/key_certificate.h"
#include "shared/manifest/signed_report.h"

using namespace starling;
using namespace starling::manifest;
using crypto::PrivateKey;

namespace {

Digest state_of(RoundIndex round) { return crypto::sha256(std::to_string(round)); }

// Four members of three accounts, and a fifth that has no vote.
struct Group {
  PrivateKey project = PrivateKey::generate();
  std::array<PrivateKey, 5> members = {PrivateKey::generate(), PrivateKey::generate(), PrivateKey::generate(),
                                       PrivateKey::generate(), PrivateKey::generate()};

  // The members with these ranks have signed.
  [[nodiscard]] wire::StateLink link(RoundIndex round, const std::vector<std::uint32_t>& ranks,
                                     const RunId& run_id = "poems") const {
    wire::StateLink link;
    link.round = round;
    link.base_digest = state_of(round);
    link.state_digest = state_of(round + 1);
    constexpr std::array<std::uint32_t, 5> kVoters = {1, 2, 3, 3, 0};
    for (std::size_t i = 0; i < members.size(); ++i) link.voters.push_back({members[i].peer_id(), kVoters[i]});
    wire::RoundReport report;
    report.round = round;
    report.base_digest = link.base_digest;
    report.state_digest = link.state_digest;
    for (const std::uint32_t rank : ranks) {
      sign_report(run_id, members[rank], report);
      link.votes.push_back({rank, *report.signature});
    }
    link.seal = seal_link("poems", link, project);
    return link;
  }
  [[nodiscard]] std::string refusal(const wire::StateLink& link) const {
    const Status status = wire::check_votes("poems", link, check_signature);
    return status.ok() ? "" : status.error().message;
  }
  [[nodiscard]] wire::StateProof proof(std::vector<wire::StateLink> links) const {
    return {sign_statement({"poems", 7, state_of(7), 99, wire::StatementCause::start}, project), std::move(links)};
  }
  [[nodiscard]] std::string refusal(const wire::StateProof& proof, const RunId& run_id = "poems") const {
    const auto proven = verify_proof(proof, run_id, project.public_key());
    return proven.ok() ? "" : proven.error().message;
  }
};

}  // namespace

TEST_CASE("more than half of the accounts carry a link, each with one vote") {
  const Group group;
  const std::string of_round_7 = "the link of round 7 does not hold: ";
  CHECK(group.refusal(group.link(7, {0, 1})).empty());
  CHECK(group.refusal(group.link(7, {1, 3})).empty());
  CHECK(group.refusal(group.link(7, {0})) == of_round_7 + "1 of 3 accounts have signed it");
  CHECK(group.refusal(group.link(7, {2, 3})) == of_round_7 + "an account votes twice");
  CHECK(group.refusal(group.link(7, {0, 4})) == of_round_7 + "a member votes that has no vote");
  wire::StateLink half = group.link(7, {0, 1});
  half.voters[4].voter = 4;
  CHECK(group.refusal(half) == of_round_7 + "2 of 4 accounts have signed it");
  wire::StateLink outside = group.link(7, {0, 1});
  outside.votes[1].rank = 5;
  CHECK(group.refusal(outside) == of_round_7 + "somebody votes who is not in the group");
  wire::StateLink repeated = group.link(7, {0, 1});
  repeated.voters[2].peer = repeated.voters[0].peer;
  CHECK(group.refusal(repeated) == of_round_7 + "a member is named twice");
}

TEST_CASE("votes for another run, round, state or by another key do not fit") {
  const Group group;
  const auto fits = [&](const wire::StateLink& link) {
    return group.refusal(link).find("a signature does not fit") == std::string::npos;
  };
  CHECK(fits(group.link(7, {0, 1})));
  CHECK_FALSE(fits(group.link(7, {0, 1}, "prose")));
  for (const auto change :
       {+[](wire::StateLink& link) { link.round += 1; }, +[](wire::StateLink& link) { link.group.bytes[0] ^= 1; },
        +[](wire::StateLink& link) { link.base_digest.bytes[0] ^= 1; },
        +[](wire::StateLink& link) { link.result_digest.bytes[0] ^= 1; },
        +[](wire::StateLink& link) { link.state_digest.bytes[0] ^= 1; },
        +[](wire::StateLink& link) { link.votes[0].signature = link.votes[1].signature; }}) {
    wire::StateLink changed = group.link(7, {0, 1});
    change(changed);
    CHECK_FALSE(fits(changed));
  }
}

TEST_CASE("a proof leads from the statement's state to the newest") {
  const Group group;
  const auto proven =
      verify_proof(group.proof({group.link(7, {0, 1}), group.link(8, {0, 2})}), "poems", group.project.public_key());
  REQUIRE(proven.ok());
  CHECK(proven->statement.serial == 99);
  REQUIRE(proven->path.size() == 3);
  CHECK(proven->path.front().round == 7);
  CHECK(proven->path.back().round == 9);
  CHECK(proven->path.back().digest == state_of(9));
}

TEST_CASE("a proof of another run, with a gap, or sealed by somebody else does not hold") {
  const Group group;
  CHECK(group.refusal(group.proof({})).empty());
  CHECK(group.refusal(group.proof({}), "prose") == "the statement is about another run");
  CHECK(group.refusal(group.proof({group.link(8, {0, 1})})) ==
        "the link of round 8 does not follow from the state of round 7");
  wire::StateLink shrunk = group.link(7, {0, 1});
  shrunk.voters.resize(3);
  CHECK(group.refusal(group.proof({shrunk})) == "the seal of the link of round 7 is not the project's");
  const Group stranger;
  CHECK(verify_proof(group.proof({}), "poems", stranger.project.public_key()).error().code ==
        ErrorCode::permission_denied);
}

TEST_CASE("a key that the root has certified states and seals") {
  Group group;
  const PrivateKey root = group.project;
  group.project = PrivateKey::generate();
  const SigningKey certified(group.project, certify_key({3, group.project.public_key()}, root));
  wire::StateProof proof = group.proof({group.link(7, {0, 1})});
  CHECK_FALSE(verify_proof(proof, "poems", root.public_key()).ok());
  proof.statement = sign_statement({"poems", 7, state_of(7), 99, wire::StatementCause::advance}, certified);
  CHECK(proof.statement.size() < wire::kStatementBytesMax);
  const auto proven = verify_proof(proof, "poems", root.public_key());
  REQUIRE(proven.ok());
  CHECK(proven->key_number == 3);
}
