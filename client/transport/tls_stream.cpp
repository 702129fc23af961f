#include "client/transport/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "client/transport/record_meter.h"

namespace starling::transport {
namespace {

// The socket behind a TLS connection, with its buffers: what the BIO below reads and writes.
struct BufferedSocket {
  int fd = -1;
  // Pages are touched, and so take memory, only as far as data fills them.
  std::unique_ptr<std::uint8_t[]> output = std::make_unique_for_overwrite<std::uint8_t[]>(TlsStream::kOutputBytes);
  std::unique_ptr<std::uint8_t[]> input = std::make_unique_for_overwrite<std::uint8_t[]>(TlsStream::kInputBytes);
  std::size_t begin = 0;  // unsent output is [begin, end)
  std::size_t end = 0;
  std::size_t read_at = 0;  // unread input is [read_at, read_end)
  std::size_t read_end = 0;
  RecordMeter records;   // of the input
  bool emptied = false;  // the last recv() took all there was
  bool at_end = false;   // the other end closed, or the socket failed

  // Fills the empty input; false when there is nothing now, or never again.
  bool receive() {
    ssize_t got = 0;
    do {
      got = ::recv(fd, input.get(), TlsStream::kInputBytes, 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
      at_end = at_end || got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
      return false;
    }
    read_at = 0;
    read_end = static_cast<std::size_t>(got);
    emptied = read_end < TlsStream::kInputBytes;
    return true;
  }

  // Sends until nothing is left or the socket takes no more; false when something is left.
  bool send_some() {
    while (begin < end) {
      const ssize_t sent = ::send(fd, output.get() + begin, end - begin, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) {
        if (errno != EAGAIN && errno != EWOULDBLOCK) at_end = true;
        return false;
      }
      begin += static_cast<std::size_t>(sent);
    }
    begin = end = 0;
    return true;
  }

  // Makes room for `bytes` at the end, sending if need be. What a slow socket left is moved only when at least as much
  // has gone: moving it for every few bytes that go would cost more than encrypting it.
  bool make_room(std::size_t bytes) {
    if (end + bytes <= TlsStream::kOutputBytes) return true;
    send_some();
    if (begin >= end - begin) {
      std::memmove(output.get(), output.get() + begin, end - begin);
      end -= begin;
      begin = 0;
    }
    return end + bytes <= TlsStream::kOutputBytes;
  }
};

BufferedSocket& socket_of(BIO* bio) { return *static_cast<BufferedSocket*>(BIO_get_data(bio)); }

int bio_write(BIO* bio, const char* data, int size) {
  BufferedSocket& socket = socket_of(bio);
  BIO_clear_retry_flags(bio);
  const auto bytes = static_cast<std::size_t>(size);
  if (!socket.make_room(bytes)) {
    if (!socket.at_end) BIO_set_retry_write(bio);
    return -1;
  }
  std::memcpy(socket.output.get() + socket.end, data, bytes);
  socket.end += bytes;
  return size;
}

int bio_read(BIO* bio, char* out, int size) {
  BufferedSocket& socket = socket_of(bio);
  BIO_clear_retry_flags(bio);
  if (socket.read_at == socket.read_end && !socket.receive()) {
    if (!socket.at_end) BIO_set_retry_read(bio);
    return -1;
  }
  const std::size_t bytes = std::min(static_cast<std::size_t>(size), socket.read_end - socket.read_at);
  std::memcpy(out, socket.input.get() + socket.read_at, bytes);
  socket.records.note({socket.input.get() + socket.read_at, bytes});
  socket.read_at += bytes;
  return static_cast<int>(bytes);
}

// OpenSSL asks for a flush at the end of each handshake flight and key update. It always succeeds: what the socket
// does not take now is sent later, and OpenSSL's own buffer above this BIO would not pass "try again" on.
long bio_control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  if (command != BIO_CTRL_FLUSH) return 0;
  socket_of(bio).send_some();
  return 1;
}

const BIO_METHOD* buffered_socket_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "buffered socket");
    VERIFY(made != nullptr);
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

// OpenSSL takes an old error for that of the next call. There hardly ever is one, and clearing costs more than looking.
void forget_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

}  // namespace

