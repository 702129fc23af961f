// The program from its command line: its effects, and its messages on failure.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "coordinator/server/staged_artefacts.h"
#include "db/schema/migrate.h"
#include "db/sqlite/open.h"
#include "db/stores/database.h"
#include "shared/base/files.h"
#include "tests/coordinator/server/server_harness.h"

namespace starling::server::testing {
namespace {

unsigned mode_of(const std::string& file) {
  struct stat info = {};
  REQUIRE(::stat(file.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

}  // namespace

TEST_CASE("init makes a project whose secrets are its owner's alone, and prints a join link last") {
  TestServer server;
  REQUIRE_MESSAGE(server.init.status == 0, server.init.output);
  CHECK(server.init.last_line().starts_with("starling://" + server.address + "/?ca="));
  CHECK(manifest::parse_join_link(server.init.last_line()).ok());
  for (const char* secret : {"ca.key", "manifest.key", "server.key", "web.key", "coordinator.db"}) {
    CAPTURE(secret);
    CHECK(mode_of(server.directory + "/" + secret) == 0600);
  }
  CHECK(server.command({"doctor", server.directory}).status == 0);
  const Ended again = server.command({"init", server.directory, "--name", "Other", "--listen", server.address});
  CHECK(again.status == 1);
  CHECK(again.says("exists already"));
}

TEST_CASE("what can not work is refused with advice") {
  TestServer server;
  const auto refused = [&](const std::vector<std::string>& words, const std::string& why) {
    const Ended ended = server.command(words);
    CHECK(ended.status == 1);
    CHECK_MESSAGE(ended.says(why), ended.output);
  };
  const std::string fresh = (server.folder / "fresh").string();
  refused({"init", fresh, "--name", "P", "--listen", "0.0.0.0:7300"}, "--public");
  refused({"init", fresh, "--name", "P", "--listen", "nowhere"}, "HOST:PORT");
  refused({"init", fresh, "--name", "P", "--listen", "poems.example.org:7300"}, "use 0.0.0.0");
  refused({"init", fresh, "--name", "<b>", "--listen", "127.0.0.1:7300"}, "name");
  CHECK_FALSE(std::filesystem::exists(fresh));
  refused({"serve", fresh}, "starling-coordinator init");
  refused({"run", "status", server.directory}, "no run yet");
  refused({"run", "start", server.directory, "nosuch"}, "no run 'nosuch'");
  refused({"run", "export", server.directory, "nosuch", fresh}, "no run 'nosuch'");
  refused({"invite", "new", server.directory, "--expires", "soon"}, "7d");
  refused({"invite", "new", server.directory, "--uses", "0"}, "uses");
  CHECK(server.command({"frobnicate"}).status == 2);
  CHECK(server.command({"--help"}).says("Example"));
}

TEST_CASE("a run is made from TOML, once, and only one runs at a time") {
  TestServer server;
  const Ended created = server.create_run("one");
  REQUIRE_MESSAGE(created.status == 0, created.output);
  CHECK(created.last_line() == "one");
  CHECK(server.create_run("one").says("there is a run 'one' already"));
  CHECK(server.create_run("-x").says("begins with a hyphen"));
  REQUIRE(server.create_run("two").status == 0);
  CHECK(server.command({"run", "start", server.directory}).says("say which: one, two"));
  CHECK(server.command({"run", "start", server.directory, "one"}).status == 0);
  CHECK(server.command({"run", "start", server.directory, "two"}).says("run 'one' is running"));
  CHECK(server.command({"run", "pause", server.directory, "one"}).status == 0);
  CHECK(server.command({"run", "start", server.directory, "two"}).status == 0);
  const Ended status = server.command({"run", "status", server.directory, "two", "--json"});
  CHECK(status.says(R"("run_id":"two","state":"running","round":0)"));
  CHECK(status.says(R"("ledger_samples":0)"));
  // Training text and held-out text exist once each, however many runs use them.
  CHECK(std::distance(std::filesystem::directory_iterator(server.directory + "/artefacts"), {}) == 2);
}

TEST_CASE("a run that is refused leaves no copy of its data") {
  TestServer server;
  const auto artefacts = [&server] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(server.directory + "/artefacts")) {
      names.insert(entry.path().filename().string());
    }
    return names;
  };
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += std::to_string(i * 7919) + " ";
  REQUIRE(write_file_atomically(server.folder / "a.txt", text).ok());
  REQUIRE(write_file_atomically(server.folder / "b.txt", text + "more").ok());
  const auto create = [&](const std::string& head, const std::string& held_out) {
    const std::string toml = "run_id = \"other\"\n" + head +
                             "[model]\nlayers = 1\nwidth = 16\nheads = 1\ncontext = 16\n"
                             "[data]\ntrain = \"a.txt\"\nvalidation = \"" +
                             held_out + "\"\nsampling = \"independent\"\n";
    REQUIRE(write_file_atomically(server.folder / "other.toml", toml).ok());
    return server.command({"run", "create", server.directory, (server.folder / "other.toml").string()});
  };
  CHECK(create("", "b.txt").says("--held-out-may-repeat"));
  CHECK(artefacts().empty());
  REQUIRE(server.create_run("one").status == 0);
  const std::set<std::string> before = artefacts();
  CHECK(before.size() == 2);
  CHECK(create("", "b.txt").says("--held-out-may-repeat"));
  CHECK(create("peers_max = 16\n", "missing.txt").status != 0);
  CHECK(artefacts() == before);
}

TEST_CASE("files of a new run wait beside the artefacts, and those of a command that was killed are removed") {
  const starling::testing::TempDir artefacts;
  REQUIRE(ensure_directory(artefacts / "staged-1").ok());
  REQUIRE(write_file_atomically(artefacts / "staged-1" / "half", "x").ok());
  REQUIRE(write_file_atomically(artefacts / "staged-1.lock", "").ok());
  REQUIRE(write_file_atomically(artefacts / "kept", "old").ok());
  {
    auto staged = server::StagedArtefacts::create(artefacts.path());
    REQUIRE(staged.ok());
    CHECK_FALSE(std::filesystem::exists(artefacts / "staged-1"));
    CHECK_FALSE(server::StagedArtefacts::create(artefacts.path()).ok());
    REQUIRE(write_file_atomically(staged->folder() / "kept", "new").ok());
  }
  CHECK(read_file(artefacts / "kept", 10).value() == "old");
  {
    auto staged = server::StagedArtefacts::create(artefacts.path());
    REQUIRE(staged.ok());
    REQUIRE(write_file_atomically(staged->folder() / "kept", "new").ok());
    REQUIRE(staged->publish().ok());
  }
  CHECK(read_file(artefacts / "kept", 10).value() == "new");
  CHECK(std::distance(std::filesystem::directory_iterator(artefacts.path()), {}) == 1);
}

TEST_CASE("a retired run is on no list and starts no more, and a new one is made from it") {
  TestServer server;
  REQUIRE(server.create_run("poems-1", "title = \"Poems\"\nseed = 9\n").status == 0);
  REQUIRE(server.command({"run", "start", server.directory}).status == 0);
  CHECK(server.command({"run", "retire", server.directory}).says("pause it first"));
  REQUIRE(server.command({"run", "pause", server.directory}).status == 0);
  REQUIRE(server.command({"run", "retire", server.directory}).status == 0);
  CHECK(server.command({"run", "retire", server.directory, "poems-1"}).says("retired already"));
  CHECK(server.command({"run", "start", server.directory, "poems-1"}).says("run clone"));
  CHECK(server.command({"run", "start", server.directory}).says("no run yet"));
  CHECK_FALSE(server.command({"status", server.directory}).says("poems-1"));
  CHECK(server.command({"run", "status", server.directory, "poems-1"}).says("'poems-1' is retired"));

  const std::string draft = (server.folder / "next.toml").string();
  std::filesystem::create_symlink("drafts.toml", draft);
  const Ended cloned = server.command({"run", "clone", server.directory, "poems-1", draft});
  REQUIRE_MESSAGE(cloned.status == 0, cloned.output);
  CHECK(std::filesystem::is_symlink(draft));
  CHECK(std::filesystem::exists(server.folder / "drafts.toml"));
  CHECK(server.command({"run", "clone", server.directory, "poems-1", draft}).says("exists already"));
  const std::filesystem::path artefacts = server.directory + "/artefacts";
  for (const auto& data : std::filesystem::directory_iterator(artefacts)) {
    std::filesystem::create_hard_link(data, server.folder / data.path().filename());
  }
  const Ended created = server.command({"run", "create", server.directory, draft});
  REQUIRE_MESSAGE(created.status == 0, created.output);
  CHECK(created.last_line() == "poems-2");
  CHECK(server.command({"run", "start", server.directory}).says("'poems-2' is running"));
  // Both files of data exist in the project already, and no second copy has taken their place.
  CHECK(std::distance(std::filesystem::directory_iterator(artefacts), {}) == 2);
  for (const auto& data : std::filesystem::directory_iterator(artefacts)) CHECK(data.hard_link_count() == 2);
  const Ended audit = server.command({"audit", server.directory});
  CHECK(audit.says("run retire"));
  CHECK(audit.says("(command)"));
  CHECK(server.command({"audit", server.directory, "--lines", "1", "--json"}).says(R"("action":"run start")"));
}

TEST_CASE("checks of work are listed and shown, and credit that waits for them adds up or the difference is named") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const std::string& project = server.directory;
  CHECK(server.command({"audit", "list", project}).says("checks of work: 0 right, 0 wrong"));
  PeerId peer;
  peer.bytes.fill(0xab);
  {
    const auto database = db::Database::open(project + "/coordinator.db", {}).value();
    const db::Stores& stores = database->stores();
    const AccountId ada = stores.people.accounts.join({"Ada", peer, {}, {1000}}).value();
    db::RoundResult result;
    result.record.run_id = "one";
    result.wait = 2;
    result.contributions = {{peer, ada, 1, 0, {1000}}};
    REQUIRE(stores.training.contributions.append(result).ok());
    db::WorkCheck check{0, "one", 3, peer, ada, db::Verdict::clean, {peer}, 4e-7, "", {1'718'000'000'000}};
    REQUIRE(stores.credit.checks.add(check).ok());
    check.round = 4;
    check.verdict = db::Verdict::missed;
    check.distance = 1;
    check.why = "it sent zeros";
    REQUIRE(stores.credit.checks.add(check).ok());
  }
  const Ended list = server.command({"audit", "list", project, "one"});
  CHECK(list.says("checks of work: 1 right, 1 wrong, 0 not made in time"));
  CHECK(list.says("4e-07"));
  CHECK(list.says("it sent zeros"));
  const Ended missed = server.command({"audit", "list", project, "--missed", "--json"});
  CHECK(missed.output.find("\"clean\"") == std::string::npos);
  CHECK(missed.says(R"("id":2,"unix_ms":1718000000000,"run_id":"one","round":4,"verdict":"missed","volunteer":"Ada")"));
  const Ended shown = server.command({"audit", "show", project, "2"});
  CHECK(shown.says("check 2 of"));
  CHECK(shown.says("abababab"));
  CHECK(shown.says("1 miss in this run, 0 right in a row"));
  CHECK(server.command({"audit", "show", project, "9"}).says("there is no check 9"));
  CHECK(server.command({"audit", "repeat", project, "9"}).says("there is no check 9"));
  CHECK(server.command({"audit", "repeat", project, "2", "--for", "soon"}).says("soon"));
  const Ended repeated = server.command({"audit", "repeat", project, "2", "--for", "2h"});
  CAPTURE(repeated.output);
  CHECK(repeated.status == 0);
  CHECK(repeated.says("each round of the computers of Ada is checked until"));
  CHECK(server.command({"users", "show", project, "Ada"}).says("each round of it is checked until"));
  CHECK(server.command({"users", "auditor", project, "Ada"}).says("decides checks of others' work now"));
  CHECK(server.command({"users", "show", project, "Ada"}).says("yours"));
  CHECK(server.command({"users", "auditor", project, "Ada", "--withdraw"}).status == 0);
  CHECK(server.command({"audit", project}).says("for 2 hours"));
  CHECK(server.command({"audit", "list", project, "nosuch"}).says("nosuch"));
  CHECK(server.command({"audit", "list", "--help"}).says("Example"));
  CHECK(server.command({"audit", project}).says("run create"));
  CHECK(server.command({"audit"}).status == 2);

