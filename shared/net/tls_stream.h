// One TCP connection with TLS on it, blocking, where every call has an absolute deadline and can be
// cancelled.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"
#include "shared/crypto/tls_session.h"
#include "shared/net/http_client.h"
#include "shared/net/line.h"

namespace starling::net {

TimePoint monotonic_now();

// Set once, from any thread; whoever waits on a stream with it wakes up, now and ever after.
class CancelEvent {
 public:
  CancelEvent();
  ~CancelEvent();
  CancelEvent(const CancelEvent&) = delete;
  CancelEvent& operator=(const CancelEvent&) = delete;

  void set();
  [[nodiscard]] bool is_set() const;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

// Both may be null.
struct StreamOptions {
  Line* line = nullptr;  // what the stream takes from
  DialRule may_dial = nullptr;
};

class TlsStream {
 public:
  // Shorter than this is sent at once, and paid for afterwards.
  static constexpr std::size_t kBulkBytes = 32 * 1024;

  // `cancel` and the options' line must outlive the stream. permission_denied when the rule allows none of the
  // endpoint's addresses; unavailable, deadline_exceeded, or unauthenticated
  // (see tls.h).
  static Result<std::unique_ptr<TlsStream>> connect(const Endpoint& endpoint, const crypto::TlsContext& tls,
                                                    const CancelEvent& cancel, TimePoint deadline,
                                                    const StreamOptions& options = {});
  // Of a connection that somebody has made to us, non-blocking; the stream closes it.
  static Result<std::unique_ptr<TlsStream>> accept(UniqueFd socket, const crypto::TlsContext& tls,
                                                   const CancelEvent& cancel, TimePoint deadline);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // The other end's IP address.
  [[nodiscard]] std::string remote_address() const;
  // At least one byte; 0 when the other end closed in order.
  Result<std::size_t> read_some(std::span<char> out, TimePoint deadline);
  // What is longer than kBulkBytes waits for its turns under the line's limit.
  Status write_all(std::string_view bytes, TimePoint deadline);
  // Of something long that is received: waits until more of it is due under the line's limit, and says how much.
  Result<std::size_t> await_turn(std::size_t wanted);
  // Whether the other end still holds an idle connection, as far as can be known without sending.
  [[nodiscard]] bool is_alive() { return session_.is_silent(); }

  [[nodiscard]] std::int64_t wire_bytes() const { return session_.wire_bytes(); }

  [[nodiscard]] ssl_st* native() const { return session_.native(); }

 private:
  TlsStream(UniqueFd socket, crypto::TlsSession session, const CancelEvent& cancel, Line* line)
      : socket_(std::move(socket)), cancel_(cancel), line_(line), session_(std::move(session)) {}
  static Result<std::unique_ptr<TlsStream>> open(std::unique_ptr<TlsStream> stream, TimePoint deadline);
  // What has passed since the last time is taken from the line.
  void settle();
  // How much of something long may be sent now, after a wait.
  Result<std::size_t> await_upload(std::size_t wanted, TimePoint deadline);
  Status wait_until(TimePoint due, std::string_view what);
  // Repeats `step` until it is over, waiting for the socket in between; 0 bytes when the other end closed.
  template <typename Call>
  Result<std::size_t> drive(std::string_view what, TimePoint deadline, const Call& step);

  UniqueFd socket_;
  const CancelEvent& cancel_;
  Line* line_;
  WireBytes settled_;
  struct {
    double sent = 0;
    double received = 0;
  } prepaid_;                        // bytes that were reserved and have not passed yet
  std::int64_t repeated_bytes_ = 0;  // known of at the last turn
  double window_limit_ = 0;          // by which the connection's window was set; 0: it was not
  crypto::TlsSession session_;
};

}  // namespace starling::net
