#include "client/updates/updater.h"

#include <utility>

#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/base/version.h"
#include "shared/manifest/signed_feed.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::updates {
namespace {

constexpr std::size_t kMemoryBytesMax = 16 * 1024;
constexpr std::size_t kAddressBytesMax = 2048;
constexpr std::int64_t kCountMax = std::int64_t{1} << 53;
constexpr int kRootsPerCheckMax = 64;  // more are followed in the next check

struct Memory {
  std::int64_t serial = 0;
  std::int64_t checked_ms = 0;
  std::string root_feed;  // the feed that the root belongs to
  std::string root;       // empty: none was seen
};

void read_memory(wire::JsonReader& in, Memory& out) {
  in.integer("serial", out.serial, 0, kCountMax);
  in.integer("checked_ms", out.checked_ms, 0, kCountMax);
  if (!in.present("root")) return;
  in.text("root_feed", out.root_feed, kAddressBytesMax);
  in.text("root", out.root, wire::kRootBytesMax, wire::TextForm::exact);
}

// Answers of hosts for plain files to a name that they do not have.
bool is_missing(int status) { return status == 403 || status == 404 || status == 410; }

}  // namespace

Updater::Updater(UpdateSource source, std::optional<Installation> installation, const std::filesystem::path& data_dir,
                 net::Line* line)
    : source_(std::move(source)),
      trust_(source_.trust),
      line_(line),
      installation_(std::move(installation)),
      memory_file_(data_dir / "updates.json") {
  recall();
}

void Updater::recall() {
  const auto json = read_file(memory_file_, kMemoryBytesMax);
  if (!json.ok()) return;
  const auto memory = wire::decode_json<Memory>(*json, "updates.json", kMemoryBytesMax, read_memory);
  if (!memory.ok()) return log_warning("{}; it is made anew", memory.error().message);
  serial_seen_ = memory->serial;
  last_check_ = {memory->checked_ms};
  if (memory->root.empty() || memory->root_feed != feed_address()) return;
  auto root = wire::decode_root(memory->root);
  if (!root.ok()) return log_warning("updates.json: {}; it is made anew", root.error().message);
  trust_.root = newer_root(std::move(trust_.root), std::move(*root));
}

Status Updater::remember() const {
  wire::JsonWriter out;
  out.open("", '{');
  out.integer("serial", serial_seen_);
  out.integer("checked_ms", last_check_.unix_ms);
  if (trust_.root.has_value()) {
    out.text("root_feed", feed_address());
    out.text("root", wire::encode_root(*trust_.root));
  }
  out.close('}');
  return write_file_atomically(memory_file_, out.str());
}

Result<std::unique_ptr<web::WebClient>> Updater::connect() {
  web::WebOptions options;
  options.ca_pem = source_.ca_pem;
  options.reply_bytes_max = manifest::kSignedFeedBytesMax;
  options.line = line_;
  STARLING_ASSIGN(auto client, web::WebClient::create(std::move(options)));
  const MutexLock lock(mutex_);
  if (cancelled_) client->cancel();
  client_ = client.get();
  return client;
}

void Updater::disconnect(std::unique_ptr<web::WebClient> client) {
  wire_bytes_ += client->wire_bytes();
  const MutexLock lock(mutex_);
  client_ = nullptr;
}

void Updater::cancel() {
  cancelled_ = true;
  const MutexLock lock(mutex_);
  if (client_ != nullptr) client_->cancel();
}

Status Updater::follow_roots(web::WebClient& client) {
  for (int followed = 0; followed < kRootsPerCheckMax; ++followed) {
    const std::string name = wire::root_file_name(next_root_version(trust_));
    STARLING_ASSIGN(web::WebReply response, client.get(address_of(source_.folder + name)));
    if (is_missing(response.status)) return {};
    auto file = web::body_of(std::move(response));
    if (!file.ok()) return file.error().prefixed(name);
    auto root = next_root(trust_, *file);
    if (!root.ok()) return root.error().prefixed(name);
    trust_.root = std::move(*root);
    STARLING_TRY(remember());
    log_info("the release feed's keys are those of root version {} now", trust_.root->version);
  }
  return {};
}

Result<wire::ReleaseFeed> Updater::ask(web::WebClient& client, WallTime now) {
  STARLING_TRY(follow_roots(client));
  STARLING_ASSIGN(web::WebReply response, client.get(address_of(source_.feed_path)));
  STARLING_ASSIGN(const std::string file, web::body_of(std::move(response)));
  return believed_feed(trust_, file, now);
}

Result<Found> Updater::check(WallTime now) {
  STARLING_ASSIGN(auto client, connect());
  auto feed = ask(*client, now);
  disconnect(std::move(client));
  const std::string where = "look for updates at " + source_.server.host;
  if (!feed.ok()) return feed.error().prefixed(where);
  Known known{std::string(kVersion), std::string(wire::this_platform()), serial_seen_, {}};
  if (installation_.has_value()) {
    // The published version: programs of a wrong build must not be installed again.
    known.version = installation_->version();
    known.failed = installation_->failed();
  }
  auto judgement = judge(*feed, known, now);
  if (!judgement.ok()) return judgement.error().prefixed(where);
  serial_seen_ = feed->serial;
  last_check_ = now;
  STARLING_TRY(remember());
  return Found{std::move(*feed), std::move(*judgement)};
}

Status Updater::fetch(const Found& found, std::int64_t free_bytes_min,
                      const std::function<bool(std::int64_t)>& progress) {
  VERIFY(installation_.has_value() && found.judgement.kind == Judgement::Kind::newer);
  const wire::ReleaseFile& file = found.judgement.file;
  STARLING_TRY(installation_->check_room(file.bytes + file.unpacked_bytes + free_bytes_min));
  STARLING_TRY(ensure_directory(installation_->downloads()));
  web::WebFile download;
  download.address = address_of(source_.folder + file.name);
  download.sha256 = file.sha256;
  download.bytes = file.bytes;
  download.destination = installation_->downloads() / file.name;
  download.progress = progress;
  STARLING_ASSIGN(auto client, connect());
  const Status downloaded = client->download(download);
  disconnect(std::move(client));
  if (!downloaded.ok()) return downloaded.error().prefixed("download the update");
  return installation_->unpack(download.destination, found.feed, file, [this] { return !cancelled_.load(); });
}

}  // namespace starling::updates
