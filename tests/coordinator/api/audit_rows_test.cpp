// Decisions of audits, into the store.
#include "coordinator/api/audit_rows.h"

#include <doctest/doctest.h>

#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

PeerId peer_of(std::uint8_t number) {
  PeerId peer;
  peer.bytes.fill(number);
  return peer;
}

struct Stored : TestProject {
  Stored() {
    REQUIRE(stores().training.runs.create(make_run("one", manifest_key, db::RunState::running)).ok());
    ada = stores().people.accounts.join({"Ada", peer_of(1), {}, {1000}}).value();
  }
  AccountId ada = 0;
};

}  // namespace

TEST_CASE_FIXTURE(Stored, "an audit is stored with its verdict, its auditors and its reason") {
  const std::pair<core::AuditVerdict, db::Verdict> verdicts[] = {
      {core::AuditVerdict::clean, db::Verdict::clean},
      {core::AuditVerdict::missed, db::Verdict::missed},
      {core::AuditVerdict::unchecked, db::Verdict::unchecked},
  };
  RoundIndex round = 7;
  for (const auto& [decided, stored] : verdicts) {
    const core::AuditStored audit{round++, peer_of(1), ada, decided, {peer_of(2), peer_of(3)}, 0.5, "half", {9000}};
    REQUIRE(stores().credit.checks.add(row_of("one", audit)).ok());
    const db::WorkCheck row = stores().credit.checks.list({})->front();
    CHECK(row.run_id == "one");
    CHECK(row.round == audit.round);
    CHECK(row.peer_id == peer_of(1));
    CHECK(row.account_id == ada);
    CHECK(row.verdict == stored);
    CHECK(row.auditors == audit.auditors);
    CHECK(row.distance == 0.5);
    CHECK(row.why == "half");
    CHECK(row.at == WallTime{9000});
  }
}

TEST_CASE_FIXTURE(Stored, "voided credit is the computer's, of that run, from that round on") {
  db::RoundResult result;
  result.record.run_id = "one";
  result.wait = 9;
  for (result.record.round = 0; result.record.round < 4; ++result.record.round) {
    result.contributions = {{peer_of(1), ada, 10, 100, {2000}}};
    REQUIRE(stores().training.contributions.append(result).ok());
  }
  const core::CreditVoided voided{peer_of(1), ada, 2, "it sent zeros", {9000}};
  CHECK(stores().credit.corrections.void_pending(request_of("one", voided))->lines == 2);
  CHECK(stores().credit.corrections.void_pending(request_of("two", voided))->lines == 0);
  CHECK(stores().credit.standings.pending(db::Holder::volunteer, ada)->credit == 200);
}

}  // namespace starling::api::testing
