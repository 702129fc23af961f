// The Unix socket on which command line and window reach the daemon: shared/control/control.h, line by line. Only the
// user who runs the daemon gets in (socket mode 0600, and the kernel's word for the caller's uid).
#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <thread>

#include "shared/base/limited_log.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/control/control.h"

namespace starling::daemon {

constexpr std::size_t kControlConnectionsMax = 32;

class ControlServer {
 public:
  // Called on a connection's own thread; may block.
  using Handler = std::function<wire::ControlReply(const wire::ControlRequest&)>;

  // Replaces a socket that a dead daemon left behind: the caller holds the data directory's lock.
  static Result<std::unique_ptr<ControlServer>> create(const std::filesystem::path& socket, Handler handler);
  // Ends all connections. Handlers that block must be released first.
  ~ControlServer();

 private:
  struct Connection {
    int fd = -1;
    std::thread thread;
    bool finished = false;
  };

  ControlServer(int listener, std::filesystem::path socket, Handler handler);
  void accept_loop();
  void admit(int fd) EXCLUDES(mutex_);
  void serve(int fd);
  void reap() EXCLUDES(mutex_);

  int listener_;
  std::filesystem::path socket_;
  Handler handler_;
  std::thread accept_thread_;
  Mutex mutex_;
  std::list<Connection> connections_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  LimitedLog strangers_;
};

}  // namespace starling::daemon
