#include "shared/web/exchange.h"

#include <curl/curl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "shared/base/free_with.h"
#include "shared/base/short_text.h"
#include "shared/net/address_policy.h"
#include "shared/net/line_account.h"

namespace starling::web {
namespace {

// With an ephemeral key exchange and authenticated encryption, as all of TLS 1.3's.
constexpr const char* kCiphersOfTls12 = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr std::int64_t kPollMsMax = 1000;
constexpr std::size_t kShownMax = 200;  // bytes of a foreign text in messages

using Handle = std::unique_ptr<CURL, FreeWith<curl_easy_cleanup>>;
using Multi = std::unique_ptr<CURLM, FreeWith<curl_multi_cleanup>>;
using Lines = std::unique_ptr<curl_slist, FreeWith<curl_slist_free_all>>;
using Url = std::unique_ptr<CURLU, FreeWith<curl_url_cleanup>>;
using Text = std::unique_ptr<char, FreeWith<curl_free>>;

void add(Lines& lines, const std::string& line) {
  curl_slist* longer = curl_slist_append(lines.get(), line.c_str());
  VERIFY(longer != nullptr);
  (void)lines.release();  // it is the head of the longer list
  lines.reset(longer);
}

ErrorCode code_of(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return ErrorCode::unauthenticated;
    case CURLE_OPERATION_TIMEDOUT:
      return ErrorCode::deadline_exceeded;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:  // HTTP/0.9
    case CURLE_BAD_CONTENT_ENCODING:
      return ErrorCode::corrupt;
    case CURLE_URL_MALFORMAT:
      return ErrorCode::invalid_argument;
    default:
      return ErrorCode::unavailable;
  }
}

}  // namespace

// Opens the sockets that the library asks for, at addresses that may be dialled, and charges the line for them.
class Sockets {
 public:
  explicit Sockets(const WebOptions& options) : options_(options) {}

  int open(const curl_sockaddr& address) {
    const auto host = allowed_host(address);
    if (!host.ok()) {
      refusal_ = host.error();
      return CURL_SOCKET_BAD;
    }
    dialled_ = true;
    if (!sent_on_) near_ = net::policy_for_coordinator(*host);
    const int fd = ::socket(address.family, address.socktype | SOCK_CLOEXEC, address.protocol);
    if (fd < 0) return CURL_SOCKET_BAD;
    accounts_[fd] = std::make_unique<net::LineAccount>(fd, options_.line);
    return fd;
  }
  void close(int fd) {
    const net::WireBytes moved = net::wire_bytes(fd);
    closed_bytes_ += moved.sent + moved.received;
    accounts_.erase(fd);
    ::close(fd);
  }
  void settle() {
    for (const auto& [fd, account] : accounts_) {
      account->settle();
      // Before it is connected that would limit the window for good.
      if (options_.line != nullptr && net::wire_bytes(fd).received > 0) account->fit_window();
    }
  }
  // Reserves the next bytes, and says when they are due. While a body comes there is only one connection.
  [[nodiscard]] TimePoint next_turn(std::size_t bytes) {
    return accounts_.empty() ? TimePoint{} : accounts_.begin()->second->download_turn(bytes).due;
  }
  [[nodiscard]] std::int64_t wire_bytes() const {
    std::int64_t bytes = closed_bytes_;
    for (const auto& [fd, account] : accounts_) {
      const net::WireBytes moved = net::wire_bytes(fd);
      bytes += moved.sent + moved.received;
    }
    return bytes;
  }

  void begin(bool sent_on) {
    sent_on_ = sent_on;
    refusal_ = {};
    dialled_ = false;
  }
  // Why no address was dialled; ok if one was, or there was none.
  [[nodiscard]] Status refusal() const { return dialled_ ? Status() : refusal_; }

