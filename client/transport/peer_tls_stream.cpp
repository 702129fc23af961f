#include "client/transport/peer_tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

namespace starling::transport {
namespace {

// Messages that a record of the handshake's type may hold after the handshake (RFC 8446, section 4).
constexpr std::uint8_t kNewSessionTicket = 4;
constexpr std::uint8_t kKeyUpdate = 24;
constexpr std::size_t kMessageHeaderBytes = 4;
constexpr std::size_t kKeyUpdateBytes = kMessageHeaderBytes + 1;
constexpr std::size_t kAlertBytes = 2;
// Limit of records in a row that hold nothing for us, as in OpenSSL: they cost time, and no budget.
constexpr int kWithoutDataMax = 32;

// The socket behind a TLS connection, with its buffers: the BIO below reads and writes it during the handshake.
struct BufferedSocket {
  explicit BufferedSocket(const PeerTlsStream::Socket& socket) : buffers(socket.buffers), fd(socket.fd) {}

  const std::shared_ptr<PeerTlsStream::Buffers> buffers;  // outlives the buffers below
  const int fd;
  BufferPool::Buffer output;  // null while nothing is unsent
  std::size_t begin = 0;      // unsent output is [begin, end)
  std::size_t end = 0;
  std::size_t output_max = PeerTlsStream::kSmallBufferBytes;  // size at which this buffer counts as full
  std::size_t gather_max = PeerTlsStream::kSmallBufferBytes;  // output_max of the next buffer
  BufferPool::Buffer input;                                   // null while `begun` holds the unread input
  std::vector<std::uint8_t> begun;  // the beginning of a record, kept while there is no buffer
  std::size_t read_at = 0;          // unread input is [read_at, read_end)
  std::size_t read_end = 0;
  std::size_t input_max = PeerTlsStream::kSmallBufferBytes;  // size at which this buffer is full
  std::size_t read_max = PeerTlsStream::kSmallBufferBytes;   // input_max of the next buffer
  bool emptied = false;                                      // the last recv() took everything there was
  bool at_end = false;                                       // the other end closed, or the socket failed

  [[nodiscard]] std::span<const std::uint8_t> unread() const {
    return {(input != nullptr ? input.get() : begun.data()) + read_at, read_end - read_at};
  }

