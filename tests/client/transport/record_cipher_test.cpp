#include "client/transport/record_cipher.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "shared/base/ids.h"

using namespace starling;
using namespace starling::transport;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Direction = RecordCipher::Direction;

constexpr std::uint16_t kAes128 = 0x1301, kAes256 = 0x1302, kChaCha20 = 0x1303;

Bytes from_text(const std::string& hex) {
  Bytes bytes(hex.size() / 2);
  REQUIRE(from_hex(hex, bytes).ok());
  return bytes;
}

Bytes counting(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 31 + i / 255);
  return bytes;
}

// Both ends of one direction.
struct Ends {
  explicit Ends(std::uint16_t suite = kAes128)
      : secret(suite == kAes256 ? 48 : 32, 7),
        sealing(suite, secret, Direction::seals),
        opening(suite, secret, Direction::opens) {}
  Bytes seal(const Bytes& plaintext, RecordType type = RecordType::data) {
    Bytes record(RecordCipher::kRecordMax);
    record.resize(sealing.seal(type, plaintext, record));
    return record;
  }
  // The content, or nothing where it was refused.
  Result<Bytes> open(const Bytes& record) {
    Bytes plaintext(RecordCipher::kPlaintextMax);
    STARLING_ASSIGN(const RecordCipher::Opened opened, opening.open(record, plaintext));
    type = opened.type;
    plaintext.resize(opened.bytes);
    return plaintext;
  }

  Bytes secret;
  RecordCipher sealing, opening;
  RecordType type = RecordType::data;
};

}  // namespace

TEST_CASE("a record as RFC 8448, section 3, has it: the client's first of application data") {
  const Bytes secret = from_text("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5");
  const Bytes expected = from_text(
      "1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b62974e1f5a6292a2"
      "9770"
      "14bd1e3deae63aeebb21694915e4");
  Bytes plaintext(50);
  std::iota(plaintext.begin(), plaintext.end(), std::uint8_t{0});
  RecordCipher cipher(kAes128, secret, Direction::seals);
  Bytes record(RecordCipher::kRecordMax);
  record.resize(cipher.seal(RecordType::data, plaintext, record));
  CHECK(to_hex(record) == to_hex(expected));
}

TEST_CASE("what was sealed is opened, whatever the suite and the size, also under later keys") {
  for (const std::uint16_t suite : {kAes128, kAes256, kChaCha20}) {
    Ends ends(suite);
    for (int keys = 0; keys < 3; ++keys) {
      for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 300U, 16383U, 16384U}) {
        CAPTURE(suite);
        CAPTURE(size);
        const Bytes plaintext = counting(size);
        const Bytes record = ends.seal(plaintext);
        CHECK(*RecordCipher::record_bytes(std::span(record).first<RecordCipher::kHeaderBytes>()) == record.size());
        const auto opened = ends.open(record);
        REQUIRE(opened.ok());
        CHECK((*opened == plaintext));
      }
      ends.sealing.update_key();
      ends.opening.update_key();
    }
  }
}

TEST_CASE("the true type comes out, and padding does not") {
  Ends ends;
  for (const RecordType type : {RecordType::alert, RecordType::handshake, RecordType::data}) {
    REQUIRE(ends.open(ends.seal(counting(20), type)).ok());
    CHECK(ends.type == type);
  }
  Bytes padded = counting(100);
  padded.push_back(static_cast<std::uint8_t>(RecordType::data));
  padded.resize(padded.size() + 200);
  const auto opened = ends.open(ends.seal(padded, RecordType{0}));
  REQUIRE(opened.ok());
  CHECK((*opened == counting(100)));
  CHECK(ends.type == RecordType::data);
  // A record of nothing but padding, or of an unknown type.
  CHECK(ends.open(ends.seal(Bytes(100), RecordType{0})).error().code == ErrorCode::corrupt);
  CHECK(ends.open(ends.seal(counting(20), RecordType{20})).error().code == ErrorCode::corrupt);
}

