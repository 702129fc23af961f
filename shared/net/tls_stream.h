// One TCP connection with TLS on it, blocking; every call has an absolute deadline and can be cancelled.
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
#include "shared/net/cancel_event.h"
#include "shared/net/http_client.h"
#include "shared/net/line_account.h"

namespace starling::net {

class TlsStream {
 public:
  // Shorter writes are sent at once and paid for afterwards.
  static constexpr std::size_t kBulkBytes = 32 * 1024;

  // `cancel` and the line, which may be null, must outlive the stream. unavailable, deadline_exceeded, or
  // unauthenticated (see tls.h).
  static Result<std::unique_ptr<TlsStream>> connect(const Endpoint& endpoint, const crypto::TlsContext& tls,
                                                    const CancelEvent& cancel, TimePoint deadline,
                                                    Line* line = nullptr);
  // Wraps a non-blocking connection that another host has made to us; the stream closes it.
  static Result<std::unique_ptr<TlsStream>> accept(UniqueFd socket, const crypto::TlsContext& tls,
                                                   const CancelEvent& cancel, TimePoint deadline);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // The other end's IP address.
  [[nodiscard]] std::string remote_address() const;
  // Reads at least one byte; 0 when the other end closed in order.
  Result<std::size_t> read_some(std::span<char> out, TimePoint deadline);
  // Writes longer than kBulkBytes wait for their turns under the line's limit.
  Status write_all(std::string_view bytes, TimePoint deadline);
  // For long replies: waits until more bytes are due under the line's limit, and returns how many, at most `wanted`.
  Result<std::size_t> await_turn(std::size_t wanted);
  // Whether the other end still holds an idle connection, as far as can be known without sending.
  [[nodiscard]] bool is_alive() { return session_.is_silent(); }

  [[nodiscard]] std::int64_t wire_bytes() const { return session_.wire_bytes(); }

  [[nodiscard]] ssl_st* native() const { return session_.native(); }

 private:
  TlsStream(UniqueFd socket, crypto::TlsSession session, const CancelEvent& cancel, Line* line)
      : socket_(std::move(socket)), cancel_(cancel), account_(socket_.get(), line), session_(std::move(session)) {}
  static Result<std::unique_ptr<TlsStream>> open(std::unique_ptr<TlsStream> stream, TimePoint deadline);
  // Repeats `step` until it is over, waiting for the socket in between; 0 bytes when the other end closed.
  template <typename Call>
  Result<std::size_t> drive(std::string_view what, TimePoint deadline, const Call& step);

  UniqueFd socket_;
  const CancelEvent& cancel_;
  LineAccount account_;
  crypto::TlsSession session_;
};

}  // namespace starling::net
