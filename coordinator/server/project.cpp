#include "coordinator/server/project.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "coordinator/server/arguments.h"
#include "db/postgres/open.h"
#include "db/schema/migrate.h"
#include "shared/base/files.h"
#include "shared/base/os_error.h"
#include "shared/base/shell_words.h"
#include "shared/manifest/key_certificate.h"
#include "shared/protocol/names.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

constexpr std::size_t kSmallFileBytesMax = 64 * 1024;
constexpr std::size_t kDatabaseUrlBytesMax = 2000;
constexpr std::int64_t kRenewBeforeMs = std::int64_t{30} * 24 * 3600 * 1000;
constexpr WriteOptions kSecret{.mode = 0600};

void write_endpoint(wire::JsonWriter& writer, std::string_view name, const net::Endpoint& endpoint) {
  writer.open(name, '{');
  writer.text("host", endpoint.host);
  writer.integer("port", endpoint.port);
  writer.close('}');
}

void read_endpoint(wire::JsonReader& reader, std::string_view name, net::Endpoint& endpoint) {
  reader.object(name, [&](wire::JsonReader& item) {
    item.text("host", endpoint.host, 255);
    int port = 0;
    wire::read_int(item, "port", port, 1, 65535);
    endpoint.port = static_cast<std::uint16_t>(port);
  });
}

std::string encode(const ProjectConfig& config) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("name", config.name);
  write_endpoint(writer, "listen", config.listen);
  write_endpoint(writer, "public", config.public_at);
  writer.boolean("open_to_all", config.open_to_all);
  writer.boolean("approval", config.approval);
  writer.boolean("anonymous", config.anonymous);
  writer.integer("hosts_per_account", config.hosts_per_account);
  writer.integer("copies_bytes", config.copies_bytes);
  if (!config.database.empty()) writer.text("database", config.database);
  writer.close('}');
  return writer.str() + "\n";
}

Result<ProjectConfig> decode_config(std::string_view text, const std::filesystem::path& file) {
  return wire::decode_json<ProjectConfig>(
      text, fmt::format("'{}'", file.string()), kSmallFileBytesMax,
      [](wire::JsonReader& reader, ProjectConfig& config) {
        reader.text("name", config.name, wire::kDisplayNameBytesMax);
        read_endpoint(reader, "listen", config.listen);
        read_endpoint(reader, "public", config.public_at);
        reader.boolean("open_to_all", config.open_to_all);
        for (auto [name, flag] : {std::pair{"approval", &config.approval}, std::pair{"anonymous", &config.anonymous}}) {
          if (reader.present(name)) reader.boolean(name, *flag);
        }
        if (reader.present("hosts_per_account")) {
          reader.integer("hosts_per_account", config.hosts_per_account, 1, accounts::kHostsPerAccountMax);
        }
        if (reader.present("copies_bytes")) reader.integer("copies_bytes", config.copies_bytes, 0, INT64_MAX);
        if (reader.present("database"))
          reader.text("database", config.database, kDatabaseUrlBytesMax, wire::TextForm::exact);
      });
}

Result<std::string> read_text(const ProjectFiles& files, const char* name) {
  auto text = read_file(files.at(name), kSmallFileBytesMax);
  if (!text) return text.error().prefixed(fmt::format("read '{}'", files.at(name).string()));
  return text;
}

Result<crypto::PrivateKey> read_key(const ProjectFiles& files, const char* name) {
  STARLING_ASSIGN(const std::string pem, read_text(files, name));
  auto key = crypto::PrivateKey::from_pem(pem);
  if (!key) return key.error().prefixed(fmt::format("'{}'", files.at(name).string()));
  return key;
}

// manifest.key: the private key in PEM. If it has a root, the root's public key and its certificate for the key follow.
constexpr std::string_view kRootBegins = "-----BEGIN PUBLIC KEY-----";
constexpr std::string_view kRootEnds = "-----END PUBLIC KEY-----\n";

