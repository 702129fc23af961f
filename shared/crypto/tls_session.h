// TLS over a connected socket without waiting: each call does what can be done now, and returns what the socket must be
// ready for before the next. With a blocking socket, calls never return want_read or want_write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/crypto/tls.h"

namespace starling::crypto {

class TlsSession {
 public:
  enum class State : std::uint8_t {
    done,
    want_read,   // call again when the socket can be read
    want_write,  // call again when it can be written
    closed,      // the other end closed in order
    failed,      // `error` gives the reason; the session is over
  };
  struct Step {
    State state = State::done;
    std::size_t size = 0;  // bytes read or written when done
    Error error;
  };

  // The socket stays the caller's, and must outlive the session.
  static TlsSession client(const TlsContext& context, int socket);
  static TlsSession server(const TlsContext& context, int socket);

  Step handshake();
  Step read(std::span<char> out);  // done: at least one byte
  // May write less than all. When it fails because the other end refused our certificate, it returns that error rather
  // than the closed socket that follows a refusal.
  Step write(std::string_view bytes);
  // Whether the other end still holds an idle connection, as far as can be known without sending.
  [[nodiscard]] bool is_silent();
  // Sends a close alert and does not wait for the answer.
  void close();

  // Bytes moved over the socket in both directions so far, handshake included.
  [[nodiscard]] std::int64_t wire_bytes() const;

  [[nodiscard]] ssl_st* native() const { return ssl_.get(); }

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  TlsSession(const TlsContext& context, int socket);
  // Interprets the result of the OpenSSL call named `what`.
  Step judge(int result, std::string_view what);

  std::unique_ptr<ssl_st, Free> ssl_;
};

}  // namespace starling::crypto