  CHECK(server.command({"credit", "check", project}).says("and 0.000000 pending"));
  {
    db::Connection connection = db::open_file(project + "/coordinator.db", {.mode = db::OpenMode::read_write}).value();
    REQUIRE(connection.execute("UPDATE pending SET samples = samples + 1 WHERE kind = 0").ok());
  }
  const Ended broken = server.command({"credit", "check", project});
  CHECK(broken.status == 1);
  CHECK(broken.says("PROBLEM  pending is kept as 2 samples"));
  CHECK(broken.says("final and pending credit do not add up"));
  CHECK(broken.says("pending tally 0 of 1 in run 1"));
}

TEST_CASE("half an import of a process that was killed is removed at the next start, one under way is not") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const std::filesystem::path artefacts = server.directory + "/artefacts";
  const auto leave_behind = [&] { REQUIRE(write_file_atomically(artefacts / "import-1.tmp", "half").ok()); };
  const auto under_way = FileLock::acquire(artefacts / "import-2.tmp");
  REQUIRE(under_way.ok());
  leave_behind();
  REQUIRE(server.create_run("two").status == 0);
  CHECK_FALSE(std::filesystem::exists(artefacts / "import-1.tmp"));
  leave_behind();
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  CHECK_FALSE(std::filesystem::exists(artefacts / "import-1.tmp"));
  CHECK(std::filesystem::exists(artefacts / "import-2.tmp"));
}