TEST_CASE("a record that was changed anywhere is refused") {
  const Bytes record = Ends().seal(counting(100));
  for (std::size_t i = 0; i < record.size(); ++i) {
    CAPTURE(i);
    Bytes changed = record;
    changed[i] ^= 1;
    CHECK(Ends().open(changed).error().code == ErrorCode::corrupt);
  }
}

TEST_CASE("what one library seals the other one opens, and both refuse what was changed") {
  using Algorithm = Aead::Algorithm;
  const Aead::Nonce nonce = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const Bytes header = counting(5);
  CHECK(ipsec_aead(Algorithm::chacha20_poly1305, Direction::seals) == nullptr);
  for (const Algorithm algorithm : {Algorithm::aes_128_gcm, Algorithm::aes_256_gcm}) {
    const auto fast_sealing = ipsec_aead(algorithm, Direction::seals);
    const auto fast_opening = ipsec_aead(algorithm, Direction::opens);
    if (fast_sealing == nullptr) {
      MESSAGE("nothing compared: not built with Intel's library, or not for this processor");
      return;
    }
    const auto sealing = openssl_aead(algorithm, Direction::seals);
    const auto opening = openssl_aead(algorithm, Direction::opens);
    const Bytes key = counting(algorithm == Algorithm::aes_128_gcm ? 16 : 32);
    for (Aead* aead : {sealing.get(), opening.get(), fast_sealing.get(), fast_opening.get()}) aead->set_key(key);
    for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 300U, 16383U, 16384U}) {
      CAPTURE(size);
      const Bytes plaintext = counting(size);
      const std::size_t bytes = size + 1 + Aead::kTagBytes;
      Bytes sealed(bytes), sealed_fast(bytes);
      sealing->seal(nonce, header, plaintext, 23, sealed.data());
      fast_sealing->seal(nonce, header, plaintext, 23, sealed_fast.data());
      REQUIRE((sealed == sealed_fast));
      for (Aead* aead : {opening.get(), fast_opening.get()}) {
        Bytes opened(size);
        CHECK(aead->open(nonce, header, sealed, opened.data()) == std::optional<std::uint8_t>(23));
        CHECK((opened == plaintext));
        for (const std::size_t at : {std::size_t{0}, size, size + 1, bytes - 1}) {
          Bytes changed = sealed;
          changed[at] ^= 0x80;
          CHECK_FALSE(aead->open(nonce, header, changed, opened.data()).has_value());
        }
        CHECK_FALSE(aead->open(nonce, counting(4), sealed, opened.data()).has_value());
      }
    }
  }
}

TEST_CASE("a record that comes twice, out of turn or under another key is refused") {
  Ends ends;
  const Bytes first = ends.seal(counting(10));
  const Bytes second = ends.seal(counting(11));
  CHECK_FALSE(Ends().open(second).ok());
  REQUIRE(ends.open(first).ok());
  CHECK_FALSE(ends.open(first).ok());
  Ends others;
  others.opening.update_key();
  CHECK_FALSE(others.open(first).ok());
}

TEST_CASE("what begins no record is refused, and one that is too long or too short") {
  const auto bytes_of = [](std::initializer_list<std::uint8_t> header) {
    return RecordCipher::record_bytes(std::span(header.begin(), header.size()).first<RecordCipher::kHeaderBytes>());
  };
  CHECK(*bytes_of({23, 3, 3, 0, 17}) == 22);
  CHECK(*bytes_of({23, 3, 3, 64, 17}) == RecordCipher::kRecordMax);
  CHECK(bytes_of({23, 3, 3, 0, 16}).error().code == ErrorCode::corrupt);
  CHECK(bytes_of({23, 3, 3, 64, 18}).error().code == ErrorCode::corrupt);
  CHECK(bytes_of({22, 3, 3, 0, 100}).error().code == ErrorCode::corrupt);
  CHECK(bytes_of({23, 2, 3, 0, 100}).error().code == ErrorCode::corrupt);
}
