// The outbox with a real SMTP server on loopback.
#include "coordinator/mail/smtp_outbox.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/support/free_port.h"

namespace starling::mail {
namespace {

// small_relay.py as a child: lines from its standard output.
class SmallRelay {
 public:
  explicit SmallRelay(const char* refusals) {
    std::array<int, 2> out{};
    std::array<int, 2> in{};
    REQUIRE(::pipe(out.data()) == 0);
    REQUIRE(::pipe(in.data()) == 0);
    const std::string free_port = std::to_string(starling::testing::free_port());
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      for (const int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
      // By its whole name: Python looks for its modules beside the first program of that name in PATH.
      constexpr const char* kPython = "/usr/bin/python3";
      ::execl(kPython, kPython, STARLING_SMALL_RELAY, refusals, free_port.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    stdin_ = in[1];
    output_ = ::fdopen(out[0], "r");
    port = std::stoi(line());
  }
  ~SmallRelay() {
    ::close(stdin_);  // this makes the relay end
    std::fclose(output_);
    ::waitpid(child_, nullptr, 0);
  }
  SmallRelay(const SmallRelay&) = delete;
  SmallRelay& operator=(const SmallRelay&) = delete;

  std::string line() {
    std::array<char, 4096> text{};
    REQUIRE(std::fgets(text.data(), text.size(), output_) != nullptr);
    return text.data();
  }

  int port = 0;

 private:
  pid_t child_ = -1;
  int stdin_ = -1;
  FILE* output_ = nullptr;
};

SmtpOptions options_for(const SmallRelay& relay) {
  SmtpOptions options;
  options.url = "smtp://127.0.0.1:" + std::to_string(relay.port);
  options.from = "poems@example.org";
  options.tls = false;
  options.retry_after = std::chrono::milliseconds(10);
  return options;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a letter arrives as it was written, at whom it is for") {
  SmallRelay relay("0");
  SmtpOutbox outbox(options_for(relay));
  const std::string link = "https://poems.example/verify?token=" + std::string(64, 'a');
  REQUIRE(outbox
              .leave({"ada@example.org", "Is this your address?",
                      "Somebody in the project Gr\u00fc\u00dfe:\n.\n\n" + link + "\n"})
              .ok());
  const std::string letter = relay.line();
  CHECK(holds(letter, "\"to\": [\"ada@example.org\"]"));
  CHECK(holds(letter, "\"from\": \"poems@example.org\""));
  CHECK(holds(letter, "\"subject\": \"Is this your address?\""));
  CHECK(holds(letter, "Gr\\u00fc\\u00dfe"));
  CHECK(holds(letter, link));
}

TEST_CASE("a subject in any script arrives as it was written, and cannot add a header") {
  SmallRelay relay("0");
  SmtpOutbox outbox(options_for(relay));
  const std::string name =
      "Gr\u00fc\u00dfe an alle: \u8bd7\u6b4c and a very long name that goes on for more than one line";
  REQUIRE(outbox.leave({"ada@example.org", name, "one"}).ok());
  CHECK(holds(relay.line(),
              "\"subject\": \"Gr\\u00fc\\u00dfe an alle: \\u8bd7\\u6b4c and a very long name that goes on "
              "for more than one line\""));
  REQUIRE(outbox.leave({"ada@example.org", "Hello\r\nBcc: bob@example.org", "two"}).ok());
  CHECK(holds(relay.line(), "\"to\": [\"ada@example.org\"]"));
}

TEST_CASE("a letter that a busy relay sends back is tried again") {
  SmallRelay relay("2");
  SmtpOutbox outbox(options_for(relay));
  REQUIRE(outbox.leave({"ada@example.org", "Hello", "one"}).ok());
  CHECK(holds(relay.line(), "one"));
}

TEST_CASE("a relay without TLS gets no letter unless that was allowed") {
  SmallRelay relay("0");
  SmtpOptions options = options_for(relay);
  options.tls = true;
  CHECK_FALSE(send_letter(options, {"ada@example.org", "Hello", "secret"}).ok());
}

TEST_CASE("a relay that nobody answers at holds nobody up, and the outbox ends at once") {
  SmtpOptions options;
  options.url = "smtp://127.0.0.1:9";
  options.from = "poems@example.org";
  SmtpOutbox outbox(options);
  for (std::size_t i = 0; i < SmtpOutbox::kWaitingMax; ++i) CHECK(outbox.leave({"ada@example.org", "Hello", ""}).ok());
  Status last;
  for (int i = 0; i < 2 && last.ok(); ++i)
    last = outbox.leave({"ada@example.org", "Hello", ""});  // one may be under way
  CHECK(last.error().code == ErrorCode::resource_exhausted);
  CHECK(outbox.sent() == 0);
}

}  // namespace starling::mail
