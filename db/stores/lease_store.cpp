#include "db/stores/sql_stores.h"

namespace starling::db {
namespace {

Result<LeasedSamples> read_lease(const Statement& row) {
  LeasedSamples lease;
  STARLING_TRY(row.read_id(0, lease.peer_id));
  lease.number = row.integer(1);
  lease.process = row.integer(2);
  lease.epoch = row.integer(3);
  lease.first = row.integer(4);
  lease.samples = row.integer(5);
  lease.last_round = row.integer(6);
  return lease;
}

Result<EpochProgress> read_epoch(const Statement& row) {
  return EpochProgress{row.integer(0), row.integer(1), row.integer(2), row.integer(3)};
}

Result<SampleTried> read_tried(const Statement& row) {
  SampleTried tried;
  STARLING_TRY(row.read_id(0, tried.peer));
  tried.account = row.integer(1);
  tried.epoch = row.integer(2);
  tried.place = row.integer(3);
  tried.last_round = row.integer(4);
  return tried;
}

Result<SampleSetAside> read_set_aside(const Statement& row) { return SampleSetAside{row.integer(0), row.integer(1)}; }

Result<CountedSamples> read_counted(const Statement& row) {
  CountedSamples counted;
  STARLING_TRY(row.read_id(0, counted.peer));
  counted.epoch = row.integer(1);
  counted.first = row.integer(2);
  counted.count = row.integer(3);
  return counted;
}

Result<std::int64_t> read_number(const Statement& row) { return row.integer(0); }

}  // namespace

Status SqlLeaseStore::add(const RunId& run_id, SampleCount epoch_samples, const std::vector<LeasedSamples>& leases) {
  return access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_ASSIGN(Statement open, connection.prepare("INSERT INTO sample_epoch (run_id, epoch, samples) "
                                                           "VALUES (?, ?, ?) ON CONFLICT DO NOTHING"));
        STARLING_ASSIGN(Statement insert,
                        connection.prepare("INSERT INTO sample_lease (run_id, peer_id, number, process, epoch, "
                                           "first_sample, samples, last_round) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
        for (const LeasedSamples& lease : leases) {
          STARLING_TRY(open.bind(run_id, lease.epoch, epoch_samples).run());
          STARLING_TRY(insert
                           .bind(run_id, lease.peer_id, lease.number, lease.process, lease.epoch, lease.first,
                                 lease.samples, lease.last_round)
                           .run());
        }
        return {};
      },
      WriteQueue::By::leader);
}

Result<std::vector<LeasedSamples>> SqlLeaseStore::held(const RunId& run_id) const {
  return select(access_,
                "SELECT peer_id, number, process, epoch, first_sample, samples, last_round FROM sample_lease "
                "WHERE run_id = ? ORDER BY peer_id, number",
                read_lease, run_id);
}

Status SqlLeaseStore::add_tried(const RunId& run_id, const std::vector<SampleTried>& tries, std::int64_t oldest_epoch) {
  return access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_ASSIGN(Statement forget,
                        connection.prepare("DELETE FROM sample_tried WHERE run_id = ? AND epoch < ?"));
        STARLING_TRY(forget.bind(run_id, oldest_epoch).run());
        STARLING_ASSIGN(Statement insert,
                        connection.prepare("INSERT INTO sample_tried (run_id, epoch, place, peer_id, last_round, "
                                           "account_id) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"));
        for (const SampleTried& one : tries) {
          STARLING_TRY(insert.bind(run_id, one.epoch, one.place, one.peer, one.last_round, one.account).run());
        }
        return {};
      },
      WriteQueue::By::leader);
}

Result<std::vector<SampleTried>> SqlLeaseStore::tried(const RunId& run_id) const {
  return select(access_,
                "SELECT peer_id, account_id, epoch, place, last_round FROM sample_tried WHERE run_id = ? "
                "ORDER BY epoch, place, peer_id, last_round",
                read_tried, run_id);
}

Status SqlLeaseStore::set_aside(const RunId& run_id, const SampleSetAside& sample) {
  return access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_ASSIGN(Statement forget, connection.prepare("DELETE FROM sample_tried "
                                                             "WHERE run_id = ? AND epoch = ? AND place = ?"));
        STARLING_TRY(forget.bind(run_id, sample.epoch, sample.place).run());
        STARLING_ASSIGN(Statement insert, connection.prepare("INSERT INTO sample_set_aside (run_id, epoch, place) "
                                                             "VALUES (?, ?, ?) ON CONFLICT DO NOTHING"));
        return insert.bind(run_id, sample.epoch, sample.place).run();
      },
      WriteQueue::By::leader);
}

Result<std::vector<SampleSetAside>> SqlLeaseStore::all_set_aside(const RunId& run_id, const Page& page) const {
  return select(access_,
                "SELECT epoch, place FROM sample_set_aside WHERE run_id = ? ORDER BY epoch DESC, place "
                "LIMIT ? OFFSET ?",
                read_set_aside, run_id, limit_of(page), offset_of(page));
}

Result<std::int64_t> SqlLeaseStore::count_set_aside(const RunId& run_id) const {
  STARLING_ASSIGN(const auto rows,
                  select(access_, "SELECT count(*) FROM sample_set_aside WHERE run_id = ?", read_number, run_id));
  return rows.front();
}

Result<std::vector<EpochProgress>> SqlLeaseStore::open_epochs(const RunId& run_id) const {
  return select(access_,
                "SELECT epoch, samples, counted, set_aside FROM (SELECT epoch, samples, counted, (SELECT count(*) "
                "FROM sample_set_aside AS sample WHERE sample.run_id = whole.run_id AND sample.epoch = whole.epoch) "
                "AS set_aside FROM sample_epoch AS whole WHERE run_id = ?) AS progress "
                "WHERE counted + set_aside < samples ORDER BY epoch",
                read_epoch, run_id);
}

Result<std::int64_t> SqlLeaseStore::next_epoch(const RunId& run_id) const {
  STARLING_ASSIGN(const auto rows, select(access_,
                                          "SELECT coalesce(max(epoch), -1) + 1 FROM sample_epoch "
                                          "WHERE run_id = ?",
                                          read_number, run_id));
  return rows.front();
}

Result<std::vector<CountedSamples>> SqlLeaseStore::counted(const RunId& run_id, std::int64_t epoch) const {
  return select(access_,
                "SELECT host.peer_id, line.epoch, line.first_sample, line.samples FROM sample_counted AS line "
                "JOIN run ON run.number = line.run JOIN host ON host.id = line.host "
                "WHERE run.run_id = ? AND line.epoch = ? ORDER BY line.first_sample",
                read_counted, run_id, epoch);
}

}  // namespace starling::db