class TlsStream::Impl {
 public:
  Impl(const crypto::TlsContext& context, int fd, Role role, WallTime now, std::int64_t rekey_bytes)
      : ssl_(SSL_new(context.native())), rekey_bytes_(rekey_bytes) {
    VERIFY(ssl_ != nullptr);
    socket_.fd = fd;
    BIO* bio = BIO_new(buffered_socket_method());
    VERIFY(bio != nullptr);
    BIO_set_data(bio, &socket_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    crypto::set_verification_time(ssl_.get(), now);
    role == Role::client ? SSL_set_connect_state(ssl_.get()) : SSL_set_accept_state(ssl_.get());
  }

  IoState state_after(int result) {
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_NONE:
        return IoState::done;
      case SSL_ERROR_WANT_READ:
        return IoState::want_read;
      case SSL_ERROR_WANT_WRITE:
        return IoState::want_write;
      case SSL_ERROR_ZERO_RETURN:
        return IoState::closed;
      default:
        break;
    }
    const bool lost = socket_.at_end && ERR_peek_error() == 0;
    if (!lost) error_ = crypto::tls_error(ssl_.get(), "link");
    ERR_clear_error();
    return lost ? IoState::closed : IoState::failed;
  }

  std::unique_ptr<SSL, FreeSsl> ssl_;
  BufferedSocket socket_;
  std::int64_t rekey_bytes_;
  std::int64_t bytes_under_key_ = 0;
  Error error_{ErrorCode::unavailable, "link: closed"};
};

TlsStream::TlsStream(const crypto::TlsContext& context, int socket, Role role, WallTime now, std::int64_t rekey_bytes)
    : impl_(std::make_unique<Impl>(context, socket, role, now, rekey_bytes)) {}
TlsStream::~TlsStream() = default;

IoState TlsStream::handshake() {
  forget_errors();
  const IoState state = impl_->state_after(SSL_do_handshake(impl_->ssl_.get()));
  // Whatever is left to say, an alert above all, should reach the other end.
  const bool all_sent = impl_->socket_.send_some();
  return state == IoState::want_read && !all_sent && !impl_->socket_.at_end ? IoState::want_write : state;
}

IoStep TlsStream::read(std::span<std::uint8_t> out) {
  forget_errors();
  std::size_t bytes = 0;
  const int result = SSL_read_ex(impl_->ssl_.get(), out.data(), out.size(), &bytes);
  if (result == 1) return {IoState::done, bytes};
  return {impl_->state_after(result), 0};
}

bool TlsStream::drained() const {
  const BufferedSocket& socket = impl_->socket_;
  return socket.emptied && socket.read_at == socket.read_end && SSL_pending(impl_->ssl_.get()) == 0;
}

std::size_t TlsStream::input_before(std::size_t plaintext) const {
  return impl_->socket_.records.bytes_before(plaintext);
}

IoStep TlsStream::write(std::span<const std::uint8_t> data) {
  forget_errors();
  if (impl_->bytes_under_key_ >= impl_->rekey_bytes_) {
    impl_->bytes_under_key_ = 0;
    if (SSL_key_update(impl_->ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) return {impl_->state_after(-1), 0};
  }
  std::size_t bytes = 0;
  const int result = SSL_write_ex(impl_->ssl_.get(), data.data(), data.size(), &bytes);
  if (result != 1) return {impl_->state_after(result), 0};
  impl_->bytes_under_key_ += static_cast<std::int64_t>(bytes);
  return {IoState::done, bytes};
}

IoState TlsStream::flush() {
  if (impl_->socket_.send_some()) return IoState::done;
  return impl_->socket_.at_end ? IoState::closed : IoState::want_write;
}

Result<PeerId> TlsStream::peer() const { return crypto::peer_id_of(impl_->ssl_.get()); }

const Error& TlsStream::error() const { return impl_->error_; }

}  // namespace starling::transport
