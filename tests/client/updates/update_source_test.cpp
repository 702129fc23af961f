#include "client/updates/update_source.h"

#include <doctest/doctest.h>

#include "shared/manifest/signed_root.h"
#include "shared/wire/json_writer.h"

using namespace starling;
using namespace starling::updates;

namespace {

Result<UpdateSource> source_at(const std::string& address) {
  wire::JsonWriter out;
  out.open("", '{');
  out.text("feed", address);
  out.text("key", crypto::PrivateKey::generate().public_key().to_pem());
  out.close('}');
  return read_update_source(out.str());
}

}  // namespace

TEST_CASE("a feed's address says where its files are") {
  const auto source = source_at("https://downloads.example.org/starling/feed.json");
  REQUIRE(source.ok());
  CHECK(source->server.host == "downloads.example.org");
  CHECK(source->server.port == 443);
  CHECK(source->feed_path == "/starling/feed.json");
  CHECK(source->folder == "/starling/");
  CHECK(source->ca_pem.empty());
  CHECK(source->trust.single_key.has_value());
  CHECK(!source->trust.root.has_value());
  CHECK(source_at("https://127.0.0.1:8443/feed.json")->server.port == 8443);
  CHECK(source_at("https://127.0.0.1:8443/feed.json")->folder == "/");
}

TEST_CASE("a source pins a root if it has one, and only one that enough of its keys signed") {
  wire::ReleaseRoot root;
  std::vector<crypto::PrivateKey> keys;
  for (const char* name : {"a", "b", "c"}) {
    keys.push_back(crypto::PrivateKey::generate());
    root.keys.push_back(manifest::root_key(name, keys.back().public_key()));
  }
  manifest::JointFile file{manifest::JointKind::root, wire::encode_root(root), {}, {}};
  const auto source = [&] {
    wire::JsonWriter out;
    out.open("", '{');
    out.text("feed", "https://example.org/feed.json");
    out.text("key", keys[0].public_key().to_pem());  // for programs that know no roots
    out.text("root", manifest::encode_joint_file(file));
    out.close('}');
    return read_update_source(out.str());
  };
  file.signatures = {manifest::sign_jointly(file, keys[0])};
  CHECK(source().error().code == ErrorCode::permission_denied);
  file.signatures.push_back(manifest::sign_jointly(file, keys[2]));
  REQUIRE(source().ok());
  CHECK(source()->trust.root->version == 1);
  CHECK(!source()->trust.single_key.has_value());
}

TEST_CASE("addresses that are no HTTPS file are refused") {
  for (const char* address :
       {"", "http://example.org/feed.json", "https://", "https://example.org", "https://example.org/",
        "https://example.org/a/", "https:///feed.json", "https://example.org:/f", "https://example.org:0/f",
        "https://example.org:70000/f", "https://user@example.org/f", "https://example.org/a b", "file:///etc/passwd"}) {
    CHECK_MESSAGE(!source_at(address).ok(), address);
  }
  CHECK(!read_update_source(R"({"feed":"https://example.org/f","key":"none"})").ok());
  CHECK(load_update_source("/nonexistent/updates.json").error().code == ErrorCode::not_found);
}
