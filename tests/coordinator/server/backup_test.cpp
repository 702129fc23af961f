// Scheduled backups, and backups of a server at work.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "coordinator/server/backup.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/protocol/heartbeat_reply.h"
#include "tests/coordinator/server/server_harness.h"
#include "tests/support/free_port.h"

namespace starling::server::testing {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

std::int64_t samples_in(const std::string& text) {
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex("(\\d+) samples")));
  return std::stoll(found[1]);
}

}  // namespace

TEST_CASE("of scheduled backups the newest of each day and week are kept, as many as was asked") {
  const WallTime noon = *backup_time("2024-06-12T120000Z");  // a Wednesday
  std::vector<WallTime> backups;
  for (int i = 0; i < 6 * 40; ++i) backups.push_back({noon.unix_ms - i * 4 * kHourMs});  // 40 days, six a day
  const BackupSchedule schedule{.every = std::chrono::hours(4), .folder = "/b", .daily = 3, .weekly = 2};
  const auto out = outdated(backups, schedule);
  std::vector<std::string> kept;
  for (const WallTime at : backups) {
    if (std::find(out.begin(), out.end(), at) == out.end()) kept.push_back(backup_name(at));
  }
  CHECK(kept == std::vector<std::string>{"2024-06-12T120000Z", "2024-06-11T200000Z", "2024-06-10T200000Z",
                                         "2024-06-09T200000Z"});  // the last is a Sunday, in the week before
  CHECK(outdated({noon}, {.folder = "/b", .daily = 0, .weekly = 0}).empty());  // the newest always stays
  CHECK(outdated({}, schedule).empty());
}

TEST_CASE("only folders named as backups are backups") {
  CHECK(backup_name(*backup_time("2024-06-10T061320Z")) == "2024-06-10T061320Z");
  for (const char* name :
       {"", "..", "2024-06-10", "2024-06-10T061320Z.part", "2024-6-10T061320Z", "2024-02-31T000000Z", "notes"}) {
    CAPTURE(name);
    CHECK_FALSE(backup_time(name));
  }
}

TEST_CASE("the running server backs up by its schedule, which can be told and ended") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const std::filesystem::path folder = server.folder / "other disk";
  CHECK(server.command({"backup", "schedule", server.directory}).says("there is no schedule"));
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  // An unfinished backup of a server that was killed, and a folder that is not a backup.
  std::filesystem::create_directories(folder / "2024-06-10T061320Z.part");
  std::filesystem::create_directories(folder / "holidays.part");
  const Ended set = server.command({"backup", "schedule", server.directory, "--every", "6h", "--to", folder.string()});
  CHECK_MESSAGE(set.says("every 6 h into"), set.output);
  REQUIRE(process.wait_for("backup: everything is in"));
  const auto last = last_backup(ProjectFiles(server.directory));
  REQUIRE(last);
  CHECK(server.command({"restore", last->folder, "--verify"}).says("is whole"));
  CHECK(server.command({"status", server.directory}).says("every 6 h into"));
  CHECK_FALSE(std::filesystem::exists(folder / "2024-06-10T061320Z.part"));
  CHECK(std::filesystem::exists(folder / "holidays.part"));
  CHECK(server.command({"backup", "schedule", server.directory, "--off"}).status == 0);
  CHECK(server.command({"backup", "schedule", server.directory}).says("there is no schedule"));
}

TEST_CASE("a scheduled backup that fails is told wherever an operator looks, and leaves nothing behind") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const std::filesystem::path folder = server.folder / "gone";
  REQUIRE(server.command({"backup", "schedule", server.directory, "--every", "1d", "--to", folder.string()}).status ==
          0);
  std::filesystem::remove(folder);
  REQUIRE(write_file_atomically(folder, "a file where the disk was").ok());
  const int port = starling::testing::free_port();
  std::vector<std::string> command = server.serve_command();
  command.insert(command.end(), {"--admin", "127.0.0.1:" + std::to_string(port)});
  Process process(command);
  REQUIRE(process.wait_for("backup: "));
  REQUIRE(process.wait_for("tried again in 15 min"));
  REQUIRE(eventually(
      [&] { return server.get("/metrics", port).body.find("starling_backup_failing 1\n") != std::string::npos; }));
  CHECK(server.get("/metrics", port).body.find("starling_backup_failures_total 1\n") != std::string::npos);
  REQUIRE(eventually([&] { return last_failure(ProjectFiles(server.directory)).has_value(); }));
  const Ended status = server.command({"status", server.directory});
  CHECK_MESSAGE(status.says("FAILED at"), status.output);
  CHECK(status.says("none yet"));
  CHECK(std::filesystem::is_regular_file(folder));
  // A backup by hand ends the failure as well.
  REQUIRE(server.command({"backup", "now", server.directory}).status == 0);
  CHECK_FALSE(server.command({"status", server.directory}).says("FAILED at"));
  CHECK(server.command({"backup", "schedule", server.directory, "--every", "1m"}).says("at least 10m"));
}

