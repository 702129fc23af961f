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

TEST_CASE("doctor says what computes by the trainer's word, and never that a card may be used") {
  const auto text_of = [](const Facts& facts, const std::string& about) {
    for (const Finding& finding : examine(facts)) {
      if (finding.about == about) return finding.text;
    }
    return std::string();
  };
  Facts facts = well();
  facts.status.rules.gpu_present = true;
  CHECK(text_of(facts, "device") == "it is not known what computes, since the trainer has not started yet");
  CHECK(text_of(facts, "graphics") == "there is a card; the trainer will say whether it can use it");
  facts.status.rules.gpu = false;
  facts.status.rules.gpu_reason = "switched off in the preferences";
  CHECK(text_of(facts, "graphics") == "there is a card; not used now: switched off in the preferences");
  facts.status.computing.device = {.kind = "cpu", .name = "AMD EPYC", .card_unused = "it does not work: out of order"};
  CHECK(text_of(facts, "device") == "it computes on AMD EPYC");
  CHECK(text_of(facts, "graphics") == "there is a card; not used: it does not work: out of order");
  CHECK(health_of(facts, "graphics") == Health::note);
  facts.status.rules.gpu_present = false;
  facts.status.computing.device->card_unused.clear();
  CHECK(text_of(facts, "graphics") == "no card that can train was found");
  facts.status.computing.device = {.kind = "cuda", .name = "NVIDIA A40", .precision = "bf16"};
  facts.status.computing.trainer = "running";
  CHECK(text_of(facts, "graphics") == "there is a card; not used now: switched off in the preferences");
  CHECK(health_of(facts, "graphics") == Health::note);
  facts.status.rules.gpu = true;
  facts.status.computing.trainer = "ended";
  CHECK(text_of(facts, "graphics") == "there is a card; it trained last");
  facts.status.computing.trainer = "running";
  CHECK(text_of(facts, "graphics") == "there is a card, and it trains");
  CHECK(text_of(facts, "device") == "it computes on NVIDIA A40, bf16");
  CHECK(health_of(facts, "graphics") == Health::good);
}

TEST_CASE("for programs it is one object") {
  Facts facts = well();
  facts.no_daemon = Error{ErrorCode::unavailable, "gone"};
  CHECK(format_findings_json(examine(facts))
            .starts_with(R"({"ok":false,"findings":[{"health":"bad","about":"daemon","text":"gone",)"));
}