  // Adds to the input, which is not full of unread bytes; false when there is nothing now, or never again.
  bool receive() {
    const std::span<const std::uint8_t> kept = unread();
    if (input == nullptr) {
      input_max = read_max;
      input = buffers->of(input_max).take();
      std::copy(kept.begin(), kept.end(), input.get());
    } else {
      std::memmove(input.get(), kept.data(), kept.size());
    }
    read_at = 0;
    read_end = kept.size();
    ssize_t got = 0;
    do {
      got = ::recv(fd, input.get() + read_end, input_max - read_end, 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
      at_end = at_end || got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
      emptied = true;
      return false;
    }
    read_end += static_cast<std::size_t>(got);
    emptied = read_end < input_max;
    return true;
  }

  // Lets another link use the input's buffer, unless it holds more than the beginning of a record.
  void rest() {
    const std::span<const std::uint8_t> kept = unread();
    if (input == nullptr || kept.size() >= RecordCipher::kRecordMax) return;
    begun.assign(kept.begin(), kept.end());
    read_at = 0;
    read_end = kept.size();
    input.reset();
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
    output.reset();
    return true;
  }

  // Makes room for `bytes` at the end, sending if need be. Bytes that a slow socket left are moved only when at least
  // as many have gone: moving them for every few bytes would cost more than encrypting them.
  bool make_room(std::size_t bytes) {
    if (end + bytes > output_max) {
      send_some();
      if (begin >= end - begin && begin > 0) {
        std::memmove(output.get(), output.get() + begin, end - begin);
        end -= begin;
        begin = 0;
      }
      if (end + bytes > output_max) return false;
    }
    if (output == nullptr) {
      output_max = gather_max;
      output = buffers->of(output_max).take();
    }
    return true;
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
  std::copy_n(socket.unread().begin(), bytes, reinterpret_cast<std::uint8_t*>(out));
  socket.read_at += bytes;
  return static_cast<int>(bytes);
}

// OpenSSL asks for a flush at the end of each of the handshake's flights. It always succeeds: bytes that the socket
// does not take now are sent later, and OpenSSL's own buffer above this BIO would not pass "try again" on.
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

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

}  // namespace

class PeerTlsStream::Impl {
 public:
  Impl(const crypto::TlsContext& context, const Socket& socket, Role role, WallTime now, std::int64_t rekey_bytes)
      : ssl_(SSL_new(context.native())), socket_(socket), role_(role), rekey_bytes_(rekey_bytes) {
    VERIFY(ssl_ != nullptr);
    BIO* bio = BIO_new(buffered_socket_method());
    VERIFY(bio != nullptr);
    BIO_set_data(bio, &socket_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    crypto::set_verification_time(ssl_.get(), now);
    crypto::tell_traffic_secrets(ssl_.get(), &secrets_.emplace());
    role == Role::client ? SSL_set_connect_state(ssl_.get()) : SSL_set_accept_state(ssl_.get());
  }

  IoState handshake() {
    if (seals_) return IoState::done;
    ERR_clear_error();  // OpenSSL takes an old error for that of the next call
    IoState state = state_after(SSL_do_handshake(ssl_.get()));
    if (state == IoState::done) state = begin_records();
    // Bytes left to send, an alert above all, should reach the other end.
    const bool all_sent = socket_.send_some();
    if (state == IoState::want_read) rest();
    return state == IoState::want_read && !all_sent && !socket_.at_end ? IoState::want_write : state;
  }

  IoStep read(std::span<std::uint8_t> out) {
    if (!opens_) return {IoState::failed, 0};
    while (true) {
      if (const IoStep step = take_opened(out); step.bytes > 0) return step;
      const Result<std::span<const std::uint8_t>> record = whole_record();
      if (!record.ok()) return fail(record.error());
      if (record->empty()) {
        if (!socket_.receive()) return {socket_.at_end ? IoState::closed : IoState::want_read, 0};
        continue;
      }
      socket_.read_at += record->size();
      const std::size_t holds = record->size() - RecordCipher::kHeaderBytes - RecordCipher::kSealBytes;
      const bool fits = out.size() >= holds;
      const auto opened = opens_->open(*record, fits ? out : set_aside(holds));
      if (!opened.ok()) return fail(opened.error());
      const std::span<const std::uint8_t> plaintext(fits ? out.data() : aside_.get(), opened->bytes);
      const bool is_data = opened->type == RecordType::data;
      without_data_ = is_data && !plaintext.empty() ? 0 : without_data_ + 1;
      if (without_data_ > kWithoutDataMax) return fail({ErrorCode::corrupt, "link: many records without data"});
      if (!is_data) {
        if (const IoState state = take_message(opened->type, plaintext); state != IoState::done) return {state, 0};
      } else if (fits && !plaintext.empty()) {
        return {IoState::done, plaintext.size()};
      } else if (!fits) {
        opened_ = plaintext;
      }
    }
  }

  [[nodiscard]] bool has_record() const {
    const Result<std::span<const std::uint8_t>> record = whole_record();
    return !opened_.empty() || !record.ok() || !record->empty();
  }

  [[nodiscard]] bool drained() const { return socket_.emptied && !has_record(); }

  // Bytes missing of the record under way, plus those of the plaintext behind it.
  [[nodiscard]] std::size_t input_before(std::size_t plaintext) const {
    const std::size_t here = socket_.unread().size();
    const Result<std::size_t> whole = record_bytes();
    if (!whole.ok() || *whole <= here) return std::max<std::size_t>(1, plaintext);
    const std::size_t holds = *whole - RecordCipher::kHeaderBytes - RecordCipher::kSealBytes;
    return *whole - here + (plaintext > holds ? plaintext - holds : 0);
  }

  void rest() {
    socket_.rest();
    if (opened_.empty()) aside_.reset();
  }

  void gather_output(std::size_t bytes) {
    socket_.gather_max = std::clamp(bytes, kSmallBufferBytes, kLargeBufferBytes);
  }

  void read_ahead(std::size_t bytes) { socket_.read_max = std::clamp(bytes, kSmallBufferBytes, kLargeBufferBytes); }

  IoStep write(std::span<const std::uint8_t> data) {
    if (!seals_) return {IoState::failed, 0};
    const std::size_t piece = std::min(data.size(), RecordCipher::kPlaintextMax);
    if (!seal_key_update() || !seal(RecordType::data, data.first(piece))) {
      return {socket_.at_end ? IoState::closed : IoState::want_write, 0};
    }
    bytes_under_key_ += static_cast<std::int64_t>(piece);
    return {IoState::done, piece};
  }

  IoState flush() {
    if (socket_.send_some()) return IoState::done;
    return socket_.at_end ? IoState::closed : IoState::want_write;
  }

  [[nodiscard]] const Result<PeerId>& peer() const { return peer_; }
  [[nodiscard]] const Error& error() const { return error_; }

 private:
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

  // OpenSSL has read no further than to the end of the handshake, and sends nothing more by itself: there are no
  // tickets.
  IoState begin_records() {
    if (SSL_has_pending(ssl_.get()) != 0) return fail({ErrorCode::corrupt, "link: more than a handshake's end"}).state;
    const std::uint16_t suite = SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(ssl_.get()));
    const bool dialled = role_ == Role::client;
    seals_.emplace(suite, dialled ? secrets_->of_client : secrets_->of_server, RecordCipher::Direction::seals);
    opens_.emplace(suite, dialled ? secrets_->of_server : secrets_->of_client, RecordCipher::Direction::opens);
    peer_ = crypto::peer_id_of(ssl_.get());
    ssl_.reset();
    secrets_.reset();
    return IoState::done;
  }

