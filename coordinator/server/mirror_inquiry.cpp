#include "coordinator/server/mirror_inquiry.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <system_error>

#include "coordinator/dataset/progress.h"
#include "shared/base/plain_text.h"
#include "shared/net/address_policy.h"
#include "shared/web/web_client.h"

namespace starling::server {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

void tell(const std::string& line) { fmt::print(stderr, "{}\n", plain_line(line)); }

// Connections that the other end has closed end no program meanwhile.
class NoSigpipe {
 public:
  NoSigpipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~NoSigpipe() { std::signal(SIGPIPE, before_); }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  void (*before_)(int);
};

// Where the shard lies until its digest is known.
class Scratch {
 public:
  explicit Scratch(std::filesystem::path file) : file_(std::move(file)) { clear(); }
  ~Scratch() { clear(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  void clear() const {
    std::error_code unknown;
    std::filesystem::remove(file_, unknown);
    std::filesystem::remove(file_.string() + ".part", unknown);
  }

 private:
  std::filesystem::path file_;
};

// One mirror's answer.
struct Answer {
  Status works;
  Status near;  // why volunteers would not dial it, where they are in other networks than the coordinator
};

Answer ask(const std::string& mirror, const wire::DataOptions& data, const wire::Artefact& shard,
           const net::AddressPolicy& addresses, const Scratch& scratch) {
  Answer answer;
  const auto folder = wire::parse_web_address(mirror);
  if (!folder.ok()) return {folder.error(), {}};
  web::WebOptions options;
  options.ca_pem = data.mirror_ca;
  options.may_dial = [&](const std::string& host, int port) -> Status {
    answer.near = net::check_address(host, port, addresses);
    return {};
  };
  const auto client = web::WebClient::create(std::move(options));
  if (!client.ok()) return {client.error(), {}};
  scratch.clear();
  dataset::Progress progress(tell);
  progress.begin("asking mirror " + mirror, shard.bytes / kMegabyte, "MB");
  answer.works = (*client)->download({.address = {folder->host, folder->port, folder->path + shard.sha256.hex()},
                                      .sha256 = shard.sha256,
                                      .bytes = shard.bytes,
                                      .destination = scratch.file(),
                                      .progress = [&progress](std::int64_t bytes) {
                                        progress.advance_to(bytes / kMegabyte);
                                        return true;
                                      }});
  return answer;
}

void tell_of(const std::string& mirror, const Answer& answer) {
  if (answer.works.ok()) {
    tell(fmt::format("mirror {}: works", mirror));
    if (!answer.near.ok()) {
      tell(fmt::format("warning: volunteers outside of the coordinator's own network will not ask it: {}",
                       answer.near.error().message));
    }
    return;
  }
  const Error& error = answer.works.error();
  const bool missing = error.code == ErrorCode::not_found || error.code == ErrorCode::permission_denied;
  tell(fmt::format("warning: mirror {} does not work: {}{}", mirror, error.message,
                   missing ? "; is everything in its folder that data prepare wrote, under its own names?" : ""));
}

}  // namespace

Status ask_mirrors(const wire::DataOptions& data, const Project& project, const std::filesystem::path& scratch) {
  if (data.mirrors.empty() || data.shards.empty()) return {};
  const wire::Artefact& shard =
      std::min_element(data.shards.begin(), data.shards.end(), [](const wire::Shard& a, const wire::Shard& b) {
        return a.file.bytes < b.file.bytes;
      })->file;
  const NoSigpipe guard;
  const Scratch file(scratch / "mirror-shard");
  const net::AddressPolicy addresses = net::policy_for_coordinator(project.config.public_at.host);
  std::size_t working = 0;
  for (const std::string& mirror : data.mirrors) {
    const Answer answer = ask(mirror, data, shard, addresses, file);
    tell_of(mirror, answer);
    if (answer.works.ok()) ++working;
  }
  if (working > 0) return {};
  return Error{ErrorCode::failed_precondition,
               fmt::format("none of the {} mirrors gives shards out, so nobody could train; mend one, or say "
                           "--mirrors-later if they are filled later or cannot be reached from here",
                           data.mirrors.size())};
}

}  // namespace starling::server
