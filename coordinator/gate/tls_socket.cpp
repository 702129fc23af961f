#include "coordinator/gate/tls_socket.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "shared/base/verify.h"

namespace starling::gate {

void TlsSocket::Free::operator()(ssl_st* connection) const { SSL_free(connection); }

TlsSocket::TlsSocket(const crypto::TlsContext& context, int fd) : ssl_(SSL_new(context.native())) {
  VERIFY(ssl_ != nullptr && SSL_set_fd(ssl_.get(), fd) == 1);
  SSL_set_mode(ssl_.get(),
               SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_set_accept_state(ssl_.get());
}

TlsSocket::Step TlsSocket::step_of(int result) {
  if (result > 0) return Step::done;
  const int error = SSL_get_error(ssl_.get(), result);
  ERR_clear_error();  // the queue is the thread's: what is left in it would be taken for the next connection's
  switch (error) {
    case SSL_ERROR_WANT_READ:
      return Step::wants_read;
    case SSL_ERROR_WANT_WRITE:
      return Step::wants_write;
    case SSL_ERROR_ZERO_RETURN:
      return Step::closed;
    default:
      broken_ = true;
      return Step::failed;
  }
}

TlsSocket::Step TlsSocket::handshake() { return step_of(SSL_do_handshake(ssl_.get())); }

TlsSocket::Step TlsSocket::read(std::span<char> to, std::size_t& count) {
  return step_of(SSL_read_ex(ssl_.get(), to.data(), to.size(), &count));
}

TlsSocket::Step TlsSocket::write(std::string_view from, std::size_t& count) {
  return step_of(SSL_write_ex(ssl_.get(), from.data(), from.size(), &count));
}

void TlsSocket::shut_down() {
  if (broken_ || SSL_in_init(ssl_.get()) != 0) return;
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

std::optional<PeerId> TlsSocket::peer() const {
  Result<PeerId> id = crypto::peer_id_of(ssl_.get());
  return id ? std::optional<PeerId>(*id) : std::nullopt;
}

}  // namespace starling::gate
