// TLS over a connected socket, without saying who waits: each call does what can be done now, and tells
// what the socket must be ready for before the next. A blocking socket never has to wait.
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
    closed,      // the other end said goodbye
    failed,      // error says why; the session is over
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
  // May write less than all. When it fails because the other end refused our certificate, that is the error,
  // and not the closed socket that follows a refusal.
  Step write(std::string_view bytes);
  // Whether an idle connection is still held by the other end, as far as can be known without sending.
  [[nodiscard]] bool is_silent();
  // Says goodbye and waits for no answer.
  void close();

  // Moved over the socket both ways so far, handshake and all.
  [[nodiscard]] std::int64_t wire_bytes() const;

  [[nodiscard]] ssl_st* native() const { return ssl_.get(); }

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  TlsSession(const TlsContext& context, int socket);
  // What OpenSSL means by the result of the call named `what`.
  Step judge(int result, std::string_view what);

  std::unique_ptr<ssl_st, Free> ssl_;
};

}  // namespace starling::crypto
