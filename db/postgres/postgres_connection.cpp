#include "db/postgres/postgres_connection.h"

#include <fmt/core.h>
#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "db/postgres/errors.h"
#include "db/postgres/placeholders.h"
#include "db/sql/failure_text.h"
#include "db/sql/transaction.h"
#include "shared/base/log.h"

namespace starling::db {
namespace {

constexpr int kServerVersionMin = 140'000;  // idle_session_timeout
constexpr std::size_t kStatementsMax = 512;

// Advisory locks of this program: the first number says whose they are ("Strl").
constexpr int kLocks = 0x5374726c;
constexpr int kWriterLock = 1;
constexpr int kLeaderLock = 2;

// A server or a network that has gone silent is noticed within seconds, at both ends.
constexpr const char* kNoticeSilence =
    "SET tcp_keepalives_idle = 1; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 2;"
    "SET tcp_user_timeout = 3000;";
constexpr const char* kReaderSettings = "SET default_transaction_read_only = on;";
// A writer that falls silent in a transaction would keep all others waiting.
constexpr const char* kWriterSettings =
    "SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '3s';"
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';";

struct CloseNative {
  void operator()(PGconn* native) const { PQfinish(native); }
};

ErrorCode code_of_refusal(std::string_view message) {
  // libpq keeps no SQLSTATE of a connection that failed; these are its server's words, in any language but English
  // followed by what the log of the server says.
  if (message.find("authentication") != std::string_view::npos || message.find("password") != std::string_view::npos ||
      message.find("pg_hba.conf") != std::string_view::npos || message.find("role") != std::string_view::npos) {
    return ErrorCode::permission_denied;
  }
  if (message.find("does not exist") != std::string_view::npos) return ErrorCode::not_found;
  return ErrorCode::unavailable;
}

}  // namespace

void ClearResult::operator()(pg_result* result) const { PQclear(result); }

Result<Connection> open_server(const std::string& url, ServerRole role) {
  STARLING_ASSIGN(auto opened, PostgresConnection::open(url, role));
  return Connection(std::move(opened));
}

PostgresConnection::PostgresConnection(std::string name, pg_conn* native)
    : name_(std::move(name)), native_(native), cache_(kStatementsMax) {}

// First the connection: its statements are gone with it.
PostgresConnection::~PostgresConnection() { PQfinish(std::exchange(native_, nullptr)); }

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const std::string& url, ServerRole role) {
  STARLING_ASSIGN(const std::string address, public_address(url));
  const std::array keys = {"connect_timeout",     "dbname",           "fallback_application_name",
                           "client_encoding",     "keepalives_idle",  "keepalives_count",
                           "keepalives_interval", "tcp_user_timeout", static_cast<const char*>(nullptr)};
  const std::array values = {"5", url.c_str(), "starling-coordinator",           "UTF8", "1", "2",
                             "1", "3000",      static_cast<const char*>(nullptr)};
  std::unique_ptr<PGconn, CloseNative> native(PQconnectdbParams(keys.data(), values.data(), 1));
  const std::string name = fmt::format("database '{}'", address);
  if (PQstatus(native.get()) != CONNECTION_OK) {
    const std::string why = plain(PQerrorMessage(native.get()));
    return Error{code_of_refusal(why), fmt::format("open {}: {}", name, why)};
  }
  PQsetNoticeProcessor(
      native.get(), [](void*, const char* notice) { log_debug("PostgreSQL: {}", plain(notice)); }, nullptr);
  std::unique_ptr<PostgresConnection> connection(new PostgresConnection(name, native.release()));
  if (Status ready = connection->set_up(role); !ready) return ready.error().prefixed("open");
  return connection;
}

Status PostgresConnection::set_up(ServerRole role) {
  if (const int version = PQserverVersion(native_); version < kServerVersionMin) {
    return Error{ErrorCode::unsupported, fmt::format("{}: its server is PostgreSQL {}; {} or newer is needed", name_,
                                                     version / 10'000, kServerVersionMin / 10'000)};
  }
  STARLING_TRY(execute(kNoticeSilence));
  return execute(role == ServerRole::reader ? kReaderSettings : kWriterSettings);
}