  // Fails for good: input behind a wrong record is not looked at.
  IoStep fail(const Error& why) {
    error_ = {why.code == ErrorCode::corrupt ? ErrorCode::unavailable : why.code, why.message};
    opens_.reset();
    return {IoState::failed, 0};
  }

  // Length of the record, with header and seal, once its header is here; before that 0.
  [[nodiscard]] Result<std::size_t> record_bytes() const {
    const std::span<const std::uint8_t> here = socket_.unread();
    if (here.size() < RecordCipher::kHeaderBytes) return std::size_t{0};
    return RecordCipher::record_bytes(here.first<RecordCipher::kHeaderBytes>());
  }

  // The record at the beginning of the input; empty: it is not all here yet.
  [[nodiscard]] Result<std::span<const std::uint8_t>> whole_record() const {
    STARLING_ASSIGN(const std::size_t bytes, record_bytes());
    const std::span<const std::uint8_t> here = socket_.unread();
    return bytes > here.size() ? std::span<const std::uint8_t>() : here.first(bytes);
  }

  // For records that hold more than is wanted of them.
  std::span<std::uint8_t> set_aside(std::size_t bytes) {
    VERIFY(bytes <= RecordCipher::kPlaintextMax);
    if (aside_ == nullptr) aside_ = socket_.buffers->record.take();
    return {aside_.get(), bytes};
  }

  IoStep take_opened(std::span<std::uint8_t> out) {
    const std::size_t bytes = std::min(out.size(), opened_.size());
    std::copy_n(opened_.begin(), bytes, out.begin());
    opened_ = opened_.subspan(bytes);
    return {IoState::done, bytes};
  }

