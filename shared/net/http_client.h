// HTTPS to the project's coordinator: kept connections, one deadline for a whole request, bounded replies, no
// redirects. The TLS context decides which servers are accepted: a coordinator chains to the project's CA and carries
// crypto::kCoordinatorName, whatever name was dialled. Replies must have a Content-Length, as the coordinator's do;
// shared/web asks other hosts. The program ignores SIGPIPE.
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
#include "shared/protocol/limits.h"

namespace starling::net {

// The address that is dialled. A name is looked up for each new connection.
struct Endpoint {
  std::string host;  // name, IPv4, or IPv6 without brackets
  std::uint16_t port = 0;
};

struct Line;

// Limits that hold for all requests of a client.
struct HttpOptions {
  // Limit of one request: connect, send and receive together. Name look-ups are the system's, with their own limit.
  Duration deadline = std::chrono::seconds(20);
  std::size_t response_bytes_max = wire::kReplyBytesMax;  // bound of the body
  // Budget that all traffic in both directions is charged to; downloads of artefacts also wait for their turn. Must
  // outlive the client. Null: traffic is not counted.
  Line* line = nullptr;
};

// A complete reply, whatever its status. get and post return an error only when there was no reply: unavailable (no
// connection, or it broke), deadline_exceeded, unauthenticated (either end refused the other's TLS), resource_exhausted
// (the reply is too long), corrupt (not HTTP).
struct HttpResponse {
  int status = 0;
  std::string content_type;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  // all in order, names in lower case
};

// The body of a 2xx reply; otherwise the error in the reply's wire::ErrorReply, or one that fits the status.
Result<std::string> body_of(HttpResponse response);

// A file with a known digest. An unfinished one lies beside the destination, and a later call goes on from there.
struct Download {
  std::string path;  // path on the server
  Digest sha256;
  std::int64_t bytes = 0;
  std::filesystem::path destination;
  // Called from time to time with the number of bytes present; returning false stops the download, which can be
  // resumed.
  std::function<bool(std::int64_t bytes_done)> progress = nullptr;
  // The download fails (and can be resumed) when no byte came for this long. It has no other deadline.
  Duration stall_timeout = std::chrono::seconds(20);
};

// Runs one request at a time; another thread may only call cancel().
class HttpClient {
 public:
  HttpClient(Endpoint endpoint, crypto::TlsContext tls, HttpOptions options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Replaces the options' deadline for the requests that follow.
  void set_deadline(Duration deadline);
  // Token sent as "Authorization: Bearer …" from now on; empty: none.
  void set_token(std::string token);

  Result<HttpResponse> get(const std::string& path);
  Result<HttpResponse> post_json(const std::string& path, const std::string& body);
  Result<HttpResponse> post_bytes(const std::string& path, std::string_view body);

  // Puts the file of that digest at destination, by way of "<destination>.part", which a later call continues. Returns
  // at once when the file is there already. corrupt when the bytes are others; the part is then removed. Other errors
  // are those of body_of.
  Status download_artefact(const Download& download);

  // IP address of the last connected server whose certificate was accepted; empty: none.
  [[nodiscard]] std::string server_address() const;

  // Bytes moved in both directions by all connections so far, TLS included.
  [[nodiscard]] std::int64_t wire_bytes() const;

  // Ends a request in progress (unavailable) and refuses later ones. From any thread.
  void cancel();

 private:
  class Connection;
  std::unique_ptr<Connection> connection_;
};

// Fetches the CA's certificate as PEM at first contact, when only the join link's fingerprint is known. It is taken
// from the TLS handshake, so nothing else that an impostor sends is ever parsed.
Result<std::string> fetch_pinned_ca(const Endpoint& endpoint, const Digest& ca_fingerprint,
                                    const HttpOptions& options = {});

}  // namespace starling::net