Status PostgresConnection::judge(const ResultHandle& result, std::string_view sql) {
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY) {
    const std::string_view tag = PQcmdStatus(result.get());
    if (tag.starts_with("INSERT") || tag.starts_with("UPDATE") || tag.starts_with("DELETE")) {
      const std::string_view count = PQcmdTuples(result.get());
      std::from_chars(count.data(), count.data() + count.size(), changes_);
    }
    return {};
  }
  const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  if (state == nullptr || PQstatus(native_) != CONNECTION_OK) {
    return Error{ErrorCode::unavailable, failure_text(name_, plain(PQerrorMessage(native_)), sql)};
  }
  const char* why = PQresultErrorField(result.get(), PG_DIAG_MESSAGE_PRIMARY);
  return Error{code_of_state(state), failure_text(name_, plain(why != nullptr ? why : state), sql)};
}

Result<StatementHandle> PostgresConnection::prepare(std::string_view sql) {
  if (auto cached = cache_.take(sql)) return StatementHandle(cached.release());
  const std::string name = fmt::format("s{}", ++prepared_);
  const ResultHandle prepared(PQprepare(native_, name.c_str(), numbered_parameters(sql).c_str(), 0, nullptr));
  STARLING_TRY(judge(prepared, sql));
  return StatementHandle(std::make_unique<PostgresStatement>(*this, std::string(sql), name).release());
}

Status PostgresConnection::execute(const std::string& script) {
  const ResultHandle result(PQexec(native_, script.c_str()));
  return judge(result, script);
}

Status PostgresConnection::begin(TransactionKind kind) {
  if (kind == TransactionKind::read) return execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const Status begun = execute(
      fmt::format("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({}, {})", kLocks, kWriterLock));
  if (!begun) roll_back();
  return begun;
}

Status PostgresConnection::commit() {
  const ResultHandle result(PQexec(native_, "COMMIT"));
  STARLING_TRY(judge(result, "COMMIT"));
  // A transaction in which something failed is rolled back by this, and that counts as well done.
  if (std::strcmp(PQcmdStatus(result.get()), "COMMIT") == 0) return {};
  return Error{ErrorCode::internal, failure_text(name_, "a statement had failed; nothing was written", "COMMIT")};
}

void PostgresConnection::roll_back() {
  if (in_transaction()) static_cast<void>(execute("ROLLBACK"));
}

bool PostgresConnection::in_transaction() const {
  const PGTransactionStatusType status = PQtransactionStatus(native_);
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

bool PostgresConnection::usable() const {
  if (PQstatus(native_) != CONNECTION_OK) return false;
  // An idle server says little but farewell.
  pollfd socket{PQsocket(native_), POLLIN, 0};
  if (::poll(&socket, 1, 0) <= 0) return true;
  return PQconsumeInput(native_) == 1 && PQstatus(native_) == CONNECTION_OK;
}

Result<std::int64_t> transaction_number(Connection& connection) {
  return connection.query_int("SELECT pg_current_xact_id_if_assigned()::text::bigint");
}

Result<bool> was_committed(Connection& connection, std::int64_t transaction_number) {
  STARLING_ASSIGN(const Transaction after_it, Transaction::begin(connection, TransactionKind::write));
  STARLING_ASSIGN(Statement ask, connection.prepare("SELECT pg_xact_status(CAST(CAST(? AS TEXT) AS xid8))"));
  STARLING_TRY(ask.bind(std::to_string(transaction_number)).step().status());
  return ask.text(0) == "committed";
}

Result<bool> take_leader_lock(Connection& connection) {
  STARLING_ASSIGN(const std::int64_t taken,
                  connection.query_int(fmt::format("SELECT pg_try_advisory_lock({}, {})", kLocks, kLeaderLock)));
  return taken != 0;
}

Status limit_silence(Connection& connection) {
  return connection.execute(fmt::format("SET idle_session_timeout = {}", to_ms(kLeaderSilenceMax)));
}

}  // namespace starling::db
