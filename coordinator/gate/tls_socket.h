// The server's side of one TLS connection over a non-blocking socket. Inside coordinator/gate only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/crypto/tls.h"

namespace starling::gate {

class TlsSocket {
 public:
  enum class Step : std::uint8_t {
    done,
    wants_read,   // call again when the socket can be read
    wants_write,  // … written
    closed,       // by the other end, in an orderly way
    failed,
  };

  // `fd` stays the caller's, who closes it after this is gone.
  TlsSocket(const crypto::TlsContext& context, int fd);

  Step handshake();
  // `count` is how many bytes were moved, when done.
  Step read(std::span<char> to, std::size_t& count);
  Step write(std::string_view from, std::size_t& count);
  // Says goodbye if that is possible at once.
  void shut_down();

  [[nodiscard]] std::optional<PeerId> peer() const;

 private:
  struct Free {
    void operator()(ssl_st* connection) const;
  };
  Step step_of(int result);

  std::unique_ptr<ssl_st, Free> ssl_;
  bool broken_ = false;  // after a fatal error nothing more may be said
};

}  // namespace starling::gate
