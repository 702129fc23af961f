// One TLS 1.3 connection over a non-blocking socket that somebody else owns and waits for.
//
// The handshake is OpenSSL's. Afterwards output records are sealed from the caller's memory into a buffer, which leaves
// in few large send() calls; input records are opened from a buffer into the caller's memory. No byte is moved in
// between, and nothing is allocated while data flows. Both buffers come from a pool, and are held only while they
// contain something.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "client/transport/buffer_pool.h"
#include "client/transport/record_cipher.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/tls.h"

namespace starling::transport {

// The result of a step on a non-blocking socket; `failed` is final.
enum class IoState : std::uint8_t {
  done,        // progress was made; ask again
  want_read,   // nothing more until the socket is readable
  want_write,  // nothing more until the socket is writable
  closed,      // the other end is gone
  failed,      // error() says why
};

// A step that moves bytes: none unless the state is `done`.
struct IoStep {
  IoState state = IoState::done;
  std::size_t bytes = 0;  // moved, when done
};

class PeerTlsStream {
 public:
  enum class Role : std::uint8_t { client, server };
  // Sizes in whole records. The beginning of a record that ends in the next buffer is copied there.
  static constexpr std::size_t kBufferBytes = 4 * RecordCipher::kRecordMax;
  static constexpr std::size_t kSmallBufferBytes = 2 * RecordCipher::kRecordMax;
  static constexpr std::size_t kLargeBufferBytes = 16 * RecordCipher::kRecordMax;
  // Outlives the streams that share it.
  struct Buffers {
    BufferPool record{RecordCipher::kPlaintextMax};
    BufferPool small{kSmallBufferBytes};
    BufferPool usual{kBufferBytes};
    BufferPool large{kLargeBufferBytes};

    // The pool of buffers that hold `bytes`.
    BufferPool& of(std::size_t bytes) {
      if (bytes > kBufferBytes) return large;
      return bytes > kSmallBufferBytes ? usual : small;
    }
  };
  struct Socket {
    int fd = -1;
    std::shared_ptr<Buffers> buffers;
  };
  // New keys are derived after this many bytes: AES-GCM must not be used for ever (RFC 8446, section 5.5).
  static constexpr std::int64_t kRekeyBytes = std::int64_t{64} << 30;

  // `now` judges the other end's certificate. The socket stays open as long as this object lives.
  PeerTlsStream(const crypto::TlsContext& context, const Socket& socket, Role role, WallTime now,
                std::int64_t rekey_bytes = kRekeyBytes);
  ~PeerTlsStream();

  // Until it is done, read() and write() fail.
  [[nodiscard]] IoState handshake();
  // Reads at least one byte into `out` (not empty), unless the state says otherwise. Read until want_read: input that
  // was read ahead does not make the socket readable again.
  [[nodiscard]] IoStep read(std::span<std::uint8_t> out);
  // Whether received input is unread and is more than the beginning of a record.
  [[nodiscard]] bool has_record() const;
  // Whether no input is unread and the socket most likely has none: another read would only find that out, at the price
  // of a system call.
  [[nodiscard]] bool drained() const;
  // When drained or after want_read: the least number of bytes that the socket must deliver before `plaintext` more
  // bytes can have been read.
  [[nodiscard]] std::size_t input_before(std::size_t plaintext) const;
  // Gives the input's buffer back to the pool until the next read(): call it when reading pauses. The beginning of an
  // incomplete record is kept; while a whole record is unread, so is the buffer.
  void rest();
  // The output that is gathered before the socket has to take some, from the next buffer on: kSmallBufferBytes (at
  // first) to kLargeBufferBytes. A stream whose socket takes no more holds this much.
  void gather_output(std::size_t bytes);
  // The input that is taken from the socket at a time, from the next buffer on, within these bounds too.
  void read_ahead(std::size_t bytes);
  // Takes a piece of `data` into the output buffer, or nothing.
  [[nodiscard]] IoStep write(std::span<const std::uint8_t> data);
  // Sends what is buffered.
  [[nodiscard]] IoState flush();

  // The peer's identity, after the handshake.
  [[nodiscard]] const Result<PeerId>& peer() const;
  [[nodiscard]] const Error& error() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::transport
