#include "gui/link/daemon_link.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "gui/link/daemon_starter.h"
#include "shared/base/files.h"
#include "tests/gui/support/qt_test.h"
#include "tests/gui/support/real_daemon.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::link;
using namespace std::chrono_literals;
using starling::testing::wait_for;

namespace {

// A link, and its signals so far.
struct Watcher {
  explicit Watcher(const std::filesystem::path& data_dir, std::chrono::milliseconds silence_max = 20s)
      : link({data_dir, 50ms, 10ms, silence_max}) {
    QObject::connect(&link, &DaemonLink::statusArrived, &link,
                     [this](const wire::DaemonStatus& arrived) { status = arrived; });
    link.open();
  }
  bool reaches(LinkState state, std::chrono::milliseconds limit = 60s) {
    return wait_for([&] { return link.state() == state; }, limit);
  }

  DaemonLink link;
  std::optional<wire::DaemonStatus> status;
};

// The daemon's reply to a request.
Reply answer(DaemonLink& link, const wire::ControlRequest& request) {
  std::optional<Reply> answered;
  link.ask(request, [&](const Reply& reply) { answered = reply; });
  REQUIRE(wait_for([&] { return answered.has_value(); }));
  return *answered;
}

}  // namespace

TEST_CASE("the daemon's status arrives, and again when it changes") {
  testing::need_qt();
  testing::RealDaemon daemon;
  daemon.start();
  Watcher watcher(daemon.data_dir());
  REQUIRE(wait_for([&] { return watcher.status.has_value(); }));
  CHECK(watcher.link.state() == LinkState::connected);
  CHECK_FALSE(watcher.status->paused);

  const Reply paused = answer(watcher.link, wire::Pause{});
  REQUIRE(paused.ok());
  CHECK(paused->text.find("until you resume") != std::string::npos);
  CHECK(wait_for([&] { return watcher.status->rules.code == "paused"; }));
}

TEST_CASE("a refusal comes back as an error") {
  testing::need_qt();
  testing::RealDaemon daemon;
  daemon.start();
  Watcher watcher(daemon.data_dir());
  REQUIRE(watcher.reaches(LinkState::connected));
  const wire::JoinProject join{"https://example.org/", "Ada", {}, {}};
  const Reply refused = answer(watcher.link, join);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("a killed daemon is noticed within three seconds, and a new one found") {
  testing::need_qt();
  testing::RealDaemon daemon;
  daemon.start();
  Watcher watcher(daemon.data_dir());
  REQUIRE(watcher.reaches(LinkState::connected));
  daemon.kill();
  CHECK(watcher.reaches(LinkState::gone));
  CHECK(watcher.link.problem().code == ErrorCode::unavailable);
  const Reply nobody = answer(watcher.link, wire::Pause{});
  CHECK(nobody.error().code == ErrorCode::unavailable);

  watcher.status.reset();
  daemon.start();
  CHECK(watcher.reaches(LinkState::connected));
  CHECK(wait_for([&] { return watcher.status.has_value(); }));
}

TEST_CASE("a daemon that hangs counts as gone") {
  testing::need_qt();
  testing::RealDaemon daemon;
  daemon.start();
  Watcher watcher(daemon.data_dir(), 300ms);
  REQUIRE(watcher.reaches(LinkState::connected));
  daemon.signal(SIGSTOP);
  CHECK(watcher.reaches(LinkState::gone));
  CHECK(watcher.link.problem().code == ErrorCode::deadline_exceeded);
  daemon.signal(SIGCONT);
  CHECK(watcher.reaches(LinkState::connected));
}

TEST_CASE("requests beyond the limit are refused, and the others answered") {
  testing::need_qt();
  testing::RealDaemon daemon;
  daemon.start();
  Watcher watcher(daemon.data_dir());
  REQUIRE(watcher.reaches(LinkState::connected));
  int good = 0;
  int refused = 0;
  for (int i = 0; i < DaemonLink::kRequestsMax + 3; ++i) {
    watcher.link.ask(wire::GetPreferences{}, [&](const Reply& reply) { ++(reply.ok() ? good : refused); });
  }
  REQUIRE(wait_for([&] { return good + refused == DaemonLink::kRequestsMax + 3; }));
  CHECK(refused == 3);
}

TEST_CASE("without a daemon, one is started on request, as nobody's child, and ends on request") {
  testing::need_qt();
  const starling::testing::TempDir dir;
  Watcher watcher(dir.path());
  REQUIRE(watcher.reaches(LinkState::gone));
  REQUIRE(startDaemon(QString::fromUtf8(testing::RealDaemon::program()), dir.path()).ok());
  CHECK(watcher.reaches(LinkState::connected));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
  CHECK(answer(watcher.link, wire::StopDaemon{}).ok());
  CHECK(watcher.reaches(LinkState::gone));
}

TEST_CASE("a missing program is named, with what to do") {
  const starling::testing::TempDir dir;
  const Status started = startDaemon(QStringLiteral("/nowhere/starlingd"), dir.path());
  REQUIRE_FALSE(started.ok());
  CHECK(started.error().message.find("install Starling again") != std::string::npos);
}

TEST_CASE("programs of an installation that updates itself are called by a path that lasts") {
  const starling::testing::TempDir dir;
  namespace fs = std::filesystem;
  fs::create_directories(dir / "versions/1.2.0/bin");
  fs::create_symlink("versions/1.2.0", dir / "current");
  const QString folder = QString::fromStdString((dir / "versions/1.2.0/bin").string());
  CHECK(lastingFolder(folder) == folder);
  REQUIRE(write_file_atomically(dir / "installation.json", "{\"layout\":1}").ok());
  CHECK(lastingFolder(folder) == QString::fromStdString((dir / "current/bin").string()));
  CHECK(lastingFolder(QStringLiteral("/usr/bin")) == QStringLiteral("/usr/bin"));
}

TEST_CASE("a program whose installation has changed to another version has a successor there") {
  namespace fs = std::filesystem;
  const starling::testing::TempDir dir;
  for (const char* version : {"1.2.0", "1.3.0"}) {
    const fs::path folder = dir / "versions" / version / "bin";
    fs::create_directories(folder);
    fs::copy_file("/bin/true", folder / "starling-tray");
  }
  REQUIRE(write_file_atomically(dir / "installation.json", "{\"layout\":1}").ok());
  fs::create_symlink("versions/1.2.0", dir / "current");
  const QString old = QString::fromStdString((dir / "versions/1.2.0/bin/starling-tray").string());
  CHECK(successorOf(old).isEmpty());
  fs::remove(dir / "current");
  fs::create_symlink("versions/1.3.0", dir / "current");
  CHECK(successorOf(old) == QString::fromStdString((dir / "current/bin/starling-tray").string()));
  fs::remove(dir / "versions/1.3.0/bin/starling-tray");
  CHECK(successorOf(old).isEmpty());
  CHECK(successorOf(QStringLiteral("/usr/bin/starling-tray")).isEmpty());
}
