#include "client/cli/doctor.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace starling;
using namespace starling::cli;

namespace {

Facts well() {
  Facts facts;
  facts.data_dir = "/home/ada/starling";
  facts.own_version = facts.status.version = "1.0";
  facts.status.membership.project = "Birds";
  facts.status.phase = wire::DaemonPhase::training;
  facts.status.reach.reachability = "reachable";
  facts.disk_free_bytes = 100'000'000'000;
  return facts;
}

Health health_of(const Facts& facts, const std::string& about) {
  const auto findings = examine(facts);
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.about == about; });
  REQUIRE(found != findings.end());
  return found->health;
}

}  // namespace

TEST_CASE("a computer that trains is well") {
  CHECK(is_well(examine(well())));
  CHECK(format_findings(examine(well())).find("Nothing is wrong here.") != std::string::npos);
}

TEST_CASE("what is wrong is told, with what to do") {
  Facts facts = well();
  facts.others_may_look = true;
  CHECK(health_of(facts, "files") == Health::bad);
  facts = well();
  facts.no_daemon = Error{ErrorCode::unavailable, "no daemon is running"};
  CHECK(health_of(facts, "daemon") == Health::bad);
  facts = well();
  facts.status.membership.project.clear();
  CHECK(health_of(facts, "project") == Health::bad);
  facts = well();
  facts.status.problems = {"a file is damaged"};
  CHECK(health_of(facts, "problem") == Health::bad);
  facts = well();
  facts.disk_free_bytes = 1'000'000'000;
  CHECK(health_of(facts, "disk") == Health::bad);
  for (const Finding& finding : examine(facts)) {
    if (finding.health == Health::bad) CHECK_FALSE(finding.to_do.empty());
  }
}

TEST_CASE("what limits it without being wrong is a note") {
  Facts facts = well();
  facts.status.phase = wire::DaemonPhase::paused;
  facts.status.reason = "the computer runs on battery";
  CHECK(health_of(facts, "training") == Health::note);
  facts = well();
  facts.status.reach.reachability = "blocked";
  CHECK(health_of(facts, "network") == Health::note);
  facts.log = "2026-11-21 03:21:21.123 W slow\n2026-11-21 03:21:22.123 E the disk is full\n";
  CHECK(health_of(facts, "log") == Health::note);
  facts.proxy_variable = "https_proxy";
  CHECK(health_of(facts, "proxy") == Health::note);
  CHECK(format_findings(examine(facts)).find("1 errors and 1 warnings") != std::string::npos);
  CHECK(is_well(examine(facts)));
}

TEST_CASE("for programs it is one object") {
  Facts facts = well();
  facts.no_daemon = Error{ErrorCode::unavailable, "gone"};
  CHECK(format_findings_json(examine(facts))
            .starts_with(R"({"ok":false,"findings":[{"health":"bad","about":"daemon","text":"gone",)"));
}