TEST_CASE("a manifest that can not work is refused with what to change, and leaves no run") {
  TestServer server;
  const Ended crowded = server.create_run("one", "micro_batch_size = 8000\n");
  CHECK(crowded.status == 1);
  CHECK(crowded.says("micro_batch_size"));
  const Ended unknown = server.create_run("one", "learning_speed = 3\n");
  CHECK(unknown.says("learning_speed"));
  CHECK(server.command({"run", "status", server.directory}).says("no run yet"));
}

TEST_CASE("the server says where it listens, and ends when asked") {
  TestServer server;
  for (const int signal : {SIGTERM, SIGINT}) {
    Process process(server.serve_command());
    REQUIRE(process.wait_for("listening on https://" + server.address + "\n"));
    process.signal(signal);
    CHECK(process.end().status == 0);
  }
}

TEST_CASE("one server to a project, and one to a port") {
  TestServer server;
  Process first(server.serve_command());
  REQUIRE(first.wait_for("listening on"));
  const Ended second = run(server.serve_command());
  CHECK(second.status == 1);
  CHECK(second.says("served already"));
  const std::string other = (server.folder / "other").string();
  REQUIRE(server.command({"init", other, "--name", "Other", "--listen", server.address}).status == 0);
  const Ended taken = server.command({"serve", other});
  CHECK(taken.status == 1);
  CHECK_MESSAGE(taken.says(server.address.substr(server.address.rfind(":") + 1)), taken.output);
  CHECK(taken.says("in use"));
}

