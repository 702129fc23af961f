// The control API for the owner's other computers: the lines of shared/control/control.h over TLS 1.3, after the first
// of them has shown the token. Closed until the owner opens it, and open again whenever the daemon starts, until the
// owner closes it. Strangers cost little: they have kGreetingMax to show the token in few bytes, the newest of them
// push out the oldest, and a wrong token is answered late.
#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "client/storage/remote_access.h"
#include "shared/base/limited_log.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"
#include "shared/control/control.h"
#include "shared/crypto/tls.h"
#include "shared/net/tls_stream.h"

namespace starling::daemon {

constexpr std::size_t kRemoteCallersMax = 16;   // callers with the right token
constexpr std::size_t kRemoteStrangersMax = 8;  // callers that have not shown it yet

// Deadlines for a caller, who is cut off when one has passed. Tests shorten them.
struct RemoteTimes {
  Duration greeting_max = std::chrono::seconds(10);      // handshake and token together
  Duration wrong_token_delay = std::chrono::seconds(1);  // before the refusal
  Duration line_max = std::chrono::seconds(20);          // from a line's first byte to its last
  Duration idle_max = std::chrono::minutes(15);          // between two lines
};

class RemoteDoor {
 public:
  // Called on a caller's own thread; may block.
  using Handler = std::function<wire::ControlReply(const wire::ControlRequest&)>;

  // Ignores SIGPIPE for the process.
  RemoteDoor(std::filesystem::path data_dir, const Clock& clock, Handler handler, RemoteTimes times = {});
  ~RemoteDoor();

  // Opens the door again if the owner left it open when the daemon ran last; view() reports obstacles.
  void reopen() EXCLUDES(mutex_);
  // Opens the door on an IP address of this computer; port 0: any free one. It gets a new token, which only this answer
  // contains, and a new certificate; callers with the old ones are cut off. On an error nothing changes.
  Result<wire::RemoteView> enable(const std::string& address, int port) EXCLUDES(mutex_);
  Status disable() EXCLUDES(mutex_);
  // Shuts the door at the daemon's end; the owner's setting stays. Waits for the callers' threads: handlers that block
  // must be released first. Nothing but view() may be called after it.
  void close() EXCLUDES(mutex_);
  [[nodiscard]] wire::RemoteView view() const EXCLUDES(mutex_);

 private:
  struct Caller {
    net::CancelEvent cancel;
    std::thread thread;
    bool finished = false;
    bool welcome = false;  // has shown the token
  };
  // An open door: the secrets that callers are judged by, and the thread that takes them in.
  struct Door {
    storage::RemoteAccess access;
    crypto::TlsContext tls;
    std::string fingerprint;  // the authority's, hex
    UniqueFd listener;
    net::CancelEvent closing = {};
    std::thread thread = {};
  };

  static Result<std::unique_ptr<Door>> make_door(storage::RemoteAccess access);
  void open(std::unique_ptr<Door> door) REQUIRES(mutex_);
  // The caller of this ends the door's thread, without the lock.
  [[nodiscard]] std::unique_ptr<Door> shut() REQUIRES(mutex_);
  static void end(std::unique_ptr<Door> door);
  void accept_callers(const Door& door);
  void admit(const Door& door, UniqueFd socket) EXCLUDES(mutex_);
  void serve(const crypto::TlsContext& tls, const Digest& token_hash, UniqueFd socket, Caller& caller);
  // Returns whether the caller has shown the token, and there is room.
  bool greet(net::TlsStream& stream, const wire::ControlRequest& greeting, const Digest& token_hash, Caller& caller);
  Result<std::string> read_line(net::TlsStream& stream, std::string& buffer, std::size_t bytes_max, TimePoint deadline);
  Status welcome(Caller& caller) EXCLUDES(mutex_);
  void note_wrong_token() EXCLUDES(mutex_);
  void reap() EXCLUDES(mutex_);

  const std::filesystem::path data_dir_;
  const Clock& clock_;
  const Handler handler_;
  const RemoteTimes times_;
  mutable Mutex mutex_;
  std::unique_ptr<Door> door_ GUARDED_BY(mutex_);
  std::string problem_ GUARDED_BY(mutex_);  // why it is not open although it should be
  std::list<Caller> callers_ GUARDED_BY(mutex_);
  LimitedLog wrong_tokens_;
  LimitedLog not_taken_;
};

}  // namespace starling::daemon
