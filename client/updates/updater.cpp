#include "client/updates/updater.h"

#include <utility>

#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/base/version.h"
#include "shared/crypto/tls.h"
#include "shared/manifest/signed_feed.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::updates {
namespace {

constexpr std::size_t kMemoryBytesMax = 4096;
constexpr std::int64_t kCountMax = std::int64_t{1} << 53;

struct Memory {
  std::int64_t serial = 0;
  std::int64_t checked_ms = 0;
};

}  // namespace

Updater::Updater(UpdateSource source, std::optional<Installation> installation, const std::filesystem::path& data_dir,
                 net::Line* line)
    : source_(std::move(source)),
      line_(line),
      installation_(std::move(installation)),
      memory_file_(data_dir / "updates.json") {
  recall();
}

void Updater::recall() {
  const auto json = read_file(memory_file_, kMemoryBytesMax);
  if (!json.ok()) return;
  const auto memory =
      wire::decode_json<Memory>(*json, "updates.json", kMemoryBytesMax, [](wire::JsonReader& in, Memory& out) {
        in.integer("serial", out.serial, 0, kCountMax);
        in.integer("checked_ms", out.checked_ms, 0, kCountMax);
      });
  if (!memory.ok()) return log_warning("{}; it is made anew", memory.error().message);
  serial_seen_ = memory->serial;
  last_check_ = {memory->checked_ms};
}

Status Updater::remember(std::int64_t serial, WallTime now) {
  serial_seen_ = serial;
  last_check_ = now;
  wire::JsonWriter out;
  out.open("", '{');
  out.integer("serial", serial);
  out.integer("checked_ms", now.unix_ms);
  out.close('}');
  return write_file_atomically(memory_file_, out.str());
}

Result<std::unique_ptr<net::HttpClient>> Updater::connect() {
  STARLING_ASSIGN(crypto::TlsContext tls, crypto::TlsContext::web_client(source_.server.host, source_.ca_pem));
  net::HttpOptions options;
  options.response_bytes_max = manifest::kSignedFeedBytesMax;
  options.line = line_;
  auto client = std::make_unique<net::HttpClient>(source_.server, std::move(tls), options);
  const MutexLock lock(mutex_);
  if (cancelled_) client->cancel();
  client_ = client.get();
  return client;
}

void Updater::disconnect(std::unique_ptr<net::HttpClient> client) {
  wire_bytes_ += client->wire_bytes();
  const MutexLock lock(mutex_);
  client_ = nullptr;
}

void Updater::cancel() {
  cancelled_ = true;
  const MutexLock lock(mutex_);
  if (client_ != nullptr) client_->cancel();
}

Result<Found> Updater::check(WallTime now) {
  STARLING_ASSIGN(auto client, connect());
  auto response = client->get(source_.feed_path);
  disconnect(std::move(client));
  auto file = response.ok() ? net::body_of(std::move(*response)) : Result<std::string>(response.error());
  const std::string where = "look for updates at " + source_.server.host;
  if (!file.ok()) return file.error().prefixed(where);
  auto feed = manifest::verify_feed(*file, source_.key);
  if (!feed.ok()) return feed.error().prefixed(where);
  Known known{std::string(kVersion), std::string(wire::this_platform()), serial_seen_, {}};
  if (installation_.has_value()) {
    // The published version: programs of a wrong build must not be installed again.
    known.version = installation_->version();
    known.failed = installation_->failed();
  }
  auto judgement = judge(*feed, known, now);
  if (!judgement.ok()) return judgement.error().prefixed(where);
  STARLING_TRY(remember(feed->serial, now));
  return Found{std::move(*feed), std::move(*judgement)};
}

Status Updater::fetch(const Found& found, std::int64_t free_bytes_min,
                      const std::function<bool(std::int64_t)>& progress) {
  VERIFY(installation_.has_value() && found.judgement.kind == Judgement::Kind::newer);
  const wire::ReleaseFile& file = found.judgement.file;
  STARLING_TRY(installation_->check_room(file.bytes + file.unpacked_bytes + free_bytes_min));
  STARLING_TRY(ensure_directory(installation_->downloads()));
  net::Download download;
  download.path = source_.folder + file.name;
  download.sha256 = file.sha256;
  download.bytes = file.bytes;
  download.destination = installation_->downloads() / file.name;
  download.progress = progress;
  STARLING_ASSIGN(auto client, connect());
  const Status downloaded = client->download_artefact(download);
  disconnect(std::move(client));
  if (!downloaded.ok()) return downloaded.error().prefixed("download the update");
  return installation_->unpack(download.destination, found.feed, file, [this] { return !cancelled_.load(); });
}

}  // namespace starling::updates
