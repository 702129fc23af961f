#include "shared/crypto/digest.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "shared/crypto/openssl_handles.h"

namespace starling::crypto {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Digest sha256(std::span<const std::uint8_t> bytes) {
  Digest digest;
  unsigned int size = 0;
  VERIFY(EVP_Digest(bytes.data(), bytes.size(), digest.bytes.data(), &size, EVP_sha256(), nullptr) == 1);
  return digest;
}

Digest sha256(std::string_view bytes) { return sha256(as_bytes(bytes)); }

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  VERIFY(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::update(std::span<const std::uint8_t> bytes) {
  VERIFY(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

Digest Sha256::finish() {
  Digest digest;
  unsigned int size = 0;
  VERIFY(EVP_DigestFinal_ex(context_.get(), digest.bytes.data(), &size) == 1 && size == Digest::kSize);
  VERIFY(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  return digest;
}

void PiecewiseSha256::update(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min(missing_, bytes.size());
    piece_.update(bytes.first(part));
    bytes = bytes.subspan(part);
    missing_ -= part;
    if (missing_ == 0) end_piece();
  }
}

void PiecewiseSha256::end_piece() {
  pieces_.update(piece_.finish().bytes);
  missing_ = piece_bytes_;
}

Digest PiecewiseSha256::finish() {
  if (missing_ < piece_bytes_) end_piece();
  return pieces_.finish();
}

Result<Digest> sha256_file(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::io;
    return Error{code, "open '" + path.string() + "': " + std::strerror(errno)};
  }
  Sha256 hash;
  std::string buffer(kReadBytes, '\0');
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    hash.update(std::string_view(buffer).substr(0, size));
  }
  if (std::ferror(file.get()) != 0) {
    return Error{ErrorCode::io, "read '" + path.string() + "': " + std::strerror(errno)};
  }
  return hash.finish();
}

}  // namespace starling::crypto