struct ManifestKey {
  crypto::PrivateKey key;
  crypto::PublicKey root;
  std::string certificate;
};

Result<ManifestKey> parse_manifest_key(const std::string& text) {
  const std::size_t begin = text.find(kRootBegins);
  STARLING_ASSIGN(crypto::PrivateKey key, crypto::PrivateKey::from_pem(text.substr(0, begin)));
  if (begin == std::string::npos) {
    crypto::PublicKey root = key.public_key();
    return ManifestKey{std::move(key), std::move(root), ""};
  }
  const std::size_t end = std::min(text.size(), text.find(kRootEnds, begin)) + kRootEnds.size();
  if (end > text.size()) return Error{ErrorCode::corrupt, "the root's public key has no end"};
  STARLING_ASSIGN(crypto::PublicKey root, crypto::PublicKey::from_pem(text.substr(begin, end - begin)));
  std::string certificate = text.substr(end, text.find('\n', end) - end);
  STARLING_ASSIGN(const manifest::KeyCertificate certified, manifest::verify_key(certificate, root));
  if (certified.key.spki() != key.public_key().spki()) {
    return Error{ErrorCode::corrupt, "the root's word is for another key"};
  }
  return ManifestKey{std::move(key), std::move(root), std::move(certificate)};
}

Result<ManifestKey> read_manifest_key(const ProjectFiles& files) {
  STARLING_ASSIGN(const std::string text, read_text(files, "manifest.key"));
  auto key = parse_manifest_key(text);
  if (!key) return key.error().prefixed(fmt::format("'{}'", files.at("manifest.key").string()));
  return key;
}

// Hosts that browsers may show in the address bar.
std::vector<std::string> web_hosts(const ProjectConfig& config) {
  std::vector<std::string> hosts = {config.public_at.host, config.listen.host, "localhost", "127.0.0.1", "::1"};
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

Status issue_server_certificates(const Project& project, WallTime now) {
  const ProjectFiles& files = project.files;
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  const std::vector<std::string> hosts = web_hosts(project.config);
  STARLING_ASSIGN(const std::string certificate,
                  project.authority.issue_server(key.public_key(), {.now = now, .hosts = hosts}));
  STARLING_ASSIGN(const crypto::WebIdentity web, crypto::make_web_identity(hosts, now));
  STARLING_TRY(write_file_atomically(files.at("web.key"), web.key_pem, kSecret));
  STARLING_TRY(write_file_atomically(files.at("web.pem"), web.chain_pem));
  STARLING_TRY(write_file_atomically(files.at("server.key"), key.to_pem(), kSecret));
  return write_file_atomically(files.at("server.pem"), certificate);
}

bool still_good(const ProjectFiles& files, WallTime now) {
  const auto pem = read_text(files, "server.pem");
  if (!pem) return false;
  const auto certificate = crypto::read_certificate(*pem);
  const auto key = read_key(files, "server.key");
  return certificate && key && certificate->peer_id == key->peer_id() &&
         certificate->not_after.unix_ms - now.unix_ms > kRenewBeforeMs;
}

Status check_directory_is_free(const std::filesystem::path& directory) {
  std::error_code problem;
  if (!std::filesystem::exists(directory, problem)) return {};
  if (std::filesystem::is_directory(directory, problem) && std::filesystem::is_empty(directory, problem)) return {};
  return Error{ErrorCode::already_exists,
               fmt::format("'{}' exists already and is not empty; choose a new directory", directory.string())};
}

// Refuses another project's database: it would be taken for this one's.
Status check_database_is_free(const ProjectConfig& config) {
  if (config.database.empty()) return {};
  STARLING_ASSIGN(db::Connection connection, db::open_server(config.database, db::ServerRole::reader));
  STARLING_ASSIGN(const std::int64_t version, db::schema_version(connection));
  if (version == 0) return {};
  // Tables alone are what an attempt has left that failed later.
  for (const char* table : {"setting", "invite", "account", "run", "operator", "audit", "news", "ban"}) {
    STARLING_ASSIGN(const std::int64_t rows, connection.query_int(fmt::format(
                                                 "SELECT count(*) FROM (SELECT 1 FROM {} LIMIT 1) AS any_row", table)));
    if (rows == 0) continue;
    return Error{ErrorCode::already_exists,
                 fmt::format("{} is a project's already; choose a new, empty one", connection.name())};
  }
  return {};
}

// Where a project is made: beside its place, into which it is moved when it is whole, so that no failure leaves half of
// one. An empty folder that exists already may be a mount, which no other can replace: then in that. All of it is
// removed unless keep() was called.
class Workshop {
 public:
  static Result<Workshop> open(const std::filesystem::path& directory) {
    std::filesystem::path place = directory.lexically_normal();
    if (!place.has_filename()) place = place.parent_path();
    std::error_code problem;
    if (std::filesystem::exists(place, problem)) return Workshop(place, place);
    const std::filesystem::path parent = place.has_parent_path() ? place.parent_path() : ".";
    STARLING_TRY(ensure_directory(parent, 0755));
    std::string beside = (parent / ".starling-init-XXXXXX").string();
    if (::mkdtemp(beside.data()) == nullptr) return os_error("create folder", beside, errno);
    return Workshop(place, beside);
  }
  Workshop(Workshop&& other) noexcept
      : place_(std::move(other.place_)), made_(std::exchange(other.made_, std::filesystem::path())) {}
  Workshop& operator=(Workshop&&) = delete;
  ~Workshop() {
    if (made_.empty()) return;
    std::error_code ignored;
    if (made_ != place_) {
      std::filesystem::remove_all(made_, ignored);
      return;
    }
    for (const auto& entry : std::filesystem::directory_iterator(made_, ignored)) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
  }

  [[nodiscard]] const std::filesystem::path& folder() const { return made_; }
  Status keep() {
    if (made_ != place_) {
      if (::rename(made_.c_str(), place_.c_str()) != 0) return os_error("create folder", place_, errno);
      STARLING_TRY(sync_to_disk(place_.has_parent_path() ? place_.parent_path() : "."));
    }
    made_.clear();
    return {};
  }

 private:
  Workshop(std::filesystem::path place, std::filesystem::path made)
      : place_(std::move(place)), made_(std::move(made)) {}
  std::filesystem::path place_;
  std::filesystem::path made_;
};

}  // namespace

