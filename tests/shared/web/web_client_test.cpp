// Real sockets and TLS on loopback; the servers' replies are written byte by byte.
#include "shared/web/web_client.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/plain_text.h"
#include "shared/crypto/digest.h"
#include "tests/shared/net/test_server.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace std::chrono_literals;
using testing::ok_reply;
using testing::Project;
using testing::Reply;
using testing::TempDir;
using testing::TestServer;
using web::WebClient;
using web::WebFile;
using web::WebOptions;

namespace {

constexpr std::size_t kReadMax = 1 << 20;

bool mentions(const Error& error, const std::string& words) { return error.message.find(words) != std::string::npos; }

std::string some_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 + i / 251);
  return bytes;
}

// One authority and one web host with a certificate of it for "localhost" and 127.0.0.1, as an operator's mirror has.
struct Host {
  explicit Host(TestServer::Answer answer, std::vector<std::string> names = {"localhost", "127.0.0.1"})
      : server(project, identity(std::move(names)), [this, answer = std::move(answer)](const std::string& request) {
          requests.push_back(request);
          return answer(request);
        }) {}

  crypto::TlsIdentity identity(std::vector<std::string> names) {
    const auto key = crypto::PrivateKey::generate();
    return {*project.authority().issue_server(key.public_key(),
                                              {.now = SystemClock().wall_now(), .hosts = std::move(names)}),
            key};
  }
  [[nodiscard]] std::unique_ptr<WebClient> client(WebOptions options = {}) const {
    options.ca_pem = project.authority().certificate_pem();
    return std::move(*WebClient::create(std::move(options)));
  }
  [[nodiscard]] wire::WebAddress at(const std::string& path, const std::string& host = "localhost") const {
    return {host, server.endpoint().port, path};
  }
  [[nodiscard]] std::string url(const std::string& path, const std::string& host = "localhost") const {
    return "https://" + host + ":" + std::to_string(server.endpoint().port) + path;
  }

  Project project;
  std::vector<std::string> requests;
  TestServer server;
};

Reply redirect(const std::string& to, const std::string& status = "302 Found") {
  return {.bytes = "HTTP/1.1 " + status + "\r\nLocation: " + to + "\r\nContent-Length: 4\r\n\r\ngone",
          .then_close = true};
}

std::string chunked(const std::string& bytes) {
  std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t at = 0; at < bytes.size(); at += 4096) {
    const std::string piece = bytes.substr(at, 4096);
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    text += size + piece + "\r\n";
  }
  return text + "0\r\nX-Trailer: y\r\n\r\n";
}

// "the same bytes, again and again" × 3, as gzip makes it.
const std::string kRepeated =
    "the same bytes, again and again the same bytes, again and again the same bytes, again and again ";
std::string gzipped() {
  constexpr unsigned char kBytes[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x2b, 0xc9, 0x48,
                                      0x55, 0x28, 0x4e, 0xcc, 0x4d, 0x55, 0x48, 0xaa, 0x2c, 0x49, 0x2d, 0xd6, 0x51,
                                      0x48, 0x4c, 0x4f, 0xcc, 0xcc, 0x53, 0x48, 0xcc, 0x4b, 0x81, 0xb2, 0x4a, 0x28,
                                      0x94, 0x07, 0x00, 0x62, 0x4b, 0x01, 0x65, 0x60, 0x00, 0x00, 0x00};
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}

// Serves `bytes`, whole or from where the client asks.
Reply serve_range(const std::string& request, const std::string& bytes) {
  constexpr std::string_view kRange = "Range: bytes=";
  const std::size_t range = request.find(kRange);
  if (range == std::string::npos) return ok_reply(bytes);
  const std::size_t start = std::stoul(request.substr(range + kRange.size()));
  const std::string rest = bytes.substr(start);
  return {.bytes = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(start) + "-" +
                   std::to_string(bytes.size() - 1) + "/" + std::to_string(bytes.size()) +
                   "\r\nContent-Length: " + std::to_string(rest.size()) + "\r\n\r\n" + rest};
}

WebFile file_of(const wire::WebAddress& address, const std::string& bytes, const std::filesystem::path& destination) {
  WebFile file;
  file.address = address;
  file.sha256 = crypto::sha256(bytes);
  file.bytes = static_cast<std::int64_t>(bytes.size());
  file.destination = destination;
  return file;
}

