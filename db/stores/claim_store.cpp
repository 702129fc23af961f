#include "db/stores/sql_stores.h"

namespace starling::db {
namespace {

Result<UnconfirmedClaim> read_claim(const Statement& row) {
  UnconfirmedClaim claim;
  claim.run_id = row.text(0);
  claim.round = row.integer(1);
  STARLING_TRY(row.read_id(2, claim.peer_id));
  claim.account_id = row.integer(3);
  claim.samples = row.integer(4);
  claim.at = {row.integer(5)};
  return claim;
}

}  // namespace

Status SqlClaimStore::add(const UnconfirmedClaim& claim) {
  return access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_ASSIGN(
            Statement insert,
            connection.prepare("INSERT INTO unconfirmed_claim (run, round, host, account_id, samples, at_ms) "
                               "VALUES ((SELECT number FROM run WHERE run_id = ?), ?, (SELECT id FROM host "
                               "WHERE peer_id = ?), ?, ?, ?) ON CONFLICT DO NOTHING"));
        STARLING_TRY(
            insert.bind(claim.run_id, claim.round, claim.peer_id, claim.account_id, claim.samples, claim.at.unix_ms)
                .run());
        STARLING_ASSIGN(Statement forget, connection.prepare("DELETE FROM unconfirmed_claim WHERE at_ms < ?"));
        return forget.bind(claim.at.unix_ms - kClaimsKeptMs).run();
      },
      WriteQueue::By::leader);
}

Result<ClaimSums> SqlClaimStore::of(AccountId account) const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(Statement sum, reader->prepare("SELECT count(*), coalesce(sum(samples), 0) FROM unconfirmed_claim "
                                                 "WHERE account_id = ?"));
  STARLING_TRY(sum.bind(account).step().status());
  return ClaimSums{sum.integer(0), sum.integer(1)};
}

Result<std::vector<UnconfirmedClaim>> SqlClaimStore::list(const Page& page) const {
  return select(access_,
                "SELECT run.run_id, claim.round, host.peer_id, claim.account_id, claim.samples, claim.at_ms "
                "FROM unconfirmed_claim AS claim JOIN run ON run.number = claim.run JOIN host ON host.id = claim.host "
                "ORDER BY claim.at_ms DESC, claim.round DESC, claim.host LIMIT ? OFFSET ?",
                read_claim, limit_of(page), offset_of(page));
}

}  // namespace starling::db
