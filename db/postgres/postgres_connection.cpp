#include "db/postgres/postgres_connection.h"

#include <fmt/core.h>
#include <poll.h>

#include <utility>

#include "db/postgres/address.h"
#include "db/postgres/errors.h"
#include "db/postgres/placeholders.h"
#include "db/sql/failure_text.h"
#include "db/sql/transaction.h"
#include "shared/base/log.h"

namespace starling::db {
namespace {

constexpr int kServerVersionMin = 140'000;  // the first with idle_session_timeout
constexpr std::size_t kStatementsMax = 512;

// Advisory locks of this program; the first number identifies it ("Strl").
constexpr int kLocks = 0x5374726c;
constexpr int kWriterLock = 1;
constexpr int kLeaderLock = 2;

// Make both ends notice a silent server or network within seconds.
constexpr const char* kNoticeSilence =
    "SET tcp_keepalives_idle = 1; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 2;"
    "SET tcp_user_timeout = 3000;";
constexpr const char* kReaderSettings = "SET default_transaction_read_only = on;";
// Limits for writers: one that falls silent in a transaction would keep all others waiting.
constexpr const char* kWriterSettings =
    "SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '3s';"
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';";

ErrorCode code_of_refusal(std::string_view message) {
  // A failed connection has no SQLSTATE. These are words of the server's messages; in any language but English, they
  // are followed by the words of the server's log.
  if (message.find("authentication") != std::string_view::npos || message.find("password") != std::string_view::npos ||
      message.find("pg_hba.conf") != std::string_view::npos || message.find("role") != std::string_view::npos) {
    return ErrorCode::permission_denied;
  }
  if (message.find("does not exist") != std::string_view::npos) return ErrorCode::not_found;
  return ErrorCode::unavailable;
}

// libpqxx 7.10 renamed the calls for notices and prepared statements.
#if PQXX_VERSION_MAJOR < 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR < 10)
#define STARLING_PQXX_OLDER_WORDS
#endif

#if PQXX_VERSION_MAJOR >= 7
constexpr auto kReadOnly = pqxx::write_policy::read_only;
#else
constexpr auto kReadOnly = pqxx::read_only;
#endif

using ReadTransaction = pqxx::transaction<pqxx::repeatable_read, kReadOnly>;
using WriteTransaction = pqxx::transaction<pqxx::read_committed>;

// A lost session stays lost, since locks and settings belong to it. Version 7 never reconnects anyway.
void never_connect_again([[maybe_unused]] pqxx::connection& connection) {
#if PQXX_VERSION_MAJOR < 7
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
#endif
}

void prepare_at_once(pqxx::connection& connection, const std::string& name, const std::string& sql) {
  connection.prepare(name, sql);
#if PQXX_VERSION_MAJOR < 7
  connection.prepare_now(name);
#endif
}

pqxx::result run_prepared(pqxx::transaction_base& transaction, const std::string& name,
                          const std::vector<const char*>& values) {
#if PQXX_VERSION_MAJOR < 7
  return transaction.exec_prepared(name, pqxx::prepare::make_dynamic_params(values));
#else
  pqxx::params parameters;
  for (const char* value : values) parameters.append(value);
#ifdef STARLING_PQXX_OLDER_WORDS
  return transaction.exec_prepared(name, parameters);
#else
  return transaction.exec(pqxx::prepped(name), parameters);
#endif
#endif
}

bool writes(std::string_view sql) {
  return sql.starts_with("INSERT") || sql.starts_with("UPDATE") || sql.starts_with("DELETE");
}

}  // namespace

#ifdef STARLING_PQXX_OLDER_WORDS
class PostgresConnection::Notices final : public pqxx::errorhandler {
 public:
  using pqxx::errorhandler::errorhandler;
  bool operator()(const char notice[]) noexcept override {
    log_debug("PostgreSQL: {}", plain(notice));
    return false;
  }
};
#else
class PostgresConnection::Notices final {
 public:
  explicit Notices(pqxx::connection& connection) {
    connection.set_notice_handler([](pqxx::zview notice) { log_debug("PostgreSQL: {}", plain(notice)); });
  }
};
#endif

Result<Connection> open_server(const std::string& url, ServerRole role) {
  STARLING_ASSIGN(auto opened, PostgresConnection::open(url, role));
  return Connection(std::move(opened));
}

PostgresConnection::PostgresConnection(std::string name, const std::string& options)
    : name_(std::move(name)),
      native_(std::make_unique<pqxx::connection>(options)),
      notices_(new Notices(*native_)),
      cache_(kStatementsMax) {
  never_connect_again(*native_);
}

// The connection is closed first: its statements vanish with it.
PostgresConnection::~PostgresConnection() {
  transaction_.reset();
  notices_.reset();
  native_.reset();
}

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const std::string& url, ServerRole role) {
  STARLING_ASSIGN(const std::string address, public_address(url));
  STARLING_ASSIGN(const std::string options, connection_options(url));
  const std::string name = fmt::format("database '{}'", address);
  std::unique_ptr<PostgresConnection> connection;
  try {
    connection.reset(new PostgresConnection(name, options));
  } catch (const pqxx::failure& refusal) {
    const std::string why = plain(refusal.what());
    return Error{code_of_refusal(why), fmt::format("open {}: {}", name, why)};
  }
  if (Status ready = connection->set_up(role); !ready) return ready.error().prefixed("open");
  return connection;
}

