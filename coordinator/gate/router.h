// Requests, responses, and the table of handlers. Only literal paths and one-segment suffixes.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace starling::gate {

// A complete request. Names of headers compare without case.
struct Request {
  std::string method;  // "GET", "POST", …; HEAD arrives as GET
  std::string path;    // decoded, without the query
  std::string suffix;  // on a prefix route, the text after the prefix: one segment, never empty, no '/'
  std::vector<std::pair<std::string, std::string>> query;    // decoded
  std::vector<std::pair<std::string, std::string>> headers;  // in the order received
  std::string body;
  std::optional<PeerId> peer;  // the identity in the verified client certificate
  std::string remote_address;  // without port: "192.0.2.7", "2001:db8::1"; see caller_of() for proxies

  // The first value of that name; empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
  [[nodiscard]] std::string_view parameter(std::string_view name) const;
};

// Part of a file, streamed at the reader's speed without being held in memory.
struct FileBody {
  std::filesystem::path path;
  std::int64_t offset = 0;
  std::int64_t length = 0;  // offset + length must not pass the end of the file
};

// A handler's answer, which the gate sends whole, or with the file's bytes as its body.
struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::optional<FileBody> file = {};  // instead of body
  // Control characters in a value are refused (500), so that user data cannot split a response.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// Called on worker threads, several at once. An exception becomes a 500 without its text.
using Handler = std::function<Response(const Request&)>;

// Upper bounds of the classes by which a route's answers are counted.
constexpr std::array<Duration, 8> kLatencyBounds = {from_ms(1),   from_ms(5),   from_ms(10),    from_ms(50),
                                                    from_ms(100), from_ms(500), from_ms(1'000), from_ms(5'000)};

// Use of one route since the router was made, for the operator's metrics.
struct RouteFigures {
  std::string name;  // the path; a prefix route ends in '/'
  std::vector<std::pair<int, std::int64_t>> by_status;
  // Answers within each bound of kLatencyBounds and beyond the previous one; the last element counts the rest.
  std::array<std::int64_t, kLatencyBounds.size() + 1> by_latency{};
  Duration time{};  // total time in the handler
};
class RouteMeter;

// Filled before the gate starts, then only read.
class Router {
 public:
  // `path` is literal: "/v1/heartbeat". Adding a route twice is a bug (VERIFY).
  void add(const std::string& method, const std::string& path, Handler handler);
  // Adds paths of one more segment after `prefix`, which ends in '/': "/v1/artefacts/".
  void add_prefix(const std::string& method, const std::string& prefix, Handler handler);

  // From now on `around` answers in place of the routes at `path`, which must exist (VERIFY); it may call their own
  // handler.
  using Around = std::function<Response(const Request& request, const Handler& own)>;
  void wrap(const std::string& path, const Around& around);

  // Fills request.suffix. Null if there is no such route; `allowed` then lists the methods of the path, if any.
  const Handler* find(Request& request, std::string& allowed) const;
  [[nodiscard]] std::vector<RouteFigures> figures() const;

 private:
  Handler metered(const std::string& path, Handler handler);

  using Methods = std::map<std::string, Handler>;

  std::map<std::string, Methods> literal_;  // key: the path
  std::map<std::string, Methods> prefix_;   // key: the path up to and including its last '/'
  std::vector<std::shared_ptr<RouteMeter>> meters_;
};

}  // namespace starling::gate
