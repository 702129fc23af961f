// HTTPS to hosts outside of the project: mirrors of training data, and hosts of releases. Any usual web server will do:
// TLS 1.2 or 1.3, HTTP/1.0 or 1.1, bodies in one piece or in chunks, even compressed ones, though nobody asked for
// that. It may send the client on to other addresses, over https only, and to none in a private network that it is not
// in itself. No proxies, cookies or kept connections. Bodies are bounded while they come. The program ignores SIGPIPE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/net/line.h"
#include "shared/protocol/limits.h"
#include "shared/wire/web_address.h"

namespace starling::web {

constexpr int kRedirectsMax = 5;                    // in one request
constexpr std::size_t kAddressBytesMax = 8 * 1024;  // an address that a server sends the client on to
constexpr std::int64_t kSlowBytes = 4 * 1024;       // see WebFile::slow_time

// Whether this IP address may be dialled; called right before each is.
using DialRule = std::function<Status(const std::string& address, int port)>;

// Limits that hold for all requests of a client, and the hosts that it trusts.
struct WebOptions {
  std::string ca_pem =
      {};  // the one authority that certified the hosts; empty: the public ones that this system trusts
  Duration deadline = std::chrono::seconds(20);        // get() with everything
  std::size_t reply_bytes_max = wire::kReplyBytesMax;  // bound of the body of get()
  // Budget that all traffic in both directions is charged to; downloads also wait for their turn. Must outlive the
  // client. Null: traffic is not counted.
  net::Line* line = nullptr;
  DialRule may_dial = nullptr;  // null: any address may be dialled
};

// A complete reply, whatever its status.
struct WebReply {
  int status = 0;
  std::string body;
};
// The body of a 2xx reply, otherwise an error that fits the status.
Result<std::string> body_of(WebReply reply);

// A file with a known digest. An unfinished one lies beside the destination, and a later call goes on from there.
struct WebFile {
  wire::WebAddress address;
  Digest sha256;
  std::int64_t bytes = 0;
  std::filesystem::path destination;
  // Called from time to time with the number of bytes present; returning false stops the download, which can be
  // resumed.
  std::function<bool(std::int64_t bytes_done)> progress = nullptr;
  // The download fails (and can be resumed) when no byte came for this long, or when it had to wait for the host this
  // long in all for kSlowBytes. It has no other deadline.
  Duration stall_timeout = std::chrono::seconds(20);
  Duration slow_time = std::chrono::minutes(1);
};

// Runs one request at a time; another thread may only call cancel().
class WebClient {
 public:
  // unavailable when this system has no list of public authorities; invalid_argument when `ca_pem` is no authority.
  static Result<std::unique_ptr<WebClient>> create(WebOptions options);
  ~WebClient();
  WebClient(const WebClient&) = delete;
  WebClient& operator=(const WebClient&) = delete;

  // The reply, whatever its status, of the address or of where it sends the client on to. An error only when there was
  // none: unavailable (no connection, or it broke, or too many redirects), deadline_exceeded, unauthenticated (the
  // host's certificate was refused), permission_denied (an address that must not be dialled, or not https),
  // resource_exhausted (the reply is too long), corrupt (not HTTP).
  Result<WebReply> get(const wire::WebAddress& address);
  // Puts the file of that digest at its destination, by way of "<destination>.part". At once when it is there already.
  // corrupt when the bytes are others; the part is then removed, but stays as it is where the head says already that
  // the server has something else. Other errors are those of get and body_of.
  Status download(const WebFile& file);

  // Bytes on the line in both directions so far.
  [[nodiscard]] std::int64_t wire_bytes() const;
  // Ends a request in progress (unavailable) and refuses later ones. From any thread.
  void cancel();

 private:
  class Calls;
  explicit WebClient(std::unique_ptr<Calls> calls);
  std::unique_ptr<Calls> calls_;
};

}  // namespace starling::web
