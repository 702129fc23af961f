#include "client/cli/redaction.h"

#include <doctest/doctest.h>

using starling::cli::Private;
using starling::cli::redact;

namespace {

const Private kAda{"/home/ada", "ada", "mill"};

}  // namespace

TEST_CASE("addresses are taken out, whatever stands around them") {
  CHECK(redact("dialled 203.0.113.7:7700, then [2001:db8::7]:7700.", kAda) ==
        "dialled <address>:7700, then [<address>]:7700.");
  CHECK(redact("\"address\":\"198.51.100.2\"", kAda) == "\"address\":\"<address>\"");
  CHECK(redact("fe80::1%eth0", kAda) == "<address>");
  CHECK(redact("::ffff:203.0.113.7", kAda) == "<address>");
}

TEST_CASE("what only looks like an address stays, and so does this computer's own loopback") {
  for (const char* same : {"2026-11-21 03:21:21.123 E words", "version 0.9.1", "127.0.0.1:7700", "[::]:7700",
                           "sha 12:34", "1.5 MB of 3.0 MB", "std::vector is a word", "loss: 3.141"}) {
    CHECK(redact(same, kAda) == same);
  }
}

TEST_CASE("e-mails, invites, host names, the user and the home folder are taken out") {
  CHECK(redact("write to ada@example.org, please", kAda) == "write to <e-mail>, please");
  CHECK(redact("starling://example.org:7443/?ca=00ff&invite=s3cret-word", kAda) ==
        "starling://<host>:7443/?ca=00ff&invite=<secret>");
  CHECK(redact("open '/home/ada/.local/share/starling/host.key' on mill by ada", kAda) ==
        "open '~/.local/share/starling/host.key' on <this computer> by <user>");
}

TEST_CASE("a name is hidden as a word only, and a very short one not at all") {
  CHECK(redact("adaptive milling", kAda) == "adaptive milling");
  CHECK(redact("it is on", {"", "it", "on"}) == "it is on");
}
