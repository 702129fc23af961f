// A mirror of a run's shards, over HTTPS.
#include <fmt/core.h>

#include <utility>

#include "client/daemon/shard_keeper.h"
#include "shared/crypto/tls.h"
#include "shared/net/http_client.h"
#include "shared/wire/web_address.h"

namespace starling::daemon {
namespace {

class Mirror final : public ShardSource {
 public:
  Mirror(std::string address, wire::WebAddress parsed, crypto::TlsContext tls, net::HttpOptions options)
      : address_(std::move(address)),
        folder_(std::move(parsed.path)),
        client_({std::move(parsed.host), parsed.port}, std::move(tls), std::move(options)) {}

  [[nodiscard]] std::string name() const override { return "mirror " + address_; }
  Status fetch(const wire::Artefact& shard, const std::filesystem::path& destination,
               std::function<bool(std::int64_t)> progress) override {
    return client_.download_artefact({.path = folder_ + shard.sha256.hex(),
                                      .sha256 = shard.sha256,
                                      .bytes = shard.bytes,
                                      .destination = destination,
                                      .progress = std::move(progress)});
  }
  void cancel() override { client_.cancel(); }
  [[nodiscard]] std::int64_t wire_bytes() const override { return client_.wire_bytes(); }

 private:
  std::string address_;
  std::string folder_;
  net::HttpClient client_;
};

}  // namespace

Result<std::unique_ptr<ShardSource>> connect_mirror(const wire::DataOptions& data, std::size_t mirror,
                                                    const transport::AddressPolicy& addresses, net::Line* line) {
  const std::string& address = data.mirrors[mirror];
  STARLING_ASSIGN(wire::WebAddress parsed, wire::parse_web_address(address));
  auto tls = crypto::TlsContext::web_client(parsed.host, data.mirror_ca);
  if (!tls.ok()) return tls.error().prefixed("mirror " + address);
  net::HttpOptions options{.line = line, .may_dial = [addresses](const std::string& host, int port) {
                             return transport::check_address(host, port, addresses);
                           }};
  return std::unique_ptr<ShardSource>(
      std::make_unique<Mirror>(address, std::move(parsed), std::move(*tls), std::move(options)));
}

}  // namespace starling::daemon