std::string web_root(const ProjectConfig& config) { return "https://" + format_endpoint(config.public_at); }

Result<Project> create_project(const std::filesystem::path& directory, const ProjectConfig& config, WallTime now) {
  STARLING_TRY(check_directory_is_free(directory));
  STARLING_TRY(check_database_is_free(config));
  STARLING_ASSIGN(crypto::CertificateAuthority authority, crypto::CertificateAuthority::create(config.name, now));
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  STARLING_ASSIGN(Workshop workshop, Workshop::open(directory));
  Project project{ProjectFiles(workshop.folder()), config, std::move(authority), key, key.public_key(), ""};
  const ProjectFiles& files = project.files;
  STARLING_TRY(ensure_directory(files.artefacts(), 0700));
  STARLING_TRY(write_file_atomically(files.at("ca.key"), project.authority.key_pem(), kSecret));
  STARLING_TRY(write_file_atomically(files.at("ca.pem"), project.authority.certificate_pem()));
  STARLING_TRY(write_file_atomically(files.at("manifest.key"), project.manifest_key.to_pem(), kSecret));
  STARLING_TRY(issue_server_certificates(project, now));
  STARLING_TRY(open_database(project, {.create = true}).status());
  STARLING_TRY(write_config(files, config));
  STARLING_TRY(workshop.keep());
  project.files = ProjectFiles(directory);
  return project;
}

Status write_config(const ProjectFiles& files, const ProjectConfig& config) {
  return write_file_atomically(files.config(), encode(config), config.database.empty() ? WriteOptions{} : kSecret);
}

