#include "shared/crypto/tls_session.h"

#include <cerrno>
#include <cstring>

#include "shared/crypto/openssl_handles.h"

namespace starling::crypto {

void TlsSession::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

TlsSession::TlsSession(const TlsContext& context, int socket) : ssl_(SSL_new(context.native())) {
  VERIFY(ssl_ != nullptr && SSL_set_fd(ssl_.get(), socket) == 1);
}

TlsSession TlsSession::client(const TlsContext& context, int socket) {
  TlsSession session(context, socket);
  SSL_set_connect_state(session.native());
  return session;
}

TlsSession TlsSession::server(const TlsContext& context, int socket) {
  TlsSession session(context, socket);
  SSL_set_accept_state(session.native());
  return session;
}

TlsSession::Step TlsSession::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(native());
  return result == 1 ? Step{} : judge(result, "set up TLS");
}

TlsSession::Step TlsSession::read(std::span<char> out) {
  ERR_clear_error();
  Step step;
  const int result = SSL_read_ex(native(), out.data(), out.size(), &step.size);
  return result == 1 ? step : judge(result, "receive");
}

TlsSession::Step TlsSession::write(std::string_view bytes) {
  ERR_clear_error();
  Step step;
  const int result = SSL_write_ex(native(), bytes.data(), bytes.size(), &step.size);
  if (result == 1) return step;
  step = judge(result, "send");
  if (step.state != State::failed) return step;
  char byte = 0;
  const Step farewell = read({&byte, 1});
  const bool refused = farewell.state == State::failed && farewell.error.code == ErrorCode::unauthenticated;
  return refused ? farewell : step;
}

std::int64_t TlsSession::wire_bytes() const {
  return static_cast<std::int64_t>(BIO_number_read(SSL_get_rbio(native())) +
                                   BIO_number_written(SSL_get_wbio(native())));
}

bool TlsSession::is_silent() {
  ERR_clear_error();
  char byte = 0;
  const int result = SSL_peek(native(), &byte, 1);
  return result <= 0 && SSL_get_error(native(), result) == SSL_ERROR_WANT_READ;
}

void TlsSession::close() {
  if (SSL_is_init_finished(native()) == 1) SSL_shutdown(native());
  ERR_clear_error();
}

TlsSession::Step TlsSession::judge(int result, std::string_view what) {
  const int system_error = errno;
  switch (SSL_get_error(native(), result)) {
    case SSL_ERROR_WANT_READ:
      return {.state = State::want_read, .size = 0, .error = {}};
    case SSL_ERROR_WANT_WRITE:
      return {.state = State::want_write, .size = 0, .error = {}};
    case SSL_ERROR_ZERO_RETURN:
      return {.state = State::closed, .size = 0, .error = {}};
    case SSL_ERROR_SYSCALL: {
      ERR_clear_error();
      const std::string why = system_error != 0 ? std::strerror(system_error) : "connection closed";
      return {.state = State::failed, .size = 0, .error = {ErrorCode::unavailable, std::string(what) + ": " + why}};
    }
    default:
      return {.state = State::failed, .size = 0, .error = tls_error(native(), what)};
  }
}

}  // namespace starling::crypto
