// HTTPS to the project's coordinator, or to a web host: kept connections, one deadline for a whole request, bounded
// replies, no redirects. The TLS context says whom the server must be: a coordinator chains to the project's CA and
// carries crypto::kCoordinatorName, whatever name was dialled. Replies must have a Content-Length, as the
// coordinator's and those of plain files do. The program ignores SIGPIPE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/tls.h"
#include "shared/wire/messages.h"

namespace starling::net {

struct Endpoint {
  std::string host;  // name, IPv4, or IPv6 without brackets
  std::uint16_t port = 0;
};

struct Line;

// Whether this IP address may be dialled; asked of each that the endpoint's name stands for, right before it is.
using DialRule = std::function<Status(const std::string& address, int port)>;

struct HttpOptions {
  // Of one request: connect, send and receive together. Looking a name up is the system's, with its own limit.
  Duration deadline = std::chrono::seconds(20);
  std::size_t response_bytes_max = wire::kReplyBytesMax;  // of the body
  // What everything takes that goes both ways; downloads of artefacts also wait for their turn. Outlives the client.
  // Null: nobody counts.
  Line* line = nullptr;
  DialRule may_dial = nullptr;  // null: all addresses may be dialled
};

// A complete reply, whatever its status. Errors of get and post mean that there was none:
// unavailable (no connection, or it broke), deadline_exceeded, unauthenticated (TLS refused us or we it),
// resource_exhausted (the reply is too long), corrupt (not HTTP).
struct HttpResponse {
  int status = 0;
  std::string content_type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  // all of them in order, names in lower case
};

// The body of a 2xx reply; else the error that the reply's wire::ErrorReply tells, or one that fits the status.
Result<std::string> body_of(HttpResponse response);

struct Download {
  std::string path;  // on the server
  Digest sha256;
  std::int64_t bytes = 0;
  std::filesystem::path destination;
  // Called now and then with the bytes present so far; false stops the download (it can be resumed).
  std::function<bool(std::int64_t bytes_done)> progress = nullptr;
  // No byte for so long: the download fails (and can be resumed). There is no other deadline.
  Duration stall_timeout = std::chrono::seconds(20);
};

// One request at a time; another thread may only call cancel().
class HttpClient {
 public:
  HttpClient(Endpoint endpoint, crypto::TlsContext tls, HttpOptions options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Of the requests that follow, in place of the options'.
  void set_deadline(Duration deadline);
  // Sent as "Authorization: Bearer …" from now on; empty: none.
  void set_token(std::string token);

  Result<HttpResponse> get(const std::string& path);
  Result<HttpResponse> post_json(const std::string& path, const std::string& body);
  Result<HttpResponse> post_bytes(const std::string& path, std::string_view body);

  // Leaves the file of that digest at destination, by way of "<destination>.part", which a later call continues.
  // At once when it is there already. corrupt when the bytes are others; then the part is removed.
  // Other errors as body_of's.
  Status download_artefact(const Download& download);

  // The IP address of the server, whose certificate is right, that was connected to last; empty: none was.
  [[nodiscard]] std::string server_address() const;

  // Moved both ways by all connections so far, TLS included.
  [[nodiscard]] std::int64_t wire_bytes() const;

  // Ends a request in progress (unavailable) and refuses later ones. From any thread.
  void cancel();

 private:
  class Connection;
  std::unique_ptr<Connection> connection_;
};

// First contact, when only the fingerprint of the join link is known: the CA's certificate as PEM. It is
// taken from the TLS handshake, so nothing else that an impostor sends is ever parsed.
Result<std::string> fetch_pinned_ca(const Endpoint& endpoint, const Digest& ca_fingerprint,
                                    const HttpOptions& options = {});

}  // namespace starling::net
