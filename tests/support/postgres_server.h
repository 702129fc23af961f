// A PostgreSQL server of the test's own: a new cluster in a folder of its own, reached by a socket in there, ended and
// removed with this object. Started by root, it runs as the user `postgres`, since it refuses root.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace starling::testing {

class PostgresServer {
 public:
  // Throws std::runtime_error when there is none to start: ./dev setup installs it.
  PostgresServer();
  // One for all tests of a program, each with a database of its own: making a cluster takes seconds.
  static PostgresServer& shared();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // The address of a new, empty database.
  std::string create_database();
  // The address of the database of that name; "postgres" is always there.
  [[nodiscard]] std::string url(const std::string& database) const;

  // As a crash and a reboot, or a computer that has been cut off, would look to its clients.
  void kill();
  void start();
  // Until it has ended without kill().
  void wait();

 private:
  std::filesystem::path folder_;
  pid_t process_ = -1;
  int databases_ = 0;
};

}  // namespace starling::testing