Status PostgresConnection::set_up(ServerRole role) {
  if (const int version = native_->server_version(); version < kServerVersionMin) {
    return Error{ErrorCode::unsupported, fmt::format("{}: its server is PostgreSQL {}; {} or newer is needed", name_,
                                                     version / 10'000, kServerVersionMin / 10'000)};
  }
  STARLING_TRY(check_encoding());
  STARLING_TRY(execute(kNoticeSilence));
  return execute(role == ServerRole::reader ? kReaderSettings : kWriterSettings);
}

// Other encodings lack some letters, or treat bytes as letters. SQL_ASCII is a server's default if no locale was set at
// its installation.
Status PostgresConnection::check_encoding() {
  constexpr const char* kAsked = "SHOW server_encoding";
  STARLING_ASSIGN(const pqxx::result found,
                  attempt(kAsked, [&](pqxx::transaction_base& transaction) { return transaction.exec(kAsked); }));
  const std::string encoding = found[0][0].c_str();
  if (encoding == "UTF8") return {};
  return Error{ErrorCode::unsupported,
               fmt::format("{} keeps text in {}; make one that keeps it in UTF-8: createdb --template template0 "
                           "--encoding UTF8 --locale C.UTF-8 …",
                           name_, encoding)};
}

template <typename Act>
Result<pqxx::result> PostgresConnection::attempt(std::string_view sql, Act act) {
  const auto refused = [&](ErrorCode code, const char* what) {
    failed_ = true;
    return Error{native_->is_open() ? code : ErrorCode::unavailable, failure_text(name_, reason(what), sql)};
  };
  try {
    pqxx::result result;
    if (transaction_) {
      result = act(*transaction_);
    } else {
      pqxx::nontransaction alone(*native_);
      result = act(alone);
    }
    if (writes(sql)) changes_ = static_cast<std::int64_t>(result.affected_rows());
    if (sql.starts_with("ROLLBACK TO")) failed_ = false;
    return result;
  } catch (const pqxx::sql_error& error) {
    return refused(code_of_state(error.sqlstate()), error.what());
  } catch (const pqxx::broken_connection& error) {  // or a wrong use, if it is still open
    return refused(ErrorCode::internal, error.what());
  } catch (const pqxx::failure& error) {  // another transaction was in the way, or this one's outcome is unknown
    return refused(ErrorCode::unavailable, error.what());
  } catch (const std::exception& error) {
    return refused(ErrorCode::internal, error.what());
  }
}

Result<pqxx::result> PostgresConnection::run(const std::string& name, const std::vector<const char*>& values,
                                             std::string_view sql) {
  return attempt(sql, [&](pqxx::transaction_base& transaction) { return run_prepared(transaction, name, values); });
}

// Best effort: a lost connection has forgotten it already.
void PostgresConnection::forget(const std::string& name) {
  if (!native_ || !native_->is_open()) return;
  try {
    native_->unprepare(name);
  } catch (const std::exception& error) {
    log_debug("{}: {}", name_, plain(error.what()));
  }
}

Result<StatementHandle> PostgresConnection::prepare(std::string_view sql) {
  if (auto cached = cache_.take(sql)) return StatementHandle(cached.release());
  const std::string name = fmt::format("s{}", ++prepared_);
  STARLING_TRY(attempt(sql, [&](pqxx::transaction_base&) {
                 prepare_at_once(*native_, name, numbered_parameters(sql));
                 return pqxx::result();
               }).status());
  return StatementHandle(std::make_unique<PostgresStatement>(*this, std::string(sql), name).release());
}

Status PostgresConnection::execute(const std::string& script) {
  return attempt(script, [&](pqxx::transaction_base& transaction) { return transaction.exec(script); }).status();
}

Status PostgresConnection::begin(TransactionKind kind) {
  const bool reads = kind == TransactionKind::read;
  try {
    failed_ = false;
    if (reads) {
      transaction_ = std::make_unique<ReadTransaction>(*native_);
    } else {
      transaction_ = std::make_unique<WriteTransaction>(*native_);
    }
  } catch (const std::exception& error) {
    return Error{ErrorCode::unavailable, failure_text(name_, reason(error.what()), "BEGIN")};
  }
  if (reads) return {};
  const Status locked = execute(fmt::format("SELECT pg_advisory_xact_lock({}, {})", kLocks, kWriterLock));
  if (!locked) roll_back();
  return locked;
}

Status PostgresConnection::commit() {
  // PostgreSQL would undo everything and report success.
  if (failed_) {
    return Error{ErrorCode::internal, failure_text(name_, "a statement had failed; nothing was written", "COMMIT")};
  }
  const Status done = attempt("COMMIT", [](pqxx::transaction_base& transaction) {
                        transaction.commit();
                        return pqxx::result();
                      }).status();
  if (done) transaction_.reset();
  return done;
}

void PostgresConnection::roll_back() { transaction_.reset(); }

bool PostgresConnection::usable() const {
  if (!native_->is_open()) return false;
  // An idle server sends hardly anything but its farewell.
  pollfd socket{native_->sock(), POLLIN, 0};
  if (::poll(&socket, 1, 0) <= 0) return true;
  try {
    native_->get_notifs();
    return native_->is_open();
  } catch (const pqxx::failure&) {
    return false;
  }
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