  // Takes messages that OpenSSL would take in by itself: the other end's alerts and new keys.
  IoState take_message(RecordType type, std::span<const std::uint8_t> message) {
    if (type == RecordType::alert && message.size() == kAlertBytes) {
      const unsigned long reason = ERR_PACK(ERR_LIB_SSL, 0, SSL_AD_REASON_OFFSET + message[1]);
      if (message[1] != SSL_AD_CLOSE_NOTIFY) return fail(crypto::tls_error(nullptr, "link", reason)).state;
      socket_.at_end = true;
      socket_.read_at = socket_.read_end;
      return IoState::closed;
    }
    if (type == RecordType::handshake) {
      if (message.size() == kKeyUpdateBytes && message[0] == kKeyUpdate && message[kMessageHeaderBytes] <= 1) {
        opens_->update_key();
        owes_key_update_ = owes_key_update_ || message[kMessageHeaderBytes] == 1;
        return IoState::done;
      }
      if (!message.empty() && message[0] == kNewSessionTicket) return IoState::done;  // useless here
    }
    return fail({ErrorCode::corrupt, "link: a record of TLS that has no place here"}).state;
  }

  bool seal(RecordType type, std::span<const std::uint8_t> plaintext) {
    if (!socket_.make_room(RecordCipher::kHeaderBytes + plaintext.size() + RecordCipher::kSealBytes)) return false;
    socket_.end +=
        seals_->seal(type, plaintext, {socket_.output.get() + socket_.end, socket_.output_max - socket_.end});
    return true;
  }

  // Seals a key update if one is due: later records use new keys.
  bool seal_key_update() {
    if (!owes_key_update_ && bytes_under_key_ < rekey_bytes_) return true;
    constexpr std::array<std::uint8_t, kKeyUpdateBytes> kNotRequested = {kKeyUpdate, 0, 0, 1, 0};
    if (!seal(RecordType::handshake, kNotRequested)) return false;
    seals_->update_key();
    owes_key_update_ = false;
    bytes_under_key_ = 0;
    return true;
  }

  std::unique_ptr<SSL, FreeSsl> ssl_;  // until the handshake is over
  BufferedSocket socket_;
  const Role role_;
  const std::int64_t rekey_bytes_;
  std::optional<crypto::TrafficSecrets> secrets_;  // until the handshake is over
  std::optional<RecordCipher> seals_, opens_;      // from the end of the handshake on
  Result<PeerId> peer_ = Error{ErrorCode::failed_precondition, "identify peer: the handshake is not over"};
  BufferPool::Buffer aside_;              // plaintext of one record
  std::span<const std::uint8_t> opened_;  // the part of aside_ that is still to be given out
  std::int64_t bytes_under_key_ = 0;
  bool owes_key_update_ = false;
  int without_data_ = 0;  // number of such records in a row
  Error error_{ErrorCode::unavailable, "link: closed"};
};

PeerTlsStream::PeerTlsStream(const crypto::TlsContext& context, const Socket& socket, Role role, WallTime now,
                             std::int64_t rekey_bytes)
    : impl_(std::make_unique<Impl>(context, socket, role, now, rekey_bytes)) {}
PeerTlsStream::~PeerTlsStream() = default;

IoState PeerTlsStream::handshake() { return impl_->handshake(); }
IoStep PeerTlsStream::read(std::span<std::uint8_t> out) { return impl_->read(out); }
bool PeerTlsStream::has_record() const { return impl_->has_record(); }
bool PeerTlsStream::drained() const { return impl_->drained(); }
std::size_t PeerTlsStream::input_before(std::size_t plaintext) const { return impl_->input_before(plaintext); }
void PeerTlsStream::rest() { impl_->rest(); }
IoStep PeerTlsStream::write(std::span<const std::uint8_t> data) { return impl_->write(data); }
void PeerTlsStream::gather_output(std::size_t bytes) { impl_->gather_output(bytes); }
void PeerTlsStream::read_ahead(std::size_t bytes) { impl_->read_ahead(bytes); }
IoState PeerTlsStream::flush() { return impl_->flush(); }
const Result<PeerId>& PeerTlsStream::peer() const { return impl_->peer(); }
const Error& PeerTlsStream::error() const { return impl_->error(); }

}  // namespace starling::transport
