// Attacks by strangers on the gate while others are served.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <random>
#include <string>
#include <vector>

#include "coordinator/gate/gate.h"
#include "tests/coordinator/gate/tls_client.h"

using namespace starling;
using namespace starling::gate;
using namespace starling::gate::testing;

namespace {

constexpr std::size_t kUnreadBytes = 20'000'000;

std::atomic<int> accept_failure{0};        // errno with which accept4 fails
std::atomic<int> accept_failures_left{0};  // number of failures left

}  // namespace

// Replaces the C library's function in this program, so that a test can choose its failures.
extern "C" int accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  if (accept_failures_left > 0) {
    accept_failures_left -= 1;
    errno = accept_failure;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_accept4, fd, address, length, flags));
}

namespace {

struct Fixture {
  Project project;
  Router router;
  Fixture() {
    router.add("GET", "/ping", [](const Request&) { return Response{.body = "pong"}; });
    router.add("POST", "/echo", [](const Request& request) { return Response{.body = request.body}; });
  }
  bool answers(Gate& gate) {
    TlsClient client(gate.port(), project.client());
    return client.get("/ping").body == "pong";
  }
};

GateOptions with(const GateLimits& limits) {
  GateOptions options;
  options.limits = limits;
  return options;
}

// Takes all of the process's descriptors for a while.
class NoFilesLeft {
 public:
  NoFilesLeft() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit low{256, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &low);
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) taken_.push_back(fd);
  }
  ~NoFilesLeft() {
    for (const int fd : taken_) ::close(fd);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "300 clients that dribble keep nobody else from being served, and are closed") {
  GateLimits limits;
  limits.header_deadline = from_ms(1'500);
  RunningGate gate(project, router, with(limits));
  const crypto::TlsContext context = project.client();
  std::vector<TlsClient> dribblers;
  for (int i = 0; i < 300; ++i) dribblers.emplace_back(gate->port(), context);
  for (int round = 0; round < 3; ++round) {
    for (TlsClient& dribbler : dribblers) dribbler.send(round == 0 ? "GET /ping HTTP/1.1\r\n" : "X: y\r\n");
    CHECK(answers(*gate));
  }
  for (TlsClient& dribbler : dribblers) CHECK(dribbler.at_end());
  CHECK(gate->stats().connections_timed_out == 300);
  CHECK(answers(*gate));
}

TEST_CASE_FIXTURE(Fixture, "who never shakes hands, never asks or never ends its body is closed") {
  GateLimits limits;
  limits.handshake_deadline = limits.header_deadline = limits.request_deadline = from_ms(100);
  limits.idle_deadline = from_ms(150);
  RunningGate gate(project, router, with(limits));
  const Socket silent(gate->port());
  CHECK(silent.read_all().empty());
  TlsClient never_asks(gate->port(), project.client());
  CHECK(never_asks.at_end());
  TlsClient never_ends(gate->port(), project.client());
  never_ends.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhell");
  CHECK(never_ends.at_end());
  CHECK(gate->stats().connections_timed_out == 3);
  TlsClient idle(gate->port(), project.client());
  CHECK(idle.get("/ping").status == 200);
  CHECK(idle.at_end());
  CHECK(gate->stats().connections_timed_out == 3);
}

TEST_CASE_FIXTURE(Fixture, "requests over a limit get its status and the connection's end") {
  RunningGate gate(project, router);
  const std::string post = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  const std::vector<std::pair<std::string, int>> cases = {
      {"GET /" + std::string(9'000, 'a') + " HTTP/1.1\r\n", 414},
      {post + "X: " + std::string(20'000, 'a'), 431},
      {post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
      {post + "Content-Length: zzz\r\n\r\n", 400},
      {post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 400},
  };
  for (const auto& each : cases) {
    const std::string& bytes = each.first;
    const int status = each.second;
    CAPTURE(status);
    TlsClient client(gate->port(), project.client());
    client.send(bytes);
    const Answer answer = client.read_answer();
    CHECK(answer.status == status);
    CHECK(answer.has("Connection: close\r\n"));
    CHECK(client.at_end());
  }
  CHECK(gate->stats().requests_served == 0);
  CHECK(answers(*gate));
}

TEST_CASE_FIXTURE(Fixture, "who sends far too much can still read why it was refused") {
  RunningGate gate(project, router);
  TlsClient client(gate->port(), project.client());
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 800000\r\n\r\n");
  client.send(std::string(800'000, 'x'));
  CHECK(client.read_answer().status == 413);
}

TEST_CASE_FIXTURE(Fixture, "random bytes, bare and inside TLS, disturb nobody") {
  RunningGate gate(project, router);
  std::mt19937 random(7);
  const auto noise = [&random] {
    std::string bytes(1 + random() % 3'000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
  };
  for (int i = 0; i < 50; ++i) {
    const Socket bare(gate->port());
    bare.send(noise());
    TlsClient inside(gate->port(), project.client());
    inside.send(noise() + "\r\n\r\n");
    inside.read_answer();
    CHECK(answers(*gate));
  }
}

TEST_CASE_FIXTURE(Fixture, "connections beyond a limit are closed, and there is room again when others leave") {
  GateLimits limits;
  limits.connections_per_loopback_max = 3;
  RunningGate gate(project, router, with(limits));
  std::vector<TlsClient> clients;
  for (int i = 0; i < 3; ++i) clients.emplace_back(gate->port(), project.client());
  TlsClient refused(gate->port(), project.client());
  CHECK_FALSE(refused.connected());
  CHECK(clients[1].get("/ping").status == 200);
  CHECK(gate->stats().connections_refused == 1);
  clients[2].send("GET /ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(clients[2].read_answer().status == 200);
  CHECK(clients[2].at_end());
  clients.pop_back();
  while (gate->stats().connections_open > 2) std::this_thread::yield();
  TlsClient admitted(gate->port(), project.client());
  CHECK(admitted.get("/ping").status == 200);
}

TEST_CASE_FIXTURE(Fixture, "whatever accept() says, the gate goes on") {
  RunningGate gate(project, router);
  std::int64_t failures = 0;
  for (const int error :
       {ECONNABORTED, EPROTO, ENFILE, EMFILE, ENOBUFS, ENOMEM, EPERM, EINTR, ENETDOWN, EIO, EBADMSG}) {
    CAPTURE(error);
    accept_failure = error;
    accept_failures_left = 2;
    CHECK(answers(*gate));
    failures += 2;
    CHECK(gate->stats().accept_failures == failures);
  }
}

TEST_CASE_FIXTURE(Fixture, "when no descriptor is left the gate waits for one and goes on") {
  RunningGate gate(project, router);
  CHECK(answers(*gate));
  const Socket waiting;
  {
    const NoFilesLeft poor;
    waiting.connect(gate->port());  // in the kernel; the gate cannot accept it
    while (gate->stats().accept_failures == 0) std::this_thread::yield();
  }
  CHECK(answers(*gate));
  CHECK(gate->stats().accept_failures > 0);
}

TEST_CASE_FIXTURE(Fixture, "a full queue answers 503 and keeps the connection") {
  std::promise<void> go_on;
  std::shared_future<void> gone_on = go_on.get_future().share();
  std::atomic<int> inside{0};
  router.add("GET", "/slow", [&](const Request&) {
    inside += 1;
    gone_on.wait();
    return Response{.body = "done"};
  });
  GateOptions options;
  options.workers = 1;
  options.limits.queue_max = 1;
  RunningGate gate(project, router, options);
  TlsClient first(gate->port(), project.client());
  TlsClient second(gate->port(), project.client());
  first.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  while (inside == 0) std::this_thread::yield();
  second.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  while (gate->stats().requests_served < 2) std::this_thread::yield();
  TlsClient third(gate->port(), project.client());
  const Answer busy = third.get("/ping");
  CHECK(busy.status == 503);
  CHECK(busy.has("Retry-After: "));
  go_on.set_value();
  CHECK(first.read_answer().body == "done");
  CHECK(second.read_answer().body == "done");
  CHECK(third.get("/ping").status == 200);
}

TEST_CASE_FIXTURE(Fixture, "who asks for much and reads nothing is dropped and holds no worker") {
  router.add("GET", "/big", [](const Request&) { return Response{.body = std::string(kUnreadBytes, 'x')}; });
  GateOptions options;
  options.workers = 1;
  options.limits.response_window = from_ms(200);
  options.limits.response_bytes_per_second_min = 100'000;
  RunningGate gate(project, router, options);
  TlsClient reader(gate->port(), project.client());
  reader.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(answers(*gate));
  while (gate->stats().connections_timed_out == 0) {
    CHECK(answers(*gate));
  }
  CHECK(reader.read_answer().status == 0);  // cut off before the end
}
