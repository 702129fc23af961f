#include "coordinator/server/server_link.h"

#include <fmt/core.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "coordinator/gate/address.h"
#include "coordinator/server/arguments.h"
#include "shared/base/files.h"
#include "shared/base/unique_fd.h"

namespace starling::server {
namespace {

constexpr Duration kPatience = std::chrono::seconds(2);

// The address at which this machine can dial the server.
net::Endpoint dialled(const Project& project) {
  net::Endpoint at = project.config.listen;
  if (is_wildcard(at.host)) at.host = at.host == "::" ? "::1" : "127.0.0.1";
  return at;
}

}  // namespace

Result<std::string> ServerLink::get(const std::string& path) const {
  STARLING_ASSIGN(auto tls, crypto::TlsContext::coordinator_client(project_.authority.certificate_pem(), std::nullopt));
  net::HttpClient client(dialled(project_), std::move(tls), {.deadline = kPatience});
  STARLING_ASSIGN(auto response, client.get(path));
  return net::body_of(std::move(response));
}

bool ServerLink::is_served(const Project& project) {
  if (!project.config.database.empty()) return ServerLink(project).get("/healthz").ok();
  std::error_code missing;
  const std::filesystem::path lock = project.files.at("serve.lock");
  return std::filesystem::exists(lock, missing) && !FileLock::acquire(lock).ok();
}

Status ServerLink::check_port(const Project& project) {
  const net::Endpoint& at = project.config.listen;
  STARLING_ASSIGN(const gate::SocketAddress address, gate::parse_address(at.host, at.port));
  const UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) == 0) return {};
  return Error{ErrorCode::unavailable,
               fmt::format("{}: {}", format_endpoint(at), std::generic_category().message(errno))};
}

}  // namespace starling::server