TEST_CASE("a second backup links the data that the first one has, and copies again what was damaged there") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const auto back_up = [&](const std::string& name) {
    const std::filesystem::path to = server.folder / name;
    const Ended made = server.command({"backup", "now", server.directory, to.string()});
    REQUIRE_MESSAGE(made.status == 0, made.output);
    CHECK(server.command({"restore", to.string(), "--verify"}).says("is whole"));
    return ProjectFiles(to);
  };
  const ProjectFiles first = back_up("first");
  std::vector<std::string> data;
  for (const auto& file : std::filesystem::directory_iterator(first.artefacts())) {
    data.push_back(file.path().filename().string());
  }
  REQUIRE(data.size() == 2);
  const ProjectFiles second = back_up("second");
  for (const std::string& name : data) {
    CHECK(std::filesystem::equivalent(first.artefacts() / name, second.artefacts() / name));
    CHECK_FALSE(
        std::filesystem::equivalent(first.artefacts() / name, ProjectFiles(server.directory).artefacts() / name));
  }
  CHECK_FALSE(std::filesystem::equivalent(first.database(), second.database()));
  // One byte flips on the disk of backups.
  std::fstream file(second.artefacts() / data[0], std::ios::in | std::ios::out);
  const int letter = file.get();
  file.seekp(0);
  file.put(static_cast<char>(letter ^ 1));
  file.close();
  const ProjectFiles third = back_up("third");
  CHECK_FALSE(std::filesystem::equivalent(second.artefacts() / data[0], third.artefacts() / data[0]));
  CHECK(std::filesystem::equivalent(second.artefacts() / data[1], third.artefacts() / data[1]));
  CHECK(server.command({"restore", second.directory.string(), "--verify"}).says("is damaged"));
  // A backup that is gone cannot be linked to, and one of damaged data is not made.
  std::filesystem::remove_all(third.directory);
  const ProjectFiles fourth = back_up("fourth");
  std::filesystem::remove_all(fourth.directory);
  std::filesystem::resize_file(ProjectFiles(server.directory).artefacts() / data[1], 5);
  CHECK(server.command({"backup", "now", server.directory, (server.folder / "fifth").string()}).says("is damaged"));
  CHECK_FALSE(std::filesystem::exists(server.folder / "fifth"));
}

TEST_CASE("a backup in the midst of rounds holds the ledger of one moment within the backup") {
  TestServer server;
  ServedRun run(server);
  Two& two = run.two;
  REQUIRE(two.ada.call().ok());
  REQUIRE(two.bob.call().ok());
  const std::string copy = (server.folder / "copy").string();
  two.finish_round();
  two.settle();
  const std::int64_t before = 60 * two.round;
  Ended backup;
  std::atomic<bool> ended = false;
  std::thread operators([&] {
    backup = server.back_up_with_keys(copy);
    ended = true;
  });
  while (!ended) {
    two.finish_round();
    two.settle();
  }
  operators.join();
  const std::int64_t after = 60 * two.round;
  REQUIRE_MESSAGE(backup.status == 0, backup.output);
  CHECK(after > before);
  const Ended verified = server.command({"restore", copy, "--verify"});
  REQUIRE_MESSAGE(verified.status == 0, verified.output);
  const std::int64_t restored = samples_in(verified.output);
  CHECK(restored >= before);
  CHECK(restored <= after);
  CHECK(restored % 60 == 0);  // whole rounds, as they were committed
  const std::string again = (server.folder / "again").string();
  REQUIRE(server.restore_with_keys(copy, again).status == 0);
  CHECK(server.command({"credit", "check", again}).status == 0);
}

TEST_CASE("a backup has no private key, says so until they were exported, and is restored with the exported ones") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const std::string copy = (server.folder / "copy").string();
  const Ended first = server.command({"backup", "now", server.directory, copy});
  REQUIRE(first.status == 0);
  CHECK_MESSAGE(first.says("keys export"), first.output);
  CHECK(server.command({"doctor", server.directory}).says("note     keys were exported"));
  for (const auto& file : std::filesystem::recursive_directory_iterator(copy)) {
    if (!file.is_regular_file()) continue;
    CAPTURE(file.path().string());
    CHECK(read_file(file.path(), 1 << 26)->find("PRIVATE KEY") == std::string::npos);
  }
  CHECK(server.command({"restore", copy, "--verify"}).says("without private keys"));

  const std::string bare = (server.folder / "bare").string();
  const Ended without = server.command({"restore", copy, bare});
  REQUIRE(without.status == 0);
  CHECK_MESSAGE(without.says("missing: ca.key and manifest.key"), without.output);
  CHECK(server.command({"serve", bare}).says("ca.key"));

  const std::string keys = (server.folder / "keys").string();
  const Ended exported =
      server.command({"keys", "export", server.directory, keys, "--passphrase-file", server.passphrase_file()});
  REQUIRE_MESSAGE(exported.status == 0, exported.output);
  CHECK(read_file(keys, 1 << 20)->find("PRIVATE KEY") == std::string::npos);
  CHECK(server.command({"keys", "export", server.directory, keys, "--passphrase-file", server.passphrase_file()})
            .says("exists already"));
  CHECK(server.command({"doctor", server.directory}).says("ok       keys were exported"));
  CHECK_FALSE(server.command({"backup", "now", server.directory}).says("keys export"));

  const std::string whole = (server.folder / "whole").string();
  const Ended restored =
      server.command({"restore", copy, whole, "--keys", keys, "--passphrase-file", server.passphrase_file()});
  REQUIRE_MESSAGE(restored.status == 0, restored.output);
  CHECK_FALSE(restored.says("missing"));
  CHECK(server.command({"doctor", whole}).says("ok       certificates"));
  CHECK(*read_file(ProjectFiles(whole).at("ca.key"), 1 << 16) ==
        *read_file(ProjectFiles(server.directory).at("ca.key"), 1 << 16));
  // Other keys sign from now on: what was exported is not enough any more.
  REQUIRE(server.command({"keys", "offline", server.directory, (server.folder / "root").string()}).status == 0);
  CHECK(server.command({"doctor", server.directory}).says("note     keys were exported"));
}

