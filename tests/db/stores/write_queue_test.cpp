#include "db/stores/write_queue.h"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "db/sqlite/open.h"
#include "db/stores/file_writer.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::db;
using starling::testing::TempDir;

namespace {

// Holds the writer's thread inside an operation, so that everything submitted meanwhile shares the next commit.
class Gatekeeper {
 public:
  WriteQueue::Operation operation() {
    return [this](Connection&) -> Status {
      entered_.set_value();
      opened_.get_future().wait();
      return {};
    };
  }
  void wait_until_held() { entered_.get_future().wait(); }
  void open() { opened_.set_value(); }

 private:
  std::promise<void> entered_;
  std::promise<void> opened_;
};

struct Fixture {
  TempDir dir;
  std::unique_ptr<WriteQueue> queue;

  void start(WriteQueueOptions options = {}, const FileWriterOptions& file_options = {}) {
    options.commit_interval = from_ms(0);
    Connection connection = open_file(dir / "a.db", {.mode = OpenMode::create}).value();
    REQUIRE(connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY) STRICT").ok());
    queue = std::make_unique<WriteQueue>(
        std::make_unique<FileWriter>(dir / "a.db", std::move(connection), WriteLock::open(dir / "a.db.lock").value(),
                                     file_options),
        options);
  }
  static WriteQueue::Operation insert(std::int64_t k) {
    return [k](Connection& connection) -> Status {
      STARLING_ASSIGN(Statement statement, connection.prepare("INSERT INTO t (k) VALUES (?)"));
      return statement.bind(k).run();
    };
  }
  std::int64_t rows() {
    Connection reader = open_file(dir / "a.db", {}).value();
    return reader.query_int("SELECT count(*) FROM t").value();
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a write is there when run() returns") {
  start();
  REQUIRE(queue->run(insert(1)).ok());
  CHECK(rows() == 1);
}

TEST_CASE_FIXTURE(Fixture, "writes that wait share one commit, and one that fails spoils only itself") {
  start();
  Gatekeeper gatekeeper;
  REQUIRE(queue->submit(gatekeeper.operation(), [](const Status&) {}).ok());
  gatekeeper.wait_until_held();
  std::vector<std::future<Status>> outcomes;
  for (const std::int64_t k : {1, 2, 2, 3}) {
    auto promise = std::make_shared<std::promise<Status>>();
    outcomes.push_back(promise->get_future());
    REQUIRE(queue->submit(insert(k), [promise](const Status& status) { promise->set_value(status); }).ok());
  }
  gatekeeper.open();
  std::vector<bool> ok;
  for (auto& outcome : outcomes) ok.push_back(outcome.get().ok());
  CHECK(ok == std::vector<bool>{true, true, false, true});
  CHECK(rows() == 3);
  CHECK(queue->stats().commits == 2);
}

TEST_CASE_FIXTURE(Fixture, "nobody is told ok before a reader can see the row") {
  start();
  for (std::int64_t k = 0; k < 20; ++k) {
    std::promise<std::int64_t> seen;
    REQUIRE(queue->submit(insert(k), [&](const Status& status) { seen.set_value(status.ok() ? rows() : -1); }).ok());
    CHECK(seen.get_future().get() == k + 1);
  }
}

TEST_CASE_FIXTURE(Fixture, "a full queue refuses and never calls back; what was taken is still done") {
  start({.queue_max = 2});
  Gatekeeper gatekeeper;
  REQUIRE(queue->submit(gatekeeper.operation(), [](const Status&) {}).ok());
  gatekeeper.wait_until_held();
  int called = 0;
  const auto count = [&called](const Status&) { ++called; };
  REQUIRE(queue->submit(insert(1), count).ok());
  REQUIRE(queue->submit(insert(2), count).ok());
  CHECK(queue->submit(insert(3), count).error().code == ErrorCode::resource_exhausted);
  gatekeeper.open();
  queue.reset();
  CHECK(called == 2);
  CHECK(rows() == 2);
}

TEST_CASE_FIXTURE(Fixture, "a batch is no longer than its bound") {
  start({.batch_max = 2});
  Gatekeeper gatekeeper;
  REQUIRE(queue->submit(gatekeeper.operation(), [](const Status&) {}).ok());
  gatekeeper.wait_until_held();
  std::promise<void> last;
  for (std::int64_t k = 1; k <= 5; ++k) {
    const bool is_last = k == 5;
    REQUIRE(queue
                ->submit(insert(k),
                         [&last, is_last](const Status&) {
                           if (is_last) last.set_value();
                         })
                .ok());
  }
  gatekeeper.open();
  last.get_future().wait();
  CHECK(queue->stats().commits == 4);
}

TEST_CASE_FIXTURE(Fixture, "closing commits what was queued and leaves an empty log") {
  start();
  for (std::int64_t k = 0; k < 100; ++k) REQUIRE(queue->submit(insert(k), [](const Status&) {}).ok());
  queue.reset();
  CHECK(rows() == 100);
  std::error_code missing;
  const auto wal = std::filesystem::file_size(dir / "a.db-wal", missing);
  CHECK((missing || wal == 0));
}

TEST_CASE_FIXTURE(Fixture, "the log is moved into the file as it grows") {
  start();
  const auto fill = [](Connection& connection) {
    return connection.execute(
        "CREATE TABLE IF NOT EXISTS big (b BLOB);"
        "INSERT INTO big VALUES (zeroblob(3000000))");
  };
  for (int i = 0; i < 12; ++i) REQUIRE(queue->run(fill).ok());
  CHECK(std::filesystem::file_size(dir / "a.db-wal") < 16u * 1024 * 1024);
}

TEST_CASE_FIXTURE(Fixture, "another process that keeps the write lock costs its own time only") {
  start({}, {.lock_patience = from_ms(20)});
  {
    const WriteLock other = WriteLock::open(dir / "a.db.lock").value();
    const WriteLock::Held held = other.acquire(from_ms(0)).value();
    CHECK(queue->run(insert(1)).error().code == ErrorCode::unavailable);
  }
  CHECK(queue->run(insert(1)).ok());
}
