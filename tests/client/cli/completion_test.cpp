#include "client/cli/completion.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "client/cli/commands.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::cli;

namespace {

std::string script_for(std::string_view shell) {
  CLI::App app("", "starling");
  Arguments arguments;
  app.add_option("--data-dir", arguments.data_dir, "");
  add_commands(app, arguments);
  return completion_of(app, shell);
}

// The completions that bash offers for these words; the last word is incomplete.
std::string offered(const std::vector<std::string>& words) {
  const testing::TempDir dir;
  const auto file = dir.path() / "script";
  std::string line;
  for (const std::string& word : words) line += " '" + word + "'";
  std::ofstream(file) << script_for("bash") << "COMP_WORDS=(" << line << ")\nCOMP_CWORD=" << words.size() - 1
                      << "\n_starling\necho \"${COMPREPLY[@]}\"\n";
  FILE* bash = ::popen(("bash --norc '" + file.string() + "' 2>&1").c_str(), "r");
  REQUIRE(bash != nullptr);
  std::string out;
  char chunk[4096];
  while (std::fgets(chunk, sizeof chunk, bash) != nullptr) out += chunk;
  REQUIRE(::pclose(bash) == 0);
  return out;
}

}  // namespace

TEST_CASE("bash completes commands, their own commands, options and values") {
  CHECK(offered({"starling", "lea"}) == "leaderboard leave\n");
  CHECK(offered({"starling", "prefs", "pre"}) == "preset\n");
  CHECK(offered({"starling", "prefs", "preset", "b"}) == "balanced\n");
  CHECK(offered({"starling", "prefs", "set", "on_b"}) == "on_battery\n");
  CHECK(offered({"starling", "leaderboard", "--sort", "d"}) == "day\n");
  CHECK(offered({"starling", "snooze", "to"}) == "tomorrow\n");
}

TEST_CASE("an option of the whole program is completed behind every command") {
  CHECK(offered({"starling", "prefs", "get", "--data"}) == "--data-dir\n");
  CHECK(offered({"starling", "status", "--f"}) == "--follow\n");
}

TEST_CASE("the words of an option before the command do not lead astray") {
  CHECK(offered({"starling", "--data-dir", "/tmp/x", "histor"}) == "history\n");
}

TEST_CASE("every shell has a script that names every command") {
  for (const std::string& shell : completion_shells()) {
    CAPTURE(shell);
    const std::string script = script_for(shell);
    for (const char* word : {"status", "snooze", "preset", "leaderboard", "after-round", "dedicated"}) {
      CHECK(script.find(word) != std::string::npos);
    }
  }
}