Result<FileLock> lock_against_serving(const Project& project) {
  auto lock = FileLock::acquire(project.files.at("serve.lock"));
  if (!lock) return lock.error().prefixed(fmt::format("project '{}' is served already", project.config.name));
  return lock;
}

Result<Project> load_project(const std::filesystem::path& directory) {
  std::error_code unknown;
  if (std::filesystem::exists(ProjectFiles(directory).sums(), unknown)) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("'{}' is a backup, and using it would change it; make a project of it with: "
                             "starling-coordinator restore {} NEW-DIR",
                             directory.string(), shell_word(directory.string()))};
  }
  return read_project(directory);
}

Result<ProjectConfig> read_config(const ProjectFiles& files) {
  const auto text = read_file(files.config(), kSmallFileBytesMax);
  if (!text && text.error().code == ErrorCode::not_found) {
    return Error{ErrorCode::not_found, fmt::format("'{}' is no project: it has no project.json; make one with "
                                                   "'starling-coordinator init'",
                                                   files.directory.string())};
  }
  if (!text) return text.error();
  return decode_config(*text, files.config());
}

Result<Project> read_project(const std::filesystem::path& directory) {
  const ProjectFiles files(directory);
  STARLING_ASSIGN(ProjectConfig config, read_config(files));
  STARLING_ASSIGN(const std::string ca_pem, read_text(files, "ca.pem"));
  STARLING_ASSIGN(const std::string ca_key, read_text(files, "ca.key"));
  auto authority = crypto::CertificateAuthority::load(ca_pem, ca_key);
  if (!authority) return authority.error().prefixed(fmt::format("'{}'", files.at("ca.pem").string()));
  STARLING_ASSIGN(ManifestKey signer, read_manifest_key(files));
  return Project{files,
                 std::move(config),
                 std::move(*authority),
                 std::move(signer.key),
                 std::move(signer.root),
                 std::move(signer.certificate)};
}

Status replace_manifest_key(Project& project, const crypto::PrivateKey& key, const std::string& certificate) {
  // All three are in one file, so a crash leaves the old ones or the new ones.
  STARLING_TRY(write_file_atomically(project.files.at("manifest.key"),
                                     key.to_pem() + project.root.to_pem() + certificate + "\n", kSecret));
  project.manifest_key = key;
  project.key_certificate = certificate;
  return {};
}

std::string database_place(const Project& project) {
  if (project.config.database.empty()) return project.files.database().string();
  return db::public_address(project.config.database).value();
}

Result<std::unique_ptr<db::Database>> open_database(const Project& project, const db::DatabaseOptions& options) {
  if (!project.config.database.empty()) return db::Database::connect(project.config.database, options);
  auto database = db::Database::open(project.files.database(), options);
  if (!database && database.error().code == ErrorCode::corrupt) {
    return Error{ErrorCode::corrupt, database.error().message +
                                         "; the file is left as it is: put a backup in its place, or keep it for "
                                         "whoever can repair it"};
  }
  return database;
}

operations::Desk desk_of(const db::Database& database, const Clock& clock) {
  return {database.stores(), clock, operations::command_user()};
}

Result<ServerIdentity> server_identity(const Project& project, WallTime now) {
  if (!still_good(project.files, now)) STARLING_TRY(issue_server_certificates(project, now));
  STARLING_ASSIGN(std::string certificate, read_text(project.files, "server.pem"));
  STARLING_ASSIGN(crypto::PrivateKey key, read_key(project.files, "server.key"));
  STARLING_ASSIGN(std::string web_chain, read_text(project.files, "web.pem"));
  STARLING_ASSIGN(std::string web_key, read_text(project.files, "web.key"));
  return ServerIdentity{{std::move(certificate), std::move(key)}, {std::move(web_chain), std::move(web_key)}};
}

Result<WallTime> certificate_end(const Project& project) {
  STARLING_ASSIGN(const std::string pem, read_text(project.files, "server.pem"));
  STARLING_ASSIGN(const auto certificate, crypto::read_certificate(pem));
  return certificate.not_after;
}

}  // namespace starling::server
