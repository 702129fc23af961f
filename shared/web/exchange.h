// One request to one address and its reply, over libcurl. For this folder's .cpp files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/net/cancel_event.h"
#include "shared/web/heads.h"
#include "shared/web/web_client.h"

namespace starling::web {

// Takes a reply as it comes. A refusal of its ends the exchange, with its error.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual Status on_head(const Head& head) = 0;
  // Bytes that are not compressed any more.
  virtual Status on_body(std::string_view bytes) = 0;
};

// Time limits. Without `stall` all of it ends by `deadline`. With it the head is here within `stall`, no wait for more
// takes longer, and `slow` is how long in all it may wait for kSlowBytes.
struct Patience {
  TimePoint deadline = kNever;
  Duration stall{};
  Duration slow{};
  [[nodiscard]] bool is_bulk() const { return stall > Duration::zero(); }
};

// One GET.
struct Request {
  std::string url;
  std::int64_t range_start = 0;  // above 0: only the bytes from there on
  bool sent_on = false;  // by the host that was asked before: only to the Internet, or to where that host itself is
};

// The trusted authorities: one of the two is given.
struct Authorities {
  std::string file;
  std::string pem;
};

// The connections of one exchange after the other.
class Sockets;

class Exchange {
 public:
  // The options outlive this.
  Exchange(const WebOptions& options, Authorities authorities);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Returns the reply's head. The receiver sees nothing of a redirect.
  Result<Head> run(const Request& request, const Patience& patience, Receiver& receiver);
  // Bytes of all connections on the line, both ways.
  [[nodiscard]] std::int64_t wire_bytes() const;
  // Ends run() and later ones. From any thread.
  void cancel() { cancel_.set(); }

 private:
  const WebOptions& options_;
  Authorities authorities_;
  net::CancelEvent cancel_;
  std::unique_ptr<Sockets> sockets_;
};

// The absolute address that `location` stands for in a reply from `url`; invalid_argument if it is none.
Result<std::string> resolve_location(const std::string& url, const std::string& location);

}  // namespace starling::web
