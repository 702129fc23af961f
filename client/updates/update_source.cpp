#include "client/updates/update_source.h"

#include <algorithm>
#include <charconv>

#include "shared/base/files.h"
#include "shared/wire/json_reader.h"

namespace starling::updates {
namespace {

constexpr std::size_t kSourceBytesMax = 64 * 1024;
constexpr std::size_t kAddressBytesMax = 1024;
constexpr std::size_t kHostBytesMax = 253;
constexpr std::uint16_t kHttpsPort = 443;
constexpr std::string_view kScheme = "https://";

struct Fields {
  std::string feed;
  std::string key;
  std::string ca;
};

Error bad(std::string_view why) {
  return {ErrorCode::invalid_argument,
          "read the feed's address: " + std::string(why) + " (it looks like https://host/folder/feed.json)"};
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool is_host(std::string_view host) {
  constexpr std::string_view kHostCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.";
  return !host.empty() && host.size() <= kHostBytesMax &&
         host.find_first_not_of(kHostCharacters) == std::string_view::npos;
}

Status read_server(std::string_view authority, net::Endpoint& server) {
  const std::size_t colon = authority.find(':');
  server.host = authority.substr(0, colon);
  server.port = kHttpsPort;
  if (!is_host(server.host)) return bad("the host is no name or IPv4 address");
  if (colon == std::string_view::npos) return {};
  const std::string_view port = authority.substr(colon + 1);
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), server.port);
  if (problem == std::errc() && end == port.data() + port.size() && server.port != 0) return {};
  return bad("the port is no number from 1 to 65535");
}

}  // namespace

Result<UpdateSource> load_update_source(const std::filesystem::path& file) {
  STARLING_ASSIGN(const std::string json, read_file(file, kSourceBytesMax));
  auto source = read_update_source(json);
  if (!source.ok()) return source.error().prefixed("read '" + file.string() + "'");
  return source;
}

Result<UpdateSource> read_update_source(std::string_view json) {
  const auto read = [](wire::JsonReader& in, Fields& fields) {
    in.text("feed", fields.feed, kAddressBytesMax);
    in.text("key", fields.key, crypto::kPemBytesMax);
    if (in.present("ca")) in.text("ca", fields.ca, crypto::kPemBytesMax);
  };
  STARLING_ASSIGN(const Fields fields, wire::decode_json<Fields>(json, "update source", kSourceBytesMax, read));
  STARLING_ASSIGN(crypto::PublicKey key, crypto::PublicKey::from_pem(fields.key));
  std::string_view address = fields.feed;
  if (!address.starts_with(kScheme)) return bad("it does not begin with https://");
  if (!is_visible(address)) return bad("it has characters that no address has");
  address.remove_prefix(kScheme.size());
  const std::size_t slash = address.find('/');
  if (slash == std::string_view::npos || address.ends_with('/')) return bad("the feed's file is missing");
  UpdateSource source{{}, std::string(address.substr(slash)), {}, std::move(key), fields.ca};
  source.folder = source.feed_path.substr(0, source.feed_path.rfind('/') + 1);
  STARLING_TRY(read_server(address.substr(0, slash), source.server));
  return source;
}

}  // namespace starling::updates
