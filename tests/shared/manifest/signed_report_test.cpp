#include "shared/manifest/signed_report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace starling;
using namespace starling::manifest;
using crypto::PrivateKey;

namespace {

wire::RoundReport report_by(const PrivateKey& key) {
  wire::RoundReport report;
  report.round = 7;
  report.group.bytes.fill(1);
  report.base_digest.bytes.fill(2);
  report.result_digest.bytes.fill(3);
  report.state_digest.bytes.fill(4);
  sign_report("poems", key, report);
  return report;
}

}  // namespace

TEST_CASE("a key's raw bytes lead to its owner's id") {
  const PrivateKey key = PrivateKey::generate();
  const wire::RoundReport report = report_by(key);
  const std::vector<std::uint8_t> spki = key.public_key().spki();  // the raw bytes are its end
  CHECK(std::equal(report.signature->key.bytes.rbegin(), report.signature->key.bytes.rend(), spki.rbegin()));
  CHECK(check_report_signature("poems", key.peer_id(), report).ok());
}

TEST_CASE("a signature fits its run, round, group, states and signer only") {
  const PrivateKey key = PrivateKey::generate();
  const wire::RoundReport report = report_by(key);
  const auto why = [&](const RunId& run_id, const wire::RoundReport& told) {
    const Status status = check_report_signature(run_id, key.peer_id(), told);
    REQUIRE(!status.ok());
    return status.error().message;
  };
  const std::string other = "the report of round 7 does not count: its signature belongs to another report";
  CHECK(why("prose", report) == other);
  for (const auto change : {+[](wire::RoundReport& told) { told.group.bytes[0] ^= 1; },
                            +[](wire::RoundReport& told) { told.base_digest.bytes[0] ^= 1; },
                            +[](wire::RoundReport& told) { told.result_digest.bytes[0] ^= 1; },
                            +[](wire::RoundReport& told) { told.state_digest.bytes[0] ^= 1; },
                            +[](wire::RoundReport& told) { told.signature->signature.bytes[0] ^= 1; }}) {
    wire::RoundReport changed = report;
    change(changed);
    CHECK(why("poems", changed) == other);
  }
  wire::RoundReport bare = report;
  bare.signature.reset();
  CHECK(why("poems", bare) == "the report of round 7 does not count: it is not signed");
  CHECK(check_report_signature("poems", PrivateKey::generate().peer_id(), report).error().message ==
        "the report of round 7 does not count: it is signed with another computer's key");
}