// The outcome of fetching `bytes` from a host that always answers so.
Status fetched(const std::string& bytes, const TestServer::Answer& answer) {
  Host host(answer);
  const TempDir folder;
  const Status status = host.client()->download(file_of(host.at("/f"), bytes, folder / "f"));
  if (status.ok()) CHECK(*read_file(folder / "f", kReadMax) == bytes);
  return status;
}

}  // namespace

TEST_CASE("a request says who asks, and asks for no compression") {
  Host host([](const std::string&) { return ok_reply("{}"); });
  const auto reply = host.client()->get(host.at("/feed.json?x=%20y"));
  REQUIRE(reply.ok());
  CHECK(reply->status == 200);
  CHECK(reply->body == "{}");
  const std::string& request = host.requests.at(0);
  CHECK(request.starts_with(
      "GET /feed.json?x=%20y HTTP/1.1\r\nHost: localhost:" + std::to_string(host.server.endpoint().port) + "\r\n"));
  CHECK(request.find("User-Agent: Starling\r\n") != std::string::npos);
  CHECK(request.find("Accept-Encoding: identity\r\n") != std::string::npos);
  CHECK(request.find("Range") == std::string::npos);
}

TEST_CASE("a reply may be of HTTP/1.0, in chunks, without a length, or compressed") {
  const std::string bytes = some_bytes(100'000);
  const std::string sized = "Content-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + bytes;
  CHECK(fetched(bytes, [&](const std::string&) { return ok_reply(bytes); }).ok());
  CHECK(fetched(bytes, [&](const std::string&) -> Reply {
          return {.bytes = "HTTP/1.0 200 OK\r\n" + sized, .then_close = true};
        }).ok());
  CHECK(fetched(bytes, [&](const std::string&) -> Reply {
          return {.bytes = "HTTP/1.0 200 OK\r\n\r\n" + bytes, .then_close = true};
        }).ok());
  CHECK(fetched(bytes, [&](const std::string&) -> Reply {
          return {.bytes = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n" + sized};
        }).ok());
  CHECK(fetched(bytes, [&](const std::string&) -> Reply { return {.bytes = chunked(bytes)}; }).ok());
  CHECK(fetched(kRepeated, [&](const std::string&) { return ok_reply(gzipped(), "Content-Encoding: gzip\r\n"); }).ok());
}

TEST_CASE("a redirect is followed, a few times, and wherever its address is relative to") {
  const std::string bytes = some_bytes(1000);
  std::function<std::string(int)> next;
  Host host([&](const std::string& request) -> Reply {
    const auto hop = std::stoi(request.substr(std::string("GET /shards/").size()));
    const std::string to = next(hop);
    return to.empty() ? serve_range(request, bytes) : redirect(to, hop % 2 == 0 ? "301 Moved" : "307 Temporary");
  });
  const TempDir folder;
  const auto client = host.client();
  const auto fetch = [&] {
    std::filesystem::remove(folder / "f");
    return client->download(file_of(host.at("/shards/0"), bytes, folder / "f"));
  };
  next = [&](int hop) {
    return hop == 4   ? ""
           : hop == 0 ? "1"
           : hop == 1 ? "/shards/2"
                      : host.url("/shards/" + std::to_string(hop + 1), "127.0.0.1");
  };
  CHECK(fetch().ok());
  CHECK(host.requests.size() == 5);
  next = [](int hop) { return std::to_string(hop + 1); };
  const Status endless = fetch();
  REQUIRE_FALSE(endless.ok());
  CHECK(mentions(endless.error(), "sends on more than 5 times"));
  CHECK(host.requests.size() == 11);
  next = [](int) { return "/shards/0"; };
  CHECK(mentions(fetch().error(), "sends on more than 5 times"));
}

TEST_CASE("a range goes along through a redirect") {
  const std::string bytes = some_bytes(1000);
  Host host([&](const std::string& request) -> Reply {
    return request.starts_with("GET /a ") ? redirect("/b") : serve_range(request, bytes);
  });
  const TempDir folder;
  REQUIRE(write_file_atomically(folder / "f.part", bytes.substr(0, 400)).ok());
  CHECK(host.client()->download(file_of(host.at("/a"), bytes, folder / "f")).ok());
  CHECK(host.requests.at(1).find("Range: bytes=400-") != std::string::npos);
  CHECK(*read_file(folder / "f", kReadMax) == bytes);
}

TEST_CASE("nothing but https is followed") {
  for (const std::string to : {"http://localhost/f", "ftp://localhost/f", "file:///etc/passwd",
                               "//user:word@localhost/f", "https://[fe80::1%25eth0]/f", "gopher://localhost/"}) {
    CAPTURE(to);
    Host host([&](const std::string&) { return redirect(to); });
    const auto reply = host.client()->get(host.at("/f"));
    REQUIRE_FALSE(reply.ok());
    CHECK(mentions(reply.error(), "it sends on to '"));
    CHECK(host.requests.size() == 1);
  }
}

TEST_CASE("no control character of a host's gets into a message, and no letter is cut within") {
  const std::string longer(300, 'x');
  for (const std::string to : {"https://\u009b2J@x/", "https://\x1b[2J@x/", "https://\xe2\x80\xae@x/", "//\xc2\x9b\xff",
                               "https://user@x/"
                               "\xd0\xb6\xd0\xb6"}) {
    for (const std::string& location : {to, to + longer + "\xd0\xb6"}) {
      Host host([&](const std::string&) { return redirect(location); });
      const auto reply = host.client()->get(host.at("/f"));
      REQUIRE_FALSE(reply.ok());
      CHECK(is_plain_line(reply.error().message));
      CHECK(reply.error().message.size() < 500);
    }
  }
}

TEST_CASE("a redirect leads to no host whose certificate is another's") {
  Host elsewhere([](const std::string&) { return ok_reply("{}"); });
  Host host([&](const std::string&) { return redirect(elsewhere.url("/f")); });
  const auto reply = host.client()->get(host.at("/f"));
  REQUIRE_FALSE(reply.ok());
  CHECK(reply.error().code == ErrorCode::unauthenticated);
  CHECK(mentions(reply.error(), "sent on to 'https://localhost:"));
  CHECK(elsewhere.requests.empty());
}

TEST_CASE("the host's certificate must be of the authority, for the name that was asked, and the authority be one") {
  Host host([](const std::string&) { return ok_reply("{}"); }, {"other.example"});
  CHECK(host.client()->get(host.at("/")).error().code == ErrorCode::unauthenticated);
  CHECK(host.requests.empty());
  Host named([](const std::string&) { return ok_reply("{}"); });
  const auto strange = WebClient::create({.ca_pem = Project().authority().certificate_pem()});
  CHECK((*strange)->get(named.at("/")).error().code == ErrorCode::unauthenticated);
  CHECK((*WebClient::create({}))->get(named.at("/")).error().code == ErrorCode::unauthenticated);
  CHECK(named.requests.empty());
  CHECK(WebClient::create({.ca_pem = named.project.volunteer().certificate_pem}).error().code ==
        ErrorCode::invalid_argument);
  CHECK_FALSE(WebClient::create({.ca_pem = "nothing"}).ok());
}

TEST_CASE("an address that may not be dialled is not, nor one that a redirect leads to") {
  std::vector<std::string> asked;
  const auto rule = [&](const std::string& address, int port) -> Status {
    asked.push_back(address + " " + std::to_string(port));
    return Error{ErrorCode::permission_denied, "not there"};
  };
  Host host([&](const std::string&) { return ok_reply("{}"); });
  const auto refused = host.client({.may_dial = rule})->get(host.at("/"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::permission_denied);
  CHECK(mentions(refused.error(), "not there"));
  CHECK(host.server.connections() == 0);
  CHECK(std::find(asked.begin(), asked.end(), "127.0.0.1 " + std::to_string(host.server.endpoint().port)) !=
        asked.end());

  Host sends_on([&](const std::string&) {
    return redirect("https://127.0.0.2:" + std::to_string(host.server.endpoint().port) + "/f");
  });
  const auto only_one = [&](const std::string& address, int) -> Status {
    if (address == "127.0.0.1") return {};
    return Error{ErrorCode::permission_denied, "not to " + address};
  };
  const auto led = sends_on.client({.may_dial = only_one})->get(sends_on.at("/", "127.0.0.1"));
  REQUIRE_FALSE(led.ok());
  CHECK(led.error().code == ErrorCode::permission_denied);
  CHECK(mentions(led.error(), "not to 127.0.0.2"));
}

TEST_CASE("no proxy is used, whatever the environment says") {
  Host host([](const std::string&) { return ok_reply("{}"); });
  ::setenv("https_proxy", "http://127.0.0.1:9/", 1);
  ::setenv("ALL_PROXY", "http://127.0.0.1:9/", 1);
  const auto reply = host.client()->get(host.at("/"));
  ::unsetenv("https_proxy");
  ::unsetenv("ALL_PROXY");
  CHECK(reply.ok());
}

TEST_CASE("a reply that is too long is given up, however its length is told") {
  const std::string bytes = some_bytes(5000);
  for (const Reply& reply : {ok_reply(bytes), Reply{.bytes = chunked(bytes)},
                             Reply{.bytes = "HTTP/1.0 200 OK\r\n\r\n" + bytes, .then_close = true}}) {
    Host host([&](const std::string&) { return reply; });
    CHECK(host.client({.reply_bytes_max = 4000})->get(host.at("/")).error().code == ErrorCode::resource_exhausted);
    CHECK(host.client({.reply_bytes_max = 5000})->get(host.at("/"))->body == bytes);
  }
  Host bomb([](const std::string&) { return ok_reply(gzipped(), "Content-Encoding: gzip\r\n"); });
  CHECK(bomb.client({.reply_bytes_max = kRepeated.size() - 1})->get(bomb.at("/")).error().code ==
        ErrorCode::resource_exhausted);
  Host endless([](const std::string&) -> Reply {
    return {.bytes = "HTTP/1.1 200 OK\r\nX: " + std::string(90'000, 'x') + "\r\n\r\n"};
  });
  CHECK_FALSE(endless.client()->get(endless.at("/")).ok());
}

TEST_CASE("a file of another length or of other bytes never becomes the file") {
  const std::string bytes = some_bytes(100'000);
  const auto code = [&](const Reply& reply) {
    return fetched(bytes, [&](const std::string&) { return reply; }).error().code;
  };
  CHECK(code(ok_reply(bytes + "x")) == ErrorCode::corrupt);
  CHECK(code(ok_reply(bytes.substr(1))) == ErrorCode::corrupt);
  CHECK(code({.bytes = chunked(bytes + "x")}) == ErrorCode::corrupt);
  CHECK(code({.bytes = chunked(bytes.substr(1))}) == ErrorCode::corrupt);
  CHECK(code({.bytes = "HTTP/1.0 200 OK\r\n\r\n" + bytes + "x", .then_close = true}) == ErrorCode::corrupt);
  CHECK(code(ok_reply(std::string(bytes.size(), 'x'))) == ErrorCode::corrupt);
  CHECK(code({.bytes = "SSH-2.0-OpenSSH_9.2\r\n", .then_close = true}) == ErrorCode::corrupt);
  CHECK(code({.bytes = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"}) == ErrorCode::not_found);
  CHECK(code({.bytes = "HTTP/1.1 204 No Content\r\n\r\n"}) == ErrorCode::corrupt);
  CHECK(code({.bytes = "HTTP/1.1 304 Not Modified\r\n\r\n"}) == ErrorCode::invalid_argument);
}

TEST_CASE("a download that was cut off goes on where it stopped, however its length was told") {
  const std::string bytes = some_bytes(300'000);
  for (const std::string& first : {ok_reply(bytes).bytes, chunked(bytes), "HTTP/1.0 200 OK\r\n\r\n" + bytes}) {
    int answered = 0;
    Host host([&](const std::string& request) -> Reply {
      if (++answered == 1) return {.bytes = first.substr(0, 100'000), .then_close = true};
      return serve_range(request, bytes);
    });
    const TempDir folder;
    const WebFile file = file_of(host.at("/f"), bytes, folder / "f");
    const auto client = host.client();
    CHECK(client->download(file).error().code == ErrorCode::unavailable);
    const auto have = std::filesystem::file_size(folder / "f.part");
    CHECK(have > 80'000);
    REQUIRE(client->download(file).ok());
    CHECK(host.requests.at(1).find("Range: bytes=" + std::to_string(have) + "-") != std::string::npos);
    CHECK(*read_file(folder / "f", kReadMax) == bytes);
  }
}

TEST_CASE("a head that tells of another file costs nothing of what is here") {
  const std::string& bytes = kRepeated;
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::string goes_on = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 10-95/96\r\n";
  for (const std::string& head :
       {ok + "Content-Length: 5\r\n", ok + "Content-Length: 97\r\n", ok + "Content-Length: 9223372036854775807\r\n",
        goes_on + "Content-Length: 9223372036854775807\r\n", goes_on + "Content-Length: 96\r\n"}) {
    CAPTURE(head);
    Host host([&](const std::string&) -> Reply { return {.bytes = head + "\r\nwrong", .then_close = true}; });
    const TempDir folder;
    REQUIRE(write_file_atomically(folder / "f.part", bytes.substr(0, 10)).ok());
    CHECK(host.client()->download(file_of(host.at("/f"), bytes, folder / "f")).error().code == ErrorCode::corrupt);
    CHECK(*read_file(folder / "f.part", kReadMax) == bytes.substr(0, 10));
  }
}

TEST_CASE("bytes of another file are not kept, however they come") {
  const std::string bytes = some_bytes(100'000);
  for (const std::string& reply :
       {chunked(bytes + "x"), chunked(bytes.substr(1)), "HTTP/1.0 200 OK\r\n\r\n" + bytes + "x"}) {
    Host host([&](const std::string&) -> Reply { return {.bytes = reply, .then_close = true}; });
    const TempDir folder;
    CHECK(host.client()->download(file_of(host.at("/f"), bytes, folder / "f")).error().code == ErrorCode::corrupt);
    CHECK_FALSE(std::filesystem::exists(folder / "f.part"));
  }
}

TEST_CASE("a host that cannot go on in the middle gives all of it again, in the same call") {
  const std::string& bytes = kRepeated;
  const std::vector<Reply> odd = {
      {.bytes = "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n"},
      {.bytes = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-95/96\r\nContent-Length: 91\r\n\r\n" +
                bytes.substr(5)},
      {.bytes = "HTTP/1.1 206 Partial Content\r\nContent-Length: 91\r\n\r\n" + bytes.substr(5)},
      {.bytes = "HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\nContent-Range: bytes 10-95/96\r\n"
                "Content-Length: 4\r\n\r\nxxxx"},
      ok_reply(bytes),
  };
  for (const Reply& reply : odd) {
    CAPTURE(reply.bytes);
    Host host([&](const std::string& request) {
      return request.find("Range:") == std::string::npos ? ok_reply(bytes) : reply;
    });
    const TempDir folder;
    REQUIRE(write_file_atomically(folder / "f.part", bytes.substr(0, 10)).ok());
    CHECK(host.client()->download(file_of(host.at("/f"), bytes, folder / "f")).ok());
    CHECK(*read_file(folder / "f", kReadMax) == bytes);
  }
}

TEST_CASE("a host that is silent or trickles is given up in time") {
  const std::string bytes = some_bytes(100'000);
  const TempDir folder;
  SUBCASE("before its head") {
    Host host([](const std::string&) -> Reply { return {.bytes = "HTTP/1.1 200 OK\r\n", .then_hang = true}; });
    CHECK(host.client({.deadline = 200ms})->get(host.at("/")).error().code == ErrorCode::deadline_exceeded);
    WebFile file = file_of(host.at("/f"), bytes, folder / "f");
    file.stall_timeout = 200ms;
    CHECK(host.client()->download(file).error().code == ErrorCode::deadline_exceeded);
  }
  SUBCASE("in its head, byte by byte") {
    Host host([](const std::string&) -> Reply {
      return {.bytes = "HTTP/1.1 200 OK\r\nX: " + std::string(4000, 'x'), .byte_by_byte = true};
    });
    CHECK(host.client({.deadline = 200ms})->get(host.at("/")).error().code == ErrorCode::deadline_exceeded);
    WebFile file = file_of(host.at("/f"), bytes, folder / "f");
    file.stall_timeout = 500ms;
    CHECK(host.client()->download(file).error().code == ErrorCode::deadline_exceeded);
  }
  SUBCASE("in its body") {
    Host host([&](const std::string& request) {
      Reply reply = serve_range(request, bytes);
      reply.bytes.resize(50'000);
      reply.then_hang = true;
      return reply;
    });
    WebFile file = file_of(host.at("/f"), bytes, folder / "f");
    file.stall_timeout = 300ms;
    CHECK(host.client()->download(file).error().code == ErrorCode::deadline_exceeded);
    CHECK(std::filesystem::file_size(folder / "f.part") > 40'000);
  }
  SUBCASE("in its body, byte by byte") {
    Host host([&](const std::string& request) {
      Reply reply = serve_range(request, bytes);
      reply.byte_by_byte = true;
      return reply;
    });
    WebFile file = file_of(host.at("/f"), bytes, folder / "f");
    file.slow_time = 700ms;
    const Status slow = host.client()->download(file);
    REQUIRE_FALSE(slow.ok());
    CHECK(slow.error().code == ErrorCode::deadline_exceeded);
    CHECK(mentions(slow.error(), "a few bytes a second"));
  }
}

TEST_CASE("a download ends when it is told to, from outside and by its progress") {
  const std::string bytes = some_bytes(300'000);
  Host host([&](const std::string& request) {
    Reply reply = serve_range(request, bytes);
    reply.bytes.resize(100'000);
    reply.then_hang = true;
    return reply;
  });
  const TempDir folder;
  const auto client = host.client();
  WebFile file = file_of(host.at("/f"), bytes, folder / "f");
  file.progress = [](std::int64_t) { return false; };
  CHECK(mentions(client->download(file).error(), "stopped on request"));
  std::thread canceller;
  file.progress = [&](std::int64_t) {
    if (!canceller.joinable()) canceller = std::thread([&] { client->cancel(); });
    return true;
  };
  const Status cancelled = client->download(file);
  canceller.join();
  REQUIRE_FALSE(cancelled.ok());
  CHECK(cancelled.error().code == ErrorCode::unavailable);
  CHECK(mentions(cancelled.error(), "cancelled"));
  CHECK(mentions(client->get(host.at("/")).error(), "cancelled"));
}

TEST_CASE("a download keeps to the line's limit, is counted, and its budget pays for all of it") {
  const std::string bytes = some_bytes(300'000);
  Host host([&](const std::string& request) {
    return request.starts_with("GET /a ") ? redirect("/b") : serve_range(request, bytes);
  });
  net::Line line;
  constexpr double kRate = 400'000;
  line.download.set_rate(SystemClock().now(), kRate);
  const TempDir folder;
  const auto client = host.client({.line = &line});
  const TimePoint begun = SystemClock().now();
  std::int64_t counted = 0;
  WebFile file = file_of(host.at("/a"), bytes, folder / "f");
  file.progress = [&](std::int64_t) {
    CHECK(client->wire_bytes() >= counted);
    counted = client->wire_bytes();
    return true;
  };
  REQUIRE(client->download(file).ok());
  const double seconds = to_seconds(SystemClock().now() - begun);
  CHECK(seconds > 300'000 / kRate - 0.25);
  CHECK(client->wire_bytes() > 300'000);
  CHECK(client->wire_bytes() < 360'000);
  // The bytes that the kernel counted were taken from the budget: the next byte is due after all of them.
  const TimePoint due = line.download.reserve(SystemClock().now(), 1);
  CHECK(to_seconds(due - begun) > static_cast<double>(client->wire_bytes()) / kRate - 0.35);
}

TEST_CASE("a limit that is lower than a download needs does not let it be taken for a slow host's") {
  const std::string bytes = some_bytes(60'000);
  Host host([&](const std::string& request) { return serve_range(request, bytes); });
  net::Line line;
  line.download.set_rate(SystemClock().now(), 40'000);
  const TempDir folder;
  WebFile file = file_of(host.at("/f"), bytes, folder / "f");
  file.stall_timeout = 900ms;
  file.slow_time = 900ms;
  CHECK(host.client({.line = &line})->download(file).ok());
}
