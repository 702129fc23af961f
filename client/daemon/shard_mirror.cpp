// A mirror of a run's shards, over HTTPS.
#include <utility>

#include "client/daemon/shard_keeper.h"
#include "shared/web/web_client.h"

namespace starling::daemon {
namespace {

class Mirror final : public ShardSource {
 public:
  Mirror(std::string address, wire::WebAddress folder, std::unique_ptr<web::WebClient> client)
      : address_(std::move(address)), folder_(std::move(folder)), client_(std::move(client)) {}

  [[nodiscard]] std::string name() const override { return "mirror " + address_; }
  Status fetch(const wire::Artefact& shard, const std::filesystem::path& destination,
               std::function<bool(std::int64_t)> progress) override {
    return client_->download({.address = {folder_.host, folder_.port, folder_.path + shard.sha256.hex()},
                              .sha256 = shard.sha256,
                              .bytes = shard.bytes,
                              .destination = destination,
                              .progress = std::move(progress)});
  }
  void cancel() override { client_->cancel(); }
  [[nodiscard]] std::int64_t wire_bytes() const override { return client_->wire_bytes(); }

 private:
  std::string address_;
  wire::WebAddress folder_;
  std::unique_ptr<web::WebClient> client_;
};

}  // namespace

Result<std::unique_ptr<ShardSource>> connect_mirror(const wire::DataOptions& data, std::size_t mirror,
                                                    const net::AddressPolicy& addresses, net::Line* line) {
  const std::string& address = data.mirrors[mirror];
  STARLING_ASSIGN(wire::WebAddress folder, wire::parse_web_address(address));
  web::WebOptions options;
  options.ca_pem = data.mirror_ca;
  options.line = line;
  options.may_dial = [addresses](const std::string& host, int port) {
    return net::check_address(host, port, addresses);
  };
  auto client = web::WebClient::create(std::move(options));
  if (!client.ok()) return client.error().prefixed("mirror " + address);
  return std::unique_ptr<ShardSource>(std::make_unique<Mirror>(address, std::move(folder), std::move(*client)));
}

}  // namespace starling::daemon
