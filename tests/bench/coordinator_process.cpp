#include "tests/bench/coordinator_process.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/permutation.h"
#include "shared/crypto/tls.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/net/http_client.h"
#include "shared/wire/json_reader.h"
#include "tests/support/free_port.h"

namespace starling::bench {
namespace {

constexpr std::size_t kStatusBytesMax = 8 * 1024 * 1024;  // it names every volunteer
constexpr std::size_t kPemBytesMax = 64 * 1024;
constexpr std::size_t kLogBytesMax = 1024 * 1024;
constexpr const char* kLog = "serve.log";
constexpr int kContext = 16;

// Path of the program beside this one, where the build puts it.
std::string coordinator_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "starling-coordinator").string();
}

// Runs the program to its end and returns its output.
Result<std::string> run_command(const std::vector<std::string>& words) {
  STARLING_ASSIGN(const auto child, ChildProcess::start(words, coordinator_program()));
  std::string text;
  for (auto line = child->receive(); line.ok(); line = child->receive()) text += *line + "\n";
  if (text.empty()) return Error{ErrorCode::internal, fmt::format("starling-coordinator {} failed", words.front())};
  return text;
}

std::string loopback(std::uint16_t port) { return fmt::format("127.0.0.1:{}", port); }

// Text that is just long enough for every member's lane and for an epoch of two batches, the held-out tenth included.
std::string text_for(const ProjectOptions& options) {
  const SampleCount samples = std::max((options.target_batch_size + options.micro_batch_size) * options.peers_max,
                                       2 * kContext * options.target_batch_size);
  std::string text(static_cast<std::size_t>(samples + kContext + 64) * 10 / 9 + 64, ' ');
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (mix64(i) % 5 != 0) text[i] = static_cast<char>('a' + mix64(i) % 26);
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<CoordinatorProcess>> CoordinatorProcess::create(const ProjectOptions& options) {
  std::unique_ptr<CoordinatorProcess> process(new CoordinatorProcess);
  STARLING_TRY(process->make_project(options));
  return process;
}

Status CoordinatorProcess::make_project(const ProjectOptions& options) {
  const std::string project = this->project().string();
  port_ = starling::testing::free_port();
  do {
    admin_port_ = starling::testing::free_port();
  } while (admin_port_ == port_);
  STARLING_TRY(run_command({"init", project, "--name", "Load", "--listen", loopback(port_), "--open"}).status());
  STARLING_ASSIGN(ca_pem_, read_file(this->project() / "ca.pem", kPemBytesMax));
  STARLING_TRY(write_file_atomically(folder_ / "text.txt", text_for(options)));
  const std::string manifest = fmt::format(
      "run_id = \"{}\"\npeers_max = {}\ntarget_batch_size = {}\nmicro_batch_size = {}\naudit_rate = {}\n"
      "[model]\nlayers = 1\nwidth = 16\nheads = 1\ncontext = {}\n"
      "[data]\ntrain = \"text.txt\"\nvalidation_fraction = 0.1\n",
      kRun, options.peers_max, options.target_batch_size, options.micro_batch_size, options.audit_rate, kContext);
  STARLING_TRY(write_file_atomically(folder_ / "manifest.toml", manifest));
  STARLING_TRY(run_command({"run", "create", project, (folder_ / "manifest.toml").string()}).status());
  return run_command({"run", "start", project}).status();
}

Status CoordinatorProcess::serve() {
  const std::string log = (folder_ / kLog).string();
  STARLING_ASSIGN(server_, ChildProcess::start({"serve", project().string(), "--admin", loopback(admin_port_)},
                                               coordinator_program(), log));
  for (;;) {
    const auto line = server_->receive();
    if (!line.ok()) {
      STARLING_ASSIGN(std::string told, read_file(log, kLogBytesMax));
      return Error{ErrorCode::unavailable, "starling-coordinator serve ended: " + told};
    }
    if (line->find("listening on") != std::string::npos) return read_manifest();
  }
}

Status CoordinatorProcess::read_manifest() {
  STARLING_ASSIGN(auto tls, crypto::TlsContext::coordinator_client(ca_pem_, std::nullopt));
  net::HttpClient client({"127.0.0.1", port_}, std::move(tls));
  STARLING_ASSIGN(auto response, client.get("/v1/run"));
  STARLING_ASSIGN(const std::string body, net::body_of(std::move(response)));
  STARLING_ASSIGN(const auto envelope, manifest::decode_envelope(body));
  STARLING_ASSIGN(manifest_, wire::decode_manifest(envelope.json));
  return {};
}

double CoordinatorProcess::peak_resident_bytes() const {
  return status_field_bytes(std::to_string(server_->pid()), "VmHWM:");
}

double CoordinatorProcess::resident_bytes() const {
  return status_field_bytes(std::to_string(server_->pid()), "VmRSS:");
}

std::int64_t CoordinatorProcess::descriptors() const {
  const std::filesystem::directory_iterator open(fmt::format("/proc/{}/fd", server_->pid()));
  return std::distance(begin(open), end(open));
}

double CoordinatorProcess::disk_bytes() const {
  double bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    std::error_code gone;
    if (const auto size = entry.file_size(gone); !gone) bytes += static_cast<double>(size);
  }
  return bytes;
}

Result<std::string> CoordinatorProcess::metrics() const {
  STARLING_ASSIGN(auto tls, crypto::TlsContext::coordinator_client(ca_pem_, std::nullopt));
  net::HttpClient client({"127.0.0.1", admin_port_}, std::move(tls));
  STARLING_ASSIGN(auto response, client.get("/metrics"));
  return net::body_of(std::move(response));
}

double CoordinatorProcess::cpu_seconds() const {
  std::ifstream file(fmt::format("/proc/{}/stat", server_->pid()));
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  constexpr int kUserTime = 12;  // fields after the program's name; the system's time follows
  std::string skipped;
  for (int i = 1; i < kUserTime; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Result<SampleCount> CoordinatorProcess::ledger_samples() const {
  STARLING_ASSIGN(const std::string status, run_command({"run", "status", project().string(), "--json"}));
  STARLING_ASSIGN(const auto document, wire::JsonDocument::parse(status, kStatusBytesMax));
  wire::JsonReader reader = document.root();
  SampleCount samples = 0;
  reader.integer("ledger_samples", samples, 0, SampleCount{1} << 60);
  STARLING_TRY(reader.status());
  return samples;
}

}  // namespace starling::bench
