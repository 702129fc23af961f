#include "client/updates/update_source.h"

#include "shared/base/files.h"
#include "shared/manifest/signed_root.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/web_address.h"

namespace starling::updates {
namespace {

constexpr std::size_t kSourceBytesMax = 64 * 1024;
constexpr std::size_t kAddressBytesMax = 1024;

struct Fields {
  std::string feed;
  std::string key;
  std::string root;
  std::string ca;
};

Error bad(std::string_view why) {
  return {ErrorCode::invalid_argument,
          "read the feed's address: " + std::string(why) + " (it looks like https://host/folder/feed.json)"};
}

Result<Trust> pinned_trust(const Fields& fields) {
  Trust trust;
  if (fields.root.empty()) {
    STARLING_ASSIGN(trust.single_key, crypto::PublicKey::from_pem(fields.key));
  } else {
    STARLING_ASSIGN(trust.root, manifest::verify_pinned_root(fields.root));
  }
  return trust;
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
    if (in.present("root")) {
      in.text("root", fields.root, manifest::kSignedRootBytesMax, wire::TextForm::exact);
    } else {
      in.text("key", fields.key, crypto::kPemBytesMax, wire::TextForm::exact);
    }
    if (in.present("ca")) in.text("ca", fields.ca, crypto::kPemBytesMax, wire::TextForm::exact);
  };
  STARLING_ASSIGN(const Fields fields, wire::decode_json<Fields>(json, "update source", kSourceBytesMax, read));
  STARLING_ASSIGN(Trust trust, pinned_trust(fields));
  auto address = wire::parse_web_address(fields.feed);
  if (!address.ok()) return bad(address.error().message);
  if (address->path.ends_with('/')) return bad("the feed's file is missing");
  UpdateSource source{
      {std::move(address->host), address->port}, std::move(address->path), {}, std::move(trust), fields.ca};
  source.folder = source.feed_path.substr(0, source.feed_path.rfind('/') + 1);
  return source;
}

}  // namespace starling::updates
