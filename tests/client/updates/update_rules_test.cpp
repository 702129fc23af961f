#include "client/updates/update_rules.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::updates;
using namespace std::chrono_literals;
using Kind = Judgement::Kind;

namespace {

constexpr WallTime kNow{1'760'000'000'000};

wire::ReleaseFeed feed_of(const std::string& version) {
  wire::ReleaseFeed feed;
  feed.serial = 10;
  feed.valid_until = {kNow.unix_ms + 1};
  feed.version = version;
  feed.files = {{"linux-aarch64", "a.tar.gz", 1, 1, {}}, {"linux-x86_64", "b.tar.gz", 1, 1, {}}};
  return feed;
}

const Known kKnown{"1.9.0", "linux-x86_64", 10, {"2.1.0"}};

Kind kind_of(const std::string& version) {
  const auto judgement = judge(feed_of(version), kKnown, kNow);
  REQUIRE(judgement.ok());
  return judgement->kind;
}

WallTime ago(Duration duration) { return {kNow.unix_ms - to_ms(duration)}; }

}  // namespace

TEST_CASE("only a newer version is one, by its numbers") {
  CHECK(kind_of("1.10.0") == Kind::newer);
  CHECK(kind_of("2.0") == Kind::newer);
  CHECK(kind_of("1.9.0") == Kind::current);
  CHECK(kind_of("1.8.9") == Kind::current);
  CHECK(kind_of("0.99") == Kind::current);
}

TEST_CASE("the file is the one for this kind of machine") {
  CHECK(judge(feed_of("2.0"), kKnown, kNow)->file.name == "b.tar.gz");
  Known other = kKnown;
  other.platform = "plan9-mips";
  CHECK(judge(feed_of("2.0"), other, kNow)->kind == Kind::no_file);
}

TEST_CASE("a version that did not come up here is not tried again, the next one is") {
  CHECK(kind_of("2.1.0") == Kind::failed_here);
  CHECK(kind_of("2.1.1") == Kind::newer);
}

TEST_CASE("an old feed is refused although its signature is good") {
  wire::ReleaseFeed feed = feed_of("2.0");
  feed.serial = 9;
  CHECK(judge(feed, kKnown, kNow).error().code == ErrorCode::failed_precondition);
  feed.serial = 10;
  CHECK(judge(feed, kKnown, kNow).ok());
}

TEST_CASE("a feed that nobody renewed is refused") {
  CHECK(judge(feed_of("2.0"), kKnown, {kNow.unix_ms + 2}).error().code == ErrorCode::failed_precondition);
}

TEST_CASE("checks come once a day, spread by a fifth") {
  for (const double dice : {0.0, 0.5, 0.999}) {
    const Duration next = until_check(kNow, false, kNow, dice);
    CHECK(next >= 19h);
    CHECK(next <= 29h);
    const Duration after_restart = until_check(ago(10h), false, kNow, dice);
    CHECK(next - after_restart == 10h);
  }
}

TEST_CASE("a check that is due waits until the daemon has started, and one that failed comes again in an hour") {
  CHECK(until_check({}, false, kNow, 0) == kFirstCheckAfter);
  CHECK(until_check(ago(90h), false, kNow, 0.999) < 11min);
  CHECK(until_check(ago(90h), true, kNow, 0.5) == 1h);
  const WallTime ahead{kNow.unix_ms + 1'000'000'000};  // the clock has been set back since
  CHECK(until_check(ahead, false, kNow, 0) == kFirstCheckAfter);
}
