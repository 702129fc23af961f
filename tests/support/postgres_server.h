// A test's own PostgreSQL server: a new cluster in a folder of its own, reached by a socket there, ended and removed
// with this object. Started by root, it runs as the user `postgres`, since it refuses root.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace starling::testing {

class PostgresServer {
 public:
  // Skips the test when PostgreSQL is missing: ./dev setup installs it.
  PostgresServer();
  // One server for all tests of a program, each with a database of its own: making a cluster takes seconds.
  static PostgresServer& shared();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Makes a new, empty database and returns its address.
  std::string create_database();
  // The address of the database of that name; "postgres" always exists.
  [[nodiscard]] std::string url(const std::string& database) const;

  // Ends it abruptly: to clients this looks like a crash and reboot, or a lost connection.
  void kill();
  void start();
  // Waits until it has ended without kill().
  void wait();

 private:
  std::filesystem::path folder_;
  pid_t process_ = -1;
  int databases_ = 0;
};

}  // namespace starling::testing
