#include "client/storage/remote_access.h"

#include <fmt/core.h>

#include <system_error>

#include "shared/base/files.h"
#include "shared/crypto/keys.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::storage {
namespace {

constexpr std::size_t kFileBytesMax = 4 * crypto::kPemBytesMax;
constexpr std::size_t kAddressBytesMax = 64;
constexpr std::size_t kDigestBytesMax = 64;

std::filesystem::path path_in(const std::filesystem::path& data_dir) { return data_dir / "remote.json"; }

Result<RemoteAccess> decode(std::string_view json) {
  std::string hash;
  STARLING_ASSIGN(RemoteAccess access,
                  wire::decode_json<RemoteAccess>(
                      json, "remote access", kFileBytesMax, [&hash](wire::JsonReader& in, RemoteAccess& out) {
                        in.text("address", out.address, kAddressBytesMax);
                        wire::read_int(in, "port", out.port, 1, 65535);
                        in.text("token_sha256", hash, kDigestBytesMax);
                        in.text("authority", out.authority_pem, crypto::kPemBytesMax, wire::TextForm::exact);
                        in.text("certificate", out.certificate_pem, crypto::kPemBytesMax, wire::TextForm::exact);
                        in.text("key", out.key_pem, crypto::kPemBytesMax, wire::TextForm::exact);
                      }));
  STARLING_ASSIGN(access.token_hash, Digest::from_hex(hash));
  return access;
}

}  // namespace

Result<std::optional<RemoteAccess>> load_remote_access(const std::filesystem::path& data_dir) {
  const auto json = read_file(path_in(data_dir), kFileBytesMax);
  if (!json.ok() && json.error().code == ErrorCode::not_found) return std::optional<RemoteAccess>();
  auto access = json.ok() ? decode(*json) : Result<RemoteAccess>(json.error());
  if (!access.ok()) return access.error().prefixed(fmt::format("read '{}'", path_in(data_dir).string()));
  return std::optional<RemoteAccess>(std::move(*access));
}

Status save_remote_access(const std::filesystem::path& data_dir, const RemoteAccess& access) {
  wire::JsonWriter out;
  out.open("", '{');
  out.text("address", access.address);
  out.integer("port", access.port);
  out.text("token_sha256", access.token_hash.hex());
  out.text("authority", access.authority_pem);
  out.text("certificate", access.certificate_pem);
  out.text("key", access.key_pem);
  out.close('}');
  return write_file_atomically(path_in(data_dir), out.str() + "\n", {.mode = 0600});
}

Status remove_remote_access(const std::filesystem::path& data_dir) {
  std::error_code problem;
  std::filesystem::remove(path_in(data_dir), problem);
  if (!problem) return {};
  return Error{ErrorCode::io, fmt::format("remove '{}': {}", path_in(data_dir).string(), problem.message())};
}

}  // namespace starling::storage