TEST_CASE("a backup of a version that put the keys in as they were is restored as before") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const std::filesystem::path copy = server.folder / "copy";
  REQUIRE(server.command({"backup", "now", server.directory, copy.string()}).status == 0);
  std::string sums = *read_file(copy / "SHA256SUMS", 1 << 20);
  for (const char* name : {"ca.key", "manifest.key", "server.key", "server.pem", "web.key", "web.pem"}) {
    std::filesystem::copy_file(std::filesystem::path(server.directory) / name, copy / name);
    sums += crypto::sha256_file(copy / name)->hex() + "  " + name + "\n";
  }
  REQUIRE(write_file_atomically(copy / "SHA256SUMS", sums).ok());
  CHECK(server.command({"restore", copy.string(), "--verify"}).says("keys that anybody can read"));
  const std::string to = (server.folder / "to").string();
  const Ended restored = server.command({"restore", copy.string(), to});
  REQUIRE_MESSAGE(restored.status == 0, restored.output);
  CHECK_FALSE(restored.says("missing"));
  CHECK(server.command({"keys", "show", to}).status == 0);
}

TEST_CASE("a wrong passphrase, none, a short one and another project's keys are refused by name, and change nothing") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const std::string copy = (server.folder / "copy").string();
  const std::string to = (server.folder / "to").string();
  const auto file_of = [&](const std::string& text) {
    const std::filesystem::path file = server.folder / "other passphrase";
    REQUIRE(write_file_atomically(file, text).ok());
    return file.string();
  };
  const std::vector<std::string> make = {"backup", "now", server.directory, copy, "--with-keys", "--passphrase-file"};
  const auto made_with = [&](const std::string& passphrase) {
    std::vector<std::string> words = make;
    words.push_back(file_of(passphrase));
    return server.command(words);
  };
  CHECK(made_with("short").says("at least 12 letters"));
  CHECK_FALSE(std::filesystem::exists(copy));
  CHECK(server.command({"backup", "now", server.directory, copy, "--with-keys"}).says("no terminal"));
  CHECK_FALSE(std::filesystem::exists(copy));
  REQUIRE(made_with("correct horse battery").status == 0);
  CHECK(server.command({"restore", copy, "--verify"}).says("a passphrase opens"));

  const Ended wrong = server.command({"restore", copy, to, "--passphrase-file", file_of("incorrect horse battery")});
  CHECK(wrong.status == 1);
  CHECK_MESSAGE(wrong.says("the passphrase is wrong"), wrong.output);
  CHECK_FALSE(std::filesystem::exists(to));
  CHECK(server.command({"restore", copy, "--verify", "--passphrase-file", file_of("nonsense")}).says("is wrong"));
  CHECK(server.command({"restore", copy, "--verify", "--passphrase-file", file_of("correct horse battery")})
            .says("opens the keys"));
  const Ended none = server.command({"restore", copy, to});
  CHECK_MESSAGE(none.says("--passphrase-file"), none.output);
  CHECK(none.says("--without-keys"));
  CHECK_FALSE(std::filesystem::exists(to));

  TestServer other;
  const std::string foreign = (server.folder / "foreign").string();
  REQUIRE(server.command({"keys", "export", other.directory, foreign, "--passphrase-file", server.passphrase_file()})
              .status == 0);
  const Ended refused =
      server.command({"restore", copy, to, "--keys", foreign, "--passphrase-file", server.passphrase_file()});
  CHECK_MESSAGE(refused.says("do not belong together"), refused.output);
  CHECK_FALSE(std::filesystem::exists(to));
  REQUIRE(server.command({"restore", copy, to, "--without-keys"}).says("missing: ca.key"));
}

}  // namespace starling::server::testing
