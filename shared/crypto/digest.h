// SHA-256: names artefacts, states and keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "shared/base/ids.h"
#include "shared/base/result.h"

struct evp_md_ctx_st;

namespace starling::crypto {

// The bytes of `text`, for functions that take bytes. Valid as long as the text.
inline std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Digest sha256(std::span<const std::uint8_t> bytes);
Digest sha256(std::string_view bytes);

// Digest of bytes that arrive in pieces.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept = default;
  Sha256& operator=(Sha256&&) noexcept = default;
  ~Sha256() = default;

  void update(std::span<const std::uint8_t> bytes);
  void update(std::string_view bytes) { update(as_bytes(bytes)); }
  // Digest of all bytes since the start or the last finish(); the object then starts again.
  [[nodiscard]] Digest finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// Digest of long contents whose pieces are checked one by one: the SHA-256 of the pieces' SHA-256 digests, in order.
// All pieces have the same length, except that the last may be shorter.
class PiecewiseSha256 {
 public:
  explicit PiecewiseSha256(std::size_t piece_bytes) : missing_(piece_bytes), piece_bytes_(piece_bytes) {}
  void update(std::span<const std::uint8_t> bytes);
  [[nodiscard]] Digest finish();  // the object then starts again

 private:
  void end_piece();

  Sha256 pieces_;
  Sha256 piece_;
  std::size_t missing_;  // bytes until the piece under way is complete
  std::size_t piece_bytes_;
};

// Digest of a file of any size, read in pieces. not_found or io when it cannot be read.
Result<Digest> sha256_file(const std::filesystem::path& path);

}  // namespace starling::crypto
