#include "tests/support/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "shared/base/unique_fd.h"
#include "tests/support/skip.h"

namespace starling::testing {
namespace {

using Command = std::vector<std::string>;

constexpr const char* kUser = "postgres";  // the system's user, and the superuser of the cluster
constexpr int kStartMaxMs = 60'000;        // limit of one step of the start

// Debian keeps each version's programs in a folder of their own.
std::filesystem::path programs() {
  std::filesystem::path newest;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
    if (std::filesystem::exists(entry.path() / "bin/initdb")) newest = std::max(newest, entry.path() / "bin");
  }
  if (newest.empty()) skip("no PostgreSQL server is installed");
  return newest;
}

// In the child: gives up root's rights, and arranges that it ends with the test, however that ends.
void become_harmless() {
  if (::geteuid() == 0) {
    const passwd* user = ::getpwnam(kUser);
    if (user == nullptr || ::initgroups(kUser, user->pw_gid) != 0 || ::setgid(user->pw_gid) != 0 ||
        ::setuid(user->pw_uid) != 0) {
      ::_exit(126);
    }
  }
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
}

pid_t start_program(const Command& command, const std::filesystem::path& log) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  become_harmless();
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execv(words[0], words.data());
  ::_exit(127);
}

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void run(const Command& command, const std::filesystem::path& log) {
  int status = 0;
  if (::waitpid(start_program(command, log), &status, 0) < 0 || status != 0) {
    throw std::runtime_error(command[0] + " failed: " + content(log));
  }
}

}  // namespace

PostgresServer::PostgresServer() {
  std::string name = (std::filesystem::temp_directory_path() / "starling-pg-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for PostgreSQL");
  folder_ = name;
  if (const passwd* user = ::getpwnam(kUser); ::geteuid() == 0 && user != nullptr) {
    if (::chown(name.c_str(), user->pw_uid, user->pw_gid) != 0) throw std::runtime_error("chown " + name);
  }
  run({programs() / "initdb", "--pgdata", folder_ / "data", "--username", kUser, "--auth", "trust", "--encoding",
       "UTF8", "--locale", "C.UTF-8", "--no-sync"},
      folder_ / "log");
  start();
}

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::~PostgresServer() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void PostgresServer::kill() {
  if (process_ > 0) {
    ::kill(process_, SIGQUIT);  // at once, without a checkpoint; its own children end with it
    wait();
  }
}

void PostgresServer::wait() {
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void PostgresServer::start() {
  const std::filesystem::path state = folder_ / "data/postmaster.pid";
  std::error_code ignored;
  std::filesystem::remove(state, ignored);
  const UniqueFd written(::inotify_init1(IN_CLOEXEC));
  ::inotify_add_watch(written.get(), (folder_ / "data").c_str(), IN_CLOSE_WRITE);
  process_ = start_program({programs() / "postgres", "-D", folder_ / "data", "-k", folder_, "-c",
                            "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"},
                           folder_ / "log");
  const UniqueFd ended(static_cast<int>(::syscall(SYS_pidfd_open, process_, 0)));
  pollfd events[] = {{written.get(), POLLIN, 0}, {ended.get(), POLLIN, 0}};
  while (content(state).find("ready") == std::string::npos) {
    if (::poll(events, std::size(events), kStartMaxMs) <= 0 || events[1].revents != 0) {
      throw std::runtime_error("PostgreSQL does not start: " + content(folder_ / "log"));
    }
    std::array<char, 4096> news{};
    static_cast<void>(::read(written.get(), news.data(), news.size()));
  }
}

std::string PostgresServer::create_database() {
  const std::string name = "test" + std::to_string(++databases_);
  run({programs() / "createdb", "-h", folder_, "-U", kUser, name}, folder_ / "log");
  return url(name);
}

std::string PostgresServer::url(const std::string& database) const {
  return std::string("postgresql://") + kUser + "@/" + database + "?host=" + folder_.string();
}

}  // namespace starling::testing
