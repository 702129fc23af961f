#include "coordinator/gate/gate.h"

#include <doctest/doctest.h>

#include <fstream>
#include <future>
#include <stdexcept>
#include <utility>

#include "tests/coordinator/gate/tls_client.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::gate;
using namespace starling::gate::testing;
using starling::testing::TempDir;

namespace {

Response text(std::string body) {
  Response response;
  response.content_type = "text/plain";
  response.body = std::move(body);
  return response;
}

Router demo_router() {
  Router router;
  router.add("GET", "/ping", [](const Request&) { return text("pong"); });
  router.add("POST", "/echo", [](const Request& request) { return text(request.body); });
  router.add("GET", "/who", [](const Request& request) {
    return text(request.remote_address + " " + (request.peer ? request.peer->hex() : "nobody"));
  });
  router.add("GET", "/query", [](const Request& request) {
    return text(std::string(request.parameter("a")) + "|" + std::string(request.header("X-Test")));
  });
  router.add("GET", "/throw", [](const Request&) -> Response { throw std::runtime_error("secret"); });
  router.add("GET", "/split", [](const Request&) {
    Response response = text("x");
    response.headers.emplace_back("X-Name", "a\r\nSet-Cookie: evil");
    return response;
  });
  router.add_prefix("GET", "/v1/artefacts/", [](const Request& request) { return text(request.suffix); });
  return router;
}

struct Fixture {
  Project project;
  Router router = demo_router();
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "requests are answered, one after another on one connection") {
  RunningGate gate(project, router);
  TlsClient client(gate->port(), project.client());
  for (int i = 0; i < 50; ++i) CHECK(client.get("/ping").body == "pong");
  CHECK(client.post("/echo", "hello").body == "hello");
  CHECK(client.post("/echo", std::string(100'000, 'x')).body.size() == 100'000);
  CHECK(gate->stats().requests_served == 52);
  CHECK(gate->stats().connections_accepted == 1);
}

TEST_CASE_FIXTURE(Fixture, "requests sent all at once are answered in order") {
  RunningGate gate(project, router);
  TlsClient client(gate->port(), project.client());
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    const std::string body = std::to_string(i);
    bytes += "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  REQUIRE(client.send(bytes));
  for (int i = 0; i < 100; ++i) CHECK(client.read_answer().body == std::to_string(i));
}

TEST_CASE_FIXTURE(Fixture, "paths, queries and headers reach the handler decoded once") {
  RunningGate gate(project, router);
  TlsClient client(gate->port(), project.client());
  CHECK(client.get("/query?a=b%20c").body == "b c|");
  CHECK(client.get("/query?a=b?c").body == "b?c|");
  client.send("GET /query HTTP/1.1\r\nHost: x\r\nX-Test: %0d%0a\r\n\r\n");
  CHECK(client.read_answer().body == "|%0d%0a");
  CHECK(client.get("/%70ing").body == "pong");
  CHECK(client.get("/v1/artefacts/00ff").body == "00ff");
  CHECK(client.get("/v1/artefacts/..%2f..%2fetc").status == 404);
}

TEST_CASE_FIXTURE(Fixture, "X-Forwarded-For is believed of trusted proxies alone, and only its end") {
  const auto who = [&](const GateOptions& options, const std::string& header,
                       const std::optional<crypto::TlsIdentity>& identity = {}) {
    RunningGate gate(project, router, options);
    TlsClient client(gate->port(), project.client(identity));
    client.send("GET /who HTTP/1.1\r\nHost: x\r\n" + header + "\r\n");
    const std::string answer = client.read_answer().body;
    return answer.substr(0, answer.find(' '));
  };
  const std::string forged = "X-Forwarded-For: 203.0.113.1, 198.51.100.7\r\n";
  CHECK(who({}, forged) == "127.0.0.1");
  GateOptions behind;
  behind.trusted_proxies = {"127.0.0.1", "192.0.2.9"};
  CHECK(who(behind, forged) == "198.51.100.7");
  CHECK(who(behind, "x-forwarded-for: 203.0.113.1,2001:DB8::7 , 192.0.2.9\r\n") == "2001:db8::7");
  CHECK(who(behind, "X-Forwarded-For: 203.0.113.1\r\nX-Forwarded-For: 192.0.2.9\r\n") == "203.0.113.1");
  CHECK(who(behind, "") == "127.0.0.1");
  CHECK(who(behind, "X-Forwarded-For: 203.0.113.1, unknown\r\n") == "127.0.0.1");
  for (const char* entry : {"198.51.100.7:51234", "\"198.51.100.7\"", "\"198.51.100.7:80\""}) {
    CHECK(who(behind, std::string("X-Forwarded-For: ") + entry + "\r\n") == "198.51.100.7");
  }
  for (const char* entry : {"[2001:db8::7]", "[2001:db8::7]:443", "\"[2001:DB8::7]:443\"", "2001:db8::7"}) {
    CHECK(who(behind, std::string("X-Forwarded-For: ") + entry + "\r\n") == "2001:db8::7");
  }
  for (const char* entry : {"[", "[]", "[2001:db8::7", ":", ":80", "\"", "1.2.3.4:5:6", "[1.2.3.4]x:5"}) {
    CAPTURE(entry);
    CHECK_NOTHROW(who(behind, std::string("X-Forwarded-For: ") + entry + "\r\n"));
  }
  CHECK(who(behind, "X-Forwarded-For: " + std::string(4000, ',') + "\r\n") == "127.0.0.1");
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  const std::string certificate =
      project.authority.issue(crypto::make_csr(key), {.now = SystemClock().wall_now()}).value();
  CHECK(who(behind, forged, crypto::TlsIdentity{certificate, key}) == "127.0.0.1");
}

TEST_CASE_FIXTURE(Fixture, "unknown addresses, wrong methods and failing handlers have their status") {
  RunningGate gate(project, router);
  TlsClient client(gate->port(), project.client());
  CHECK(client.get("/nothing").status == 404);
  const Answer wrong_method = client.post("/ping", "");
  CHECK(wrong_method.status == 405);
  CHECK(wrong_method.has("Allow: GET\r\n"));
  const Answer failed = client.get("/throw");
  CHECK(failed.status == 500);
  CHECK((failed.head + failed.body).find("secret") == std::string::npos);
  const Answer split = client.get("/split");
  CHECK(split.status == 500);
  CHECK_FALSE(split.has("Set-Cookie"));
  CHECK(client.get("/ping").status == 200);
}

TEST_CASE_FIXTURE(Fixture, "HEAD has the head of GET and no body") {
  RunningGate gate(project, router);
  TlsClient client(gate->port(), project.client());
  client.send("HEAD /ping HTTP/1.1\r\nHost: x\r\n\r\nGET /ping HTTP/1.1\r\nHost: x\r\n\r\n");
  // The body that the head announces does not follow; the next bytes are the next answer.
  const Answer both = client.read_answer();
  CHECK(both.has("Content-Length: 4\r\n"));
  CHECK(both.body == "HTTP");
}

TEST_CASE_FIXTURE(Fixture, "a client that asks for the connection's end gets it after the answer") {
  RunningGate gate(project, router);
  TlsClient client(gate->port(), project.client());
  client.send("GET /ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const Answer answer = client.read_answer();
  CHECK(answer.body == "pong");
  CHECK(answer.has("Connection: close\r\n"));
  CHECK(client.at_end());
}

TEST_CASE_FIXTURE(Fixture, "a client that waits to send its body is told to go on") {
  RunningGate gate(project, router);
  TlsClient client(gate->port(), project.client());
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  CHECK(client.read_answer().status == 100);
  client.send("hello");
  CHECK(client.read_answer().body == "hello");
}

TEST_CASE_FIXTURE(Fixture, "the handler knows a member by its certificate and everybody by the socket") {
  RunningGate gate(project, router);
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  TlsClient member(gate->port(), project.client(project.member(key)));
  TlsClient stranger(gate->port(), project.client());
  CHECK(member.get("/who").body == "127.0.0.1 " + key.peer_id().hex());
  CHECK(stranger.get("/who").body == "127.0.0.1 nobody");
  stranger.send("GET /who HTTP/1.1\r\nHost: x\r\nREMOTE_ADDR: 9.9.9.9\r\nX-Forwarded-For: 9.9.9.9\r\n\r\n");
  CHECK(stranger.read_answer().body == "127.0.0.1 nobody");
}

TEST_CASE_FIXTURE(Fixture, "a certificate of another project gets no answer") {
  RunningGate gate(project, router);
  const Project other;
  const crypto::TlsIdentity foreign = other.member(crypto::PrivateKey::generate());
  TlsClient client(gate->port(), project.client(foreign));
  CHECK(client.get("/ping").status == 0);
  while (gate->stats().connections_open > 0) std::this_thread::yield();
  CHECK(gate->stats().handshakes_failed == 1);
  CHECK(gate->stats().requests_served == 0);
}

TEST_CASE_FIXTURE(Fixture, "a file is streamed, whole or in part, and a wrong promise is a 500") {
  TempDir dir;
  std::string content;
  for (int i = 0; content.size() < 5'000'000; ++i) content += std::to_string(i) + ",";
  std::ofstream(dir / "data") << content;
  const auto slice = [&](std::int64_t offset, std::int64_t length) {
    return [=, path = dir / "data"](const Request&) {
      Response response;
      response.content_type = "application/octet-stream";
      response.file = FileBody{path, offset, length};
      return response;
    };
  };
  const auto size = static_cast<std::int64_t>(content.size());
  router.add("GET", "/whole", slice(0, size));
  router.add("GET", "/part", slice(1000, 500));
  router.add("GET", "/beyond", slice(1, size));
  RunningGate gate(project, router);
  TlsClient client(gate->port(), project.client());
  CHECK(client.get("/whole").body == content);
  CHECK(client.get("/part").body == content.substr(1000, 500));
  CHECK(client.get("/beyond").status == 500);
  client.send("HEAD /whole HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(client.read_answer().status == 0);  // the head, then the end: the file itself is not sent
}

TEST_CASE_FIXTURE(Fixture, "many connections are served at once") {
  RunningGate gate(project, router);
  std::vector<std::future<int>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::async(std::launch::async, [&] {
      int answered = 0;
      for (int connection = 0; connection < 10; ++connection) {
        TlsClient client(gate->port(), project.client());
        for (int request = 0; request < 20; ++request) answered += client.get("/ping").body == "pong" ? 1 : 0;
      }
      return answered;
    }));
  }
  for (auto& client : clients) CHECK(client.get() == 200);
}

TEST_CASE_FIXTURE(Fixture, "stopping lets a request that has begun end, and closes who is idle") {
  std::promise<void> entered;
  std::promise<void> go_on;
  router.add("GET", "/slow", [&](const Request&) {
    entered.set_value();
    go_on.get_future().wait();
    return text("done");
  });
  auto gate = std::make_unique<RunningGate>(project, router);
  TlsClient busy((*gate)->port(), project.client());
  TlsClient idle((*gate)->port(), project.client());
  CHECK(idle.get("/ping").status == 200);
  busy.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  entered.get_future().wait();
  (*gate)->stop();
  CHECK(idle.at_end());
  go_on.set_value();
  CHECK(busy.read_answer().body == "done");
  CHECK(busy.at_end());
  const auto leave = [](TlsClient) {};
  leave(std::move(busy));
  gate.reset();
}

TEST_CASE_FIXTURE(Fixture, "a port in use and an address that is none are said to be so") {
  RunningGate gate(project, router);
  GateOptions options{.address = "127.0.0.1", .port = gate->port()};
  const Error in_use = Gate::create(options, project.server(), router).error();
  CHECK(in_use.code == ErrorCode::unavailable);
  CHECK(in_use.message.find(std::to_string(gate->port())) != std::string::npos);
  options.address = "example.org";
  CHECK(Gate::create(options, project.server(), router).error().code == ErrorCode::invalid_argument);
}

TEST_CASE_FIXTURE(Fixture, "a renewed certificate serves new connections without a pause") {
  RunningGate gate(project, router);
  TlsClient before(gate->port(), project.client());
  CHECK(before.get("/ping").status == 200);
  const Project renewed;  // another CA shows that the new context is the one in use
  gate->use_tls(renewed.server());
  TlsClient after(gate->port(), renewed.client());
  CHECK(after.get("/ping").status == 200);
  CHECK(before.get("/ping").status == 200);
}
