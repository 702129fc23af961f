#include "shared/manifest/join_link.h"

#include <doctest/doctest.h>

#include <string>

using namespace starling;
using manifest::find_join_link;
using manifest::format_join_link;
using manifest::JoinLink;
using manifest::parse_join_link;

namespace {

JoinLink good_link() {
  JoinLink link{.host = "train.example.org", .port = 8443, .ca_fingerprint = {}, .invite = "aB3-_x"};
  link.ca_fingerprint.bytes.fill(0x5a);
  return link;
}

const std::string kCa = "ca=" + std::string(64, '5');

}  // namespace

TEST_CASE("a join link survives the trip through text") {
  for (const char* host : {"train.example.org", "192.0.2.7", "::1", "2001:db8::7", "localhost"}) {
    CAPTURE(host);
    JoinLink link = good_link();
    link.host = host;
    const auto back = parse_join_link(format_join_link(link));
    REQUIRE(back.ok());
    CHECK(*back == link);
  }
}

TEST_CASE("a link is written as people know it") {
  CHECK(format_join_link(good_link()) ==
        "starling://train.example.org:8443/?ca=5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"
        "&invite=aB3-_x");
  JoinLink open_project = good_link();
  open_project.host = "::1";
  open_project.invite.clear();
  CHECK(format_join_link(open_project).starts_with("starling://[::1]:8443/?ca="));
  CHECK(format_join_link(open_project).find("invite") == std::string::npos);
}

TEST_CASE("a link is found in what people paste") {
  const std::string link = format_join_link(good_link());
  const std::string shouted = "STARLING://" + link.substr(11);
  std::string from_a_page = link;
  from_a_page.replace(from_a_page.find('&'), 1, "&amp;");
  for (const std::string& pasted :
       {link, " " + link + "\r\n", "<" + link + ">", "\"" + link + "\"", "'" + link + "'", "Join us: " + link + ".",
        link + ", please", shouted, from_a_page, "\xe2\x80\x9c" + link + "\xe2\x80\x9d", link + "\xc2\xa0"}) {
    CAPTURE(pasted);
    CHECK(find_join_link(pasted) == link);
  }
  CHECK(find_join_link(" https://example.org/ \n") == "https://example.org/");
  CHECK(find_join_link(" \n").empty());
  CHECK(find_join_link("STARLING://") == "starling://");
}

TEST_CASE("the order of fields is free") {
  const auto link = parse_join_link("starling://h:1/?invite=x&" + kCa);
  REQUIRE(link.ok());
  CHECK(link->invite == "x");
}

TEST_CASE("links that are not quite right are refused with the part that is wrong") {
  const struct {
    std::string text;
    std::string why;
  } cases[] = {
      {"", "starling://"},
      {"https://h:1/?" + kCa, "starling://"},
      {" starling://h:1/?" + kCa, "starling://"},
      {"starling://h:1?" + kCa, "'/?'"},
      {"starling://h/?" + kCa, "port is missing"},
      {"starling://:1/?" + kCa, "host"},
      {"starling://-o:1/?" + kCa, "host"},
      {"starling://user@h:1/?" + kCa, "host"},
      {"starling://h h:1/?" + kCa, "host"},
      {"starling://h:0/?" + kCa, "port"},
      {"starling://h:65536/?" + kCa, "port"},
      {"starling://h:08/?" + kCa, "port"},
      {"starling://h:1x/?" + kCa, "port"},
      {"starling://h:/?" + kCa, "port"},
      {"starling://h:-1/?" + kCa, "port"},
      {"starling://[::1]/?" + kCa, "port"},
      {"starling://[h]:1/?" + kCa, "IPv6"},
      {"starling://[::1:1/?" + kCa, "port"},
      {"starling://h:1/?", "does not know"},
      {"starling://h:1/?ca=12", "'ca'"},
      {"starling://h:1/?ca", "'ca'"},
      {"starling://h:1/?ca=" + std::string(64, 'g'), "'ca'"},
      {"starling://h:1/?invite=x", "'ca' is missing"},
      {"starling://h:1/?" + kCa + "&" + kCa, "'ca'"},
      {"starling://h:1/?" + kCa + "&invite=", "'invite'"},
      {"starling://h:1/?" + kCa + "&invite=a&invite=b", "'invite'"},
      {"starling://h:1/?" + kCa + "&invite=a%20b", "'invite'"},
      {"starling://h:1/?" + kCa + "&invite=" + std::string(manifest::kInviteBytesMax + 1, 'a'), "'invite'"},
      {"starling://h:1/?" + kCa + "&colour=blue", "does not know"},
      {"starling://h:1/?" + kCa + "&", "does not know"},
      {"starling://h:1/?" + kCa + "&invite=a\n", "'invite'"},
      {std::string("starling://h\0:1/?", 17) + kCa, "host"},
      {"starling://" + std::string(manifest::kJoinLinkBytesMax, 'h') + ":1/?" + kCa, "too long"},
  };
  for (const auto& bad : cases) {
    CAPTURE(bad.text);
    const auto link = parse_join_link(bad.text);
    REQUIRE(!link.ok());
    CHECK(link.error().code == ErrorCode::invalid_argument);
    CHECK(link.error().message.find(bad.why) != std::string::npos);
  }
}
