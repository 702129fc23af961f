#include "db/stores/server_writer.h"

#include <fmt/core.h>

#include <utility>

#include "db/postgres/open.h"
#include "db/sql/transaction.h"
#include "shared/base/log.h"

namespace starling::db {
namespace {

constexpr int kAttemptsMax = 3;
constexpr Duration kServerAwayMax = from_ms(5'000);
constexpr Duration kConnectEvery = from_ms(100);

}  // namespace

ServerWriter::ServerWriter(std::string url, Connection connection)
    : url_(std::move(url)), name_(connection.name()), connection_(std::move(connection)) {}

Status ServerWriter::connect() {
  if (connection_ && !connection_->usable()) hang_up();
  if (connection_) return {};
  STARLING_ASSIGN(Connection opened, open_server(url_, ServerRole::writer));
  log_info("{}: connected again", name_);
  connection_.emplace(std::move(opened));
  return {};
}

void ServerWriter::hang_up() {
  connection_.reset();
  lost_lead_ = lost_lead_ || leads_;
  leads_ = false;
}

Status ServerWriter::write(const Work& work) {
  Status written;
  for (int i = 0; i < kAttemptsMax; ++i) {
    STARLING_TRY(connect());
    std::int64_t number = 0;
    written = attempt(work, number);
    // A server that falls in the middle of a commit may say so before the connection is seen to be closed.
    const bool in_doubt = number != 0 && !written.ok() && written.error().code == ErrorCode::unavailable;
    if (written.ok() || (!in_doubt && connection_->usable())) return written;
    log_warning("{}; connecting again", written.error().message);
    hang_up();
    if (number == 0) continue;  // the connection broke before the commit: nothing was written
    STARLING_ASSIGN(const bool committed, settle(number));
    if (committed) return {};
  }
  return written;
}

// `number` is the transaction's from the moment on at which it may be on the disk.
Status ServerWriter::attempt(const Work& work, std::int64_t& number) {
  STARLING_ASSIGN(Transaction transaction, Transaction::begin(*connection_, TransactionKind::write));
  STARLING_TRY(work(*connection_));
  STARLING_ASSIGN(number, transaction_number(*connection_));
  return transaction.commit();
}

void ServerWriter::hurry() {
  {
    MutexLock lock(mutex_);
    hurry_ = true;
  }
  hurried_.notify_all();
}

bool ServerWriter::hurried_within(Duration time) {
  MutexLock lock(mutex_);
  if (!hurry_) hurried_.wait_for(mutex_, time);
  return hurry_;
}

// Whether the transaction was committed: the server says so, as soon as it is there again.
Result<bool> ServerWriter::settle(std::int64_t number) {
  const SystemClock clock;
  const TimePoint give_up = clock.now() + kServerAwayMax;
  do {
    if (!connect().ok()) continue;
    const Result<bool> committed = was_committed(*connection_, number);
    if (committed) return committed;
  } while (clock.now() < give_up && !hurried_within(kConnectEvery));
  return Error{ErrorCode::unavailable,
               fmt::format("{}: the connection broke while a change was stored, and the server has not come back to "
                           "say whether it was: look before you do it again",
                           name_)};
}

Status ServerWriter::may_lead() const {
  if (!candidate_ || leads_) return {};
  return Error{ErrorCode::failed_precondition, "another coordinator leads by now"};
}

Result<bool> ServerWriter::campaign() {
  candidate_ = true;
  if (std::exchange(lost_lead_, false)) return false;
  STARLING_ASSIGN(const bool held, leads_ ? Result<bool>(true) : take_leader_lock(*connection_));
  if (held) STARLING_TRY(limit_silence(*connection_));
  leads_ = held;
  return leads_;
}

}  // namespace starling::db