TEST_CASE("a corrupt database is named and kept as it is") {
  TestServer server;
  const std::string file = server.directory + "/coordinator.db";
  std::string damaged;
  for (int i = 0; i < 1000; ++i) damaged += "this is no database ";
  REQUIRE(write_file_atomically(file, damaged).ok());
  const Ended ended = run(server.serve_command());
  CHECK(ended.status == 1);
  CHECK(ended.says("coordinator.db"));
  CHECK(ended.says("left as it is"));
  CHECK(*read_file(file, 1 << 20) == damaged);
}

TEST_CASE("the number of the database's layout can be asked for, while the project is served or not") {
  TestServer server;
  const std::string newest = std::to_string(db::sqlite_migrations().back().version);
  CHECK(server.command({"schema", server.directory}).last_line() == newest);
  Process serving(server.serve_command());
  REQUIRE(serving.wait_for("listening on"));
  CHECK(server.command({"schema", server.directory}).last_line() == newest);
  CHECK(server.command({"schema", (server.folder / "nothing").string()}).status == 1);
}

TEST_CASE("the doctor finds what is wrong") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  std::filesystem::permissions(server.directory + "/ca.key", std::filesystem::perms(0644));
  const auto artefact = std::filesystem::directory_iterator(server.directory + "/artefacts")->path();
  REQUIRE(write_file_atomically(artefact, "other bytes").ok());
  const Ended ended = server.command({"doctor", server.directory});
  CHECK(ended.status == 1);
  CHECK(ended.says("PROBLEM  ca.key"));
  CHECK(ended.says("chmod 600"));
  CHECK(ended.says("PROBLEM  artefact " + artefact.filename().string().substr(0, 8)));
  CHECK(ended.says("2 problem(s)"));
}

TEST_CASE("a backup taken while the project is served can be restored and served") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const std::string copy = (server.folder / "copy").string();
  {
    Process process(server.serve_command());
    REQUIRE(process.wait_for("listening on"));
    REQUIRE(server.back_up_with_keys(copy).status == 0);
    CHECK(server.back_up_with_keys(copy).says("exists already"));
    process.signal(SIGTERM);
    CHECK(process.end().status == 0);
  }
  CHECK(server.command({"serve", copy}).says("is a backup"));
  CHECK(server.command({"status", copy}).says("restore " + copy + " NEW-DIR"));
  CHECK(server.command({"restore", copy, "--verify"}).says("is whole"));
  const std::string restored = (server.folder / "restored").string();
  REQUIRE(server.restore_with_keys(copy, restored).status == 0);
  CHECK(server.restore_with_keys(copy, restored).says("exists already"));
  CHECK(mode_of(restored + "/ca.key") == 0600);
  CHECK(server.command({"doctor", restored}).status == 0);
  Process process({STARLING_COORDINATOR, "serve", restored});
  CHECK(process.wait_for("listening on"));
}