 private:
  // The IP address, if it may be dialled.
  [[nodiscard]] Result<std::string> allowed_host(const curl_sockaddr& address) const {
    const bool internet = address.family == AF_INET || address.family == AF_INET6;
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    if (!internet || ::getnameinfo(&address.addr, address.addrlen, host.data(), host.size(), port.data(), port.size(),
                                   NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
      return Error{ErrorCode::permission_denied, "connect: it has no address of the Internet's"};
    }
    const int number = std::atoi(port.data());
    if (sent_on_) STARLING_TRY(net::check_address(host.data(), number, near_));
    if (options_.may_dial != nullptr) STARLING_TRY(options_.may_dial(host.data(), number));
    return std::string(host.data());
  }

  const WebOptions& options_;
  std::map<int, std::unique_ptr<net::LineAccount>> accounts_;  // the open ones
  std::int64_t closed_bytes_ = 0;
  Status refusal_;
  bool dialled_ = false;
  bool sent_on_ = false;
  net::AddressPolicy near_;  // lets those be dialled that are no nearer than the host that was asked first
};

namespace {

// The state of one run, to which the library calls back.
class Transfer {
 public:
  Transfer(Sockets& sockets, const net::CancelEvent& cancel, const Patience& patience, Receiver& receiver)
      : sockets_(sockets), cancel_(cancel), patience_(patience), receiver_(receiver), heard_at_(net::monotonic_now()) {}

  void set_up(const Request& request, const Authorities& authorities) {
    sockets_.begin(request.sent_on);
    add(lines_, "Accept-Encoding: identity");  // a range of a compressed body would be of no use
    if (request.range_start > 0) add(lines_, fmt::format("Range: bytes={}-", request.range_start));
    CURL* easy = easy_.get();
    curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");  // none, whatever the environment says
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines_.get());
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "Starling");  // some hosts refuse programs that do not say their name
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");    // undoes any that comes all the same
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, problem_.data());
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // does not wait for a name that is being looked up
#endif
    const Duration to_connect = patience_.is_bulk() ? patience_.stall : patience_.deadline - heard_at_;
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(to_ms(to_connect))));
    set_trust(authorities);
    set_calls();
  }

  Status run() {
    VERIFY(curl_multi_add_handle(multi_.get(), easy_.get()) == CURLM_OK);
    const Status waited = wait();
    CURLcode code = CURLE_OK;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    }
    curl_multi_remove_handle(multi_.get(), easy_.get());
    sockets_.settle();
    if (heads_.complete() && head().is_redirect()) return {};
    STARLING_TRY(stopped_);
    STARLING_TRY(waited);
    if (code == CURLE_OK) return {};
    if (code == CURLE_COULDNT_CONNECT) STARLING_TRY(sockets_.refusal());
    // Certificates and replies of strangers are quoted in the library's messages.
    const char* const why = problem_[0] != '\0' ? problem_.data() : curl_easy_strerror(code);
    return Error{code_of(code), short_line(why, kShownMax)};
  }

  [[nodiscard]] const Head& head() const { return heads_.head(); }

 private:
  void set_trust(const Authorities& authorities) {
    CURL* easy = easy_.get();
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));  // or newer
    curl_easy_setopt(easy, CURLOPT_SSL_CIPHER_LIST, kCiphersOfTls12);
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    // Nothing of what the library would trust by itself.
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
    curl_easy_setopt(easy, CURLOPT_CAINFO, authorities.pem.empty() ? authorities.file.c_str() : nullptr);
    if (authorities.pem.empty()) return;
    curl_blob blob{const_cast<char*>(authorities.pem.data()), authorities.pem.size(), CURL_BLOB_COPY};
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
  }

  void set_calls() {
    CURL* easy = easy_.get();
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &sockets_);
    curl_easy_setopt(
        easy, CURLOPT_OPENSOCKETFUNCTION, +[](void* self, curlsocktype, curl_sockaddr* address) -> int {
          return static_cast<Sockets*>(self)->open(*address);
        });
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, &sockets_);
    curl_easy_setopt(
        easy, CURLOPT_CLOSESOCKETFUNCTION, +[](void* self, curl_socket_t fd) -> int {
          static_cast<Sockets*>(self)->close(fd);
          return 0;
        });
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(
        easy, CURLOPT_HEADERFUNCTION, +[](char* data, std::size_t, std::size_t size, void* self) -> std::size_t {
          return static_cast<Transfer*>(self)->on_line({data, size}) ? size : 0;
        });
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(
        easy, CURLOPT_WRITEFUNCTION, +[](char* data, std::size_t, std::size_t size, void* self) -> std::size_t {
          return static_cast<Transfer*>(self)->on_bytes({data, size}) ? size : 0;
        });
  }

  // False: the transfer ends, because of `stopped_` or of a redirect.
  bool on_line(std::string_view line) {
    const auto complete = heads_.take(line);
    if (!complete.ok()) stopped_ = complete.error();
    if (!complete.ok() || !*complete) return complete.ok();
    heard_at_ = net::monotonic_now();
    if (head().is_redirect()) return false;
    stopped_ = receiver_.on_head(head());
    return stopped_.ok();
  }

  bool on_bytes(std::string_view bytes) {
    sockets_.settle();
    stopped_ = receiver_.on_body(bytes);
    if (stopped_.ok() && patience_.is_bulk()) {
      stopped_ = cancel_.wait_until(sockets_.next_turn(CURL_MAX_WRITE_SIZE), "receive");
    }
    heard_at_ = net::monotonic_now();
    in_window_.bytes += static_cast<std::int64_t>(bytes.size());
    if (in_window_.bytes >= kSlowBytes) in_window_ = {};
    return stopped_.ok();
  }

  [[nodiscard]] TimePoint until() const {
    return patience_.is_bulk() ? heard_at_ + patience_.stall : patience_.deadline;
  }

  // Until the transfer is over, or must end.
  Status wait() {
    while (true) {
      int running = 0;
      CURLMcode code = curl_multi_perform(multi_.get(), &running);
      sockets_.settle();
      if (running == 0 && code == CURLM_OK) return {};
      const TimePoint begun = net::monotonic_now();
      if (cancel_.is_set()) return Error{ErrorCode::unavailable, "fetch: cancelled"};
      if (begun >= until()) return Error{ErrorCode::deadline_exceeded, "fetch: no answer in time"};
      if (patience_.is_bulk() && in_window_.waited >= patience_.slow) {
        return Error{ErrorCode::deadline_exceeded, "fetch: it sends a few bytes a second only"};
      }
      curl_waitfd cancelled{cancel_.fd(), CURL_WAIT_POLLIN, 0};
      const std::int64_t left_ms = until() == kNever ? kPollMsMax : to_ms(until() - begun) + 1;
      const auto wait_ms = static_cast<int>(std::min(left_ms, kPollMsMax));
      if (code == CURLM_OK) code = curl_multi_poll(multi_.get(), &cancelled, 1, wait_ms, nullptr);
      if (code != CURLM_OK) return Error{ErrorCode::unavailable, curl_multi_strerror(code)};
      if (heads_.complete()) in_window_.waited += net::monotonic_now() - begun;
    }
  }

  Sockets& sockets_;
  const net::CancelEvent& cancel_;
  const Patience& patience_;
  Receiver& receiver_;
  TimePoint heard_at_;  // the last bytes of a body, the head, or the beginning
  // The bytes that came last, and how long they took, without the waits for the own line.
  struct {
    std::int64_t bytes = 0;
    Duration waited{};
  } in_window_;
  Heads heads_;
  Status stopped_;
  std::array<char, CURL_ERROR_SIZE> problem_{};
  Lines lines_;
  Multi multi_{curl_multi_init()};
  Handle easy_{curl_easy_init()};
};

}  // namespace

