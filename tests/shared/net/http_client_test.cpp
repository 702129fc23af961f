#include "shared/net/http_client.h"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/shared/net/test_server.h"

using namespace starling;
using namespace std::chrono_literals;
using net::HttpClient;
using testing::ok_reply;
using testing::Project;
using testing::Reply;
using testing::TestServer;

namespace {

// A timeout for tests that must wait until it is over.
constexpr Duration kShort = 200ms;

bool mentions(const Error& error, const std::string& words) { return error.message.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("requests say what they should, and one connection serves them all") {
  const Project project;
  std::vector<std::string> requests;
  TestServer server(project, project.coordinator(), [&](const std::string& request) {
    requests.push_back(request);
    return ok_reply("{\"n\":" + std::to_string(requests.size()) + "}");
  });
  HttpClient client(server.endpoint(), project.client_tls(project.volunteer()));
  client.set_token("abc");
  const auto first = client.post_json("/v1/heartbeat", "{\"x\":1}");
  REQUIRE(first.ok());
  CHECK(first->status == 200);
  CHECK(first->content_type == "application/json");
  CHECK(first->body == "{\"n\":1}");
  for (int i = 2; i <= 50; ++i) CHECK(client.get("/v1/run")->body == "{\"n\":" + std::to_string(i) + "}");
  CHECK(server.connections() == 1);
  const std::string host = "127.0.0.1:" + std::to_string(server.endpoint().port);
  CHECK(requests[0] ==
        "POST /v1/heartbeat HTTP/1.1\r\nHost: " + host +
            "\r\nAuthorization: Bearer abc\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n"
            "{\"x\":1}");
  CHECK(requests[1] == "GET /v1/run HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer abc\r\n\r\n");
}

TEST_CASE("a refusal keeps its status, and its reason becomes the error") {
  const Project project;
  const std::string body = R"({"code":"permission_denied","error":"join: the invite has expired; ask for a new one"})";
  TestServer server(project, project.coordinator(), [&](const std::string&) -> Reply {
    return {.bytes = "HTTP/1.1 400 Bad Request\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body};
  });
  HttpClient client(server.endpoint(), project.client_tls());
  const auto response = client.post_json("/v1/join", "{}");
  REQUIRE(response.ok());
  CHECK(response->status == 400);
  const auto error = net::body_of(*response).error();
  CHECK(error.code == ErrorCode::permission_denied);
  CHECK(error.message == "join: the invite has expired; ask for a new one");
}

TEST_CASE("a refusal without a reason gets a code that fits its status") {
  const auto code = [](int status) {
    return net::body_of({.status = status, .content_type = "", .body = "x"}).error().code;
  };
  CHECK(code(302) == ErrorCode::invalid_argument);
  CHECK(code(401) == ErrorCode::unauthenticated);
  CHECK(code(404) == ErrorCode::not_found);
  CHECK(code(429) == ErrorCode::resource_exhausted);
  CHECK(code(503) == ErrorCode::unavailable);
  CHECK(*net::body_of({.status = 200, .content_type = "", .body = "x"}) == "x");
}

TEST_CASE("a redirect is not followed") {
  const Project project;
  TestServer server(project, project.coordinator(), [](const std::string&) -> Reply {
    return {.bytes = "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"};
  });
  HttpClient client(server.endpoint(), project.client_tls());
  CHECK(client.get("/")->status == 302);
}

TEST_CASE("where nobody listens, the coordinator is unavailable") {
  const Project project;
  net::Endpoint endpoint;
  {
    TestServer server(project, project.coordinator(), [](const std::string&) { return ok_reply(""); });
    endpoint = server.endpoint();
  }
  HttpClient client(endpoint, project.client_tls());
  const auto response = client.get("/");
  REQUIRE(!response.ok());
  CHECK(response.error().code == ErrorCode::unavailable);
  CHECK(mentions(response.error(), "connect to 127.0.0.1 port"));
}

TEST_CASE("silence, half a head, half a body and dripping bytes all end at the one deadline") {
  const Project project;
  const std::vector<Reply> replies = {
      {.bytes = "", .then_hang = true},
      {.bytes = "HTTP/1.1 200 OK\r\nContent-Le", .then_hang = true},
      {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", .then_hang = true},
      {.bytes = ok_reply(std::string(1000, 'x')).bytes, .byte_by_byte = true},
  };
  for (const Reply& reply : replies) {
    CAPTURE(reply.bytes);
    TestServer server(project, project.coordinator(), [&](const std::string&) { return reply; });
    HttpClient client(server.endpoint(), project.client_tls(), {.deadline = kShort});
    const auto response = client.get("/");
    REQUIRE(!response.ok());
    CHECK(response.error().code == ErrorCode::deadline_exceeded);
  }
}

TEST_CASE("replies that are too long, too wild or cut short are errors") {
  const Project project;
  const struct {
    std::string bytes;
    ErrorCode code;
  } cases[] = {
      {ok_reply(std::string(1001, 'x')).bytes, ErrorCode::resource_exhausted},
      {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", ErrorCode::unavailable},
      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nlong", ErrorCode::corrupt},
      {"HTTP/1.1 200 OK\r\nPad: " + std::string(100'000, 'x'), ErrorCode::corrupt},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", ErrorCode::corrupt},
      {"SSH-2.0-OpenSSH_9.2\r\n\r\n", ErrorCode::corrupt},
  };
  for (const auto& reply : cases) {
    CAPTURE(reply.bytes.substr(0, 60));
    TestServer server(project, project.coordinator(),
                      [&reply](const std::string&) -> Reply { return {.bytes = reply.bytes, .then_close = true}; });
    HttpClient client(server.endpoint(), project.client_tls(), {.response_bytes_max = 1000});
    const auto response = client.get("/");
    REQUIRE(!response.ok());
    CHECK(response.error().code == reply.code);
  }
}

TEST_CASE("a connection that the server closed in between is replaced without a word") {
  const Project project;
  TestServer server(project, project.coordinator(), [](const std::string&) {
    Reply reply = ok_reply("once");
    reply.then_close = true;  // without saying so in the reply
    return reply;
  });
  HttpClient client(server.endpoint(), project.client_tls());
  for (int i = 0; i < 20; ++i) {
    const auto response = client.get("/");
    REQUIRE(response.ok());
    CHECK(response->body == "once");
  }
  CHECK(server.connections() == 20);
}

TEST_CASE("a reply that announces the end of the connection is honoured") {
  const Project project;
  TestServer server(project, project.coordinator(), [](const std::string&) {
    Reply reply = ok_reply("x", "Connection: close\r\n");
    reply.then_close = true;
    return reply;
  });
  HttpClient client(server.endpoint(), project.client_tls());
  CHECK(client.post_json("/", "{}").ok());
  CHECK(client.post_json("/", "{}").ok());
  CHECK(server.connections() == 2);
}

TEST_CASE("a volunteer that passes itself off as the coordinator is not talked to") {
  const Project project;
  TestServer server(project, project.volunteer(), [](const std::string&) { return ok_reply("trap"); });
  HttpClient client(server.endpoint(), project.client_tls());
  const auto response = client.get("/");
  REQUIRE(!response.ok());
  CHECK(response.error().code == ErrorCode::unauthenticated);
  CHECK(mentions(response.error(), "not the coordinator's"));
}

TEST_CASE("the coordinator of another project is not talked to") {
  const Project project;
  const Project other;
  TestServer server(other, other.coordinator(), [](const std::string&) { return ok_reply("trap"); });
  HttpClient client(server.endpoint(), project.client_tls());
  CHECK(client.get("/").error().code == ErrorCode::unauthenticated);
}

TEST_CASE("a client whose certificate is refused learns it, though its handshake succeeded") {
  const Project project;
  TestServer server(project, project.coordinator(), [](const std::string&) { return ok_reply(""); });
  for (int i = 0; i < 20; ++i) {
    HttpClient client(server.endpoint(), project.client_tls(Project().volunteer()));
    const auto response = client.post_json("/", std::string(i * 10'000, ' '));
    REQUIRE(!response.ok());
    CHECK(response.error().code == ErrorCode::unauthenticated);
    CHECK(mentions(response.error(), "refused our certificate"));
  }
}

TEST_CASE("first contact brings the CA that the fingerprint names, and no other") {
  const Project project;
  TestServer server(project, project.coordinator(), [](const std::string&) { return ok_reply("{}"); });
  const auto ca = net::fetch_pinned_ca(server.endpoint(), project.authority().fingerprint());
  REQUIRE(ca.ok());
  const auto wrong = net::fetch_pinned_ca(server.endpoint(), Project().authority().fingerprint());
  REQUIRE(!wrong.ok());
  CHECK(wrong.error().code == ErrorCode::unauthenticated);
  HttpClient client(server.endpoint(), *crypto::TlsContext::coordinator_client(*ca, std::nullopt));
  CHECK(client.get("/").ok());
}

TEST_CASE("cancelling ends a request in progress and refuses the next") {
  const Project project;
  std::promise<void> asked;
  TestServer server(project, project.coordinator(), [&](const std::string&) -> Reply {
    asked.set_value();
    return {.bytes = "", .then_hang = true};
  });
  HttpClient client(server.endpoint(), project.client_tls(), {.deadline = 60s});
  std::thread canceller([&] {
    asked.get_future().wait();
    client.cancel();
  });
  const auto response = client.get("/");
  canceller.join();
  REQUIRE(!response.ok());
  CHECK(response.error().code == ErrorCode::unavailable);
  CHECK(mentions(response.error(), "cancelled"));
  CHECK(mentions(client.get("/").error(), "cancelled"));
}

TEST_CASE("a path or token that could change the request is not sent") {
  const Project project;
  TestServer server(project, project.coordinator(), [](const std::string&) { return ok_reply(""); });
  HttpClient client(server.endpoint(), project.client_tls());
  CHECK(client.get("/a b").error().code == ErrorCode::invalid_argument);
  CHECK(client.get("/a\r\nX: y").error().code == ErrorCode::invalid_argument);
  CHECK(client.get("a").error().code == ErrorCode::invalid_argument);
  client.set_token("a\r\nX: y");
  CHECK(client.get("/").error().code == ErrorCode::invalid_argument);
  CHECK(server.connections() == 0);
}

TEST_CASE("the address is known that a name stood for, once somebody has answered there") {
  const Project project;
  TestServer server(project, project.coordinator(), [](const std::string&) { return ok_reply("{}"); });
  HttpClient client({"localhost", server.endpoint().port}, project.client_tls());
  CHECK(client.server_address().empty());
  CHECK(client.get("/").ok());
  CHECK(client.server_address() == "127.0.0.1");
}