TEST_CASE("one flipped byte anywhere in a backup is found, and a missing file") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  REQUIRE(server.command({"backup", "now", server.directory}).status == 0);
  const auto backup = std::filesystem::directory_iterator(server.directory + "/backups")->path();
  REQUIRE(server.command({"restore", backup.string(), "--verify"}).status == 0);
  for (const char* name : {"coordinator.db", "ca.pem", "project.json"}) {
    CAPTURE(name);
    const std::string good = *read_file(backup / name, 1 << 24);
    std::string bad = good;
    bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
    REQUIRE(write_file_atomically(backup / name, bad).ok());
    const Ended found = server.command({"restore", backup.string(), "--verify"});
    CHECK(found.status == 1);
    CHECK_MESSAGE(found.says(name), found.output);
    CHECK(found.says("damaged"));
    REQUIRE(write_file_atomically(backup / name, good, {.mode = 0600}).ok());
  }
  std::filesystem::remove(backup / "ca.pem");
  CHECK(server.command({"restore", backup.string(), "--verify"}).says("'ca.pem' is missing"));
  CHECK(server.command({"restore", server.directory, "--verify"}).says("no complete backup"));
}

TEST_CASE("a backup that fails leaves nothing behind, and the project as it was") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const std::filesystem::path artefacts = server.directory + "/artefacts";
  const auto artefact = std::filesystem::directory_iterator(artefacts)->path();
  const std::filesystem::path aside = server.folder / "aside";
  std::filesystem::rename(artefact, aside);
  const std::string copy = (server.folder / "copy").string();
  const Ended ended = server.command({"backup", "now", server.directory, copy});
  CHECK(ended.status == 1);
  CHECK_MESSAGE(ended.says(artefact.filename().string()), ended.output);
  CHECK_FALSE(std::filesystem::exists(copy));
  CHECK(server.command({"status", server.directory}).says("none yet"));
  std::filesystem::rename(aside, artefact);
  CHECK(server.command({"backup", "now", server.directory, copy}).status == 0);
}

TEST_CASE("status tells how the project stands, served or not") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  CHECK(server.command({"status", server.directory}).says("not serving"));
  CHECK(server.command({"status", server.directory}).says("backup now"));
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  REQUIRE(server.command({"backup", "now", server.directory}).status == 0);
  const Ended told = server.command({"status", server.directory});
  CHECK_MESSAGE(told.says("server       up for"), told.output);
  CHECK(told.says("run          'one'"));
  CHECK(server.command({"run", "export", server.directory, "one", server.directory + "/model"})
            .says("no copy of the state of run 'one' has arrived yet"));
  CHECK(told.says("/backups/"));
  const Ended json = server.command({"status", server.directory, "--json"});
  CHECK(json.says(R"("served":true)"));
  CHECK(json.says(R"("runs":[{"run_id":"one","state":"created","round":0)"));
}

TEST_CASE("bans and news are made, listed and taken back") {
  TestServer server;
  const auto says = [&](std::vector<std::string> words, const std::string& text) {
    words.insert(words.begin() + 2, server.directory);
    const Ended ended = server.command(words);
    CHECK_MESSAGE(ended.says(text), ended.output);
  };
  says({"ban", "add", "user:Nobody", "--reason", "x"}, "no volunteer 'Nobody'");
  says({"ban", "add", "address:300.1.1.1", "--reason", "x"}, "192.0.2.0/24");
  says({"ban", "add", "planet:earth", "--reason", "x"}, "user:NAME");
  says({"ban", "add", "address:192.0.2.0/24", "--reason", "floods", "--for", "30d"}, "is kept out until");
  says({"ban", "list"}, "192.0.2.0/24");
  says({"ban", "list"}, "floods");
  says({"ban", "remove", "1"}, "lifted");
  says({"ban", "remove", "1"}, "no ban 1");
  says({"news", "post", "--title", "Hello", "--body", "World"}, "news 1");
  says({"news", "list"}, "Hello");
  says({"news", "remove", "1"}, "gone");
}

}  // namespace starling::server::testing