Exchange::Exchange(const WebOptions& options, Authorities authorities)
    : options_(options), authorities_(std::move(authorities)), sockets_(std::make_unique<Sockets>(options_)) {
  VERIFY(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}
Exchange::~Exchange() = default;

Result<Head> Exchange::run(const Request& request, const Patience& patience, Receiver& receiver) {
  if (cancel_.is_set()) return Error{ErrorCode::unavailable, "fetch: cancelled"};
  Transfer transfer(*sockets_, cancel_, patience, receiver);
  transfer.set_up(request, authorities_);
  STARLING_TRY(transfer.run());
  return transfer.head();
}

std::int64_t Exchange::wire_bytes() const { return sockets_->wire_bytes(); }

Result<std::string> resolve_location(const std::string& url, const std::string& location) {
  const Url address(curl_url());
  constexpr unsigned kAnyScheme = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE;
  char* text = nullptr;
  const bool sound = curl_url_set(address.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK &&
                     curl_url_set(address.get(), CURLUPART_URL, location.c_str(), kAnyScheme) == CURLUE_OK &&
                     curl_url_set(address.get(), CURLUPART_FRAGMENT, nullptr, 0) == CURLUE_OK &&
                     curl_url_get(address.get(), CURLUPART_URL, &text, 0) == CURLUE_OK;
  const Text owned(text);
  if (sound) return std::string(text);
  return Error{ErrorCode::invalid_argument,
               fmt::format("it sends on to '{}', which is no address", short_line(location, kShownMax))};
}

}  // namespace starling::web
