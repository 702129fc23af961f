// An operator's actions beside the running server, and their effect on volunteers and viewers.
#include <doctest/doctest.h>

#include <csignal>

#include "shared/base/files.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/protocol/heartbeat_reply.h"
#include "tests/coordinator/server/server_harness.h"

namespace starling::server::testing {
namespace {

bool has(const net::HttpResponse& response, const std::string& text) {
  return response.body.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("volunteers of a retired run are told that it is over, others never hear of it, and its page stays") {
  TestServer server;
  REQUIRE(server.create_run("poems-1", "title = \"Poems <1>\"\n").status == 0);
  REQUIRE(server.command({"run", "start", server.directory}).status == 0);
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  Member ada("Ada");
  REQUIRE(ada.join(server.init.last_line()).ok());
  ada.beat.run_id = "poems-1";
  REQUIRE(ada.call()->run_state == wire::RunState::running);
  REQUIRE(server.command({"run", "pause", server.directory}).status == 0);
  REQUIRE(server.command({"run", "retire", server.directory}).status == 0);
  REQUIRE(eventually([&] { return ada.call()->run_state == wire::RunState::complete; }));
  REQUIRE(eventually([&] { return server.get("/v1/run").status == 404; }));
  REQUIRE(eventually([&] { return has(server.get("/"), "Nothing to train at the moment"); }));
  CHECK(has(server.get("/"), "<a href=\"/run/poems-1\">Poems &lt;1&gt;</a> <span class=\"what\">over</span>"));
  const net::HttpResponse page = server.get("/run/poems-1");
  CHECK(page.status == 200);
  CHECK(has(page, "<h1>Poems &lt;1&gt;</h1>"));
  CHECK(server.get("/run/poems-9").status == 404);

  // The next run takes its place.
  REQUIRE(server.create_run("poems-2").status == 0);
  REQUIRE(eventually([&] { return server.get("/v1/run").status == 200; }));
  process.signal(SIGTERM);
  CHECK(process.end().status == 0);
}

TEST_CASE("an operator's account is made by a command, which prints a password that it never shows again") {
  TestServer server;
  const Ended made = server.command({"operators", "add", server.directory, "Grace"});
  REQUIRE_MESSAGE(made.status == 0, made.output);
  CHECK(made.last_line().size() == 19);
  const Ended again = server.command({"operators", "add", server.directory, "grace"});
  CHECK(again.last_line() != made.last_line());
  CHECK(server.command({"operators", "add", server.directory, "<b>"}).status == 1);
  const Ended list = server.command({"operators", "list", server.directory});
  CHECK(list.says("Grace"));
  CHECK_FALSE(list.says(made.last_line()));
  CHECK(server.command({"audit", server.directory}).says("operators add"));
  CHECK(server.command({"operators", "remove", server.directory, "GRACE"}).status == 0);
  CHECK(server.command({"operators", "remove", server.directory, "Grace"}).says("no operator 'Grace'"));
  CHECK_FALSE(server.command({"operators", "list", server.directory}).says("Grace"));
}

TEST_CASE("the root of keys goes offline, the key that signs is replaced, and who joined before follows") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const std::string link = server.command({"invite", "new", server.directory, "--uses", "3"}).last_line();
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  Member ada("Ada");
  REQUIRE(ada.join(link).ok());
  const crypto::PublicKey pinned = ada.manifest_key();
  const auto number = [&] {
    const auto envelope = manifest::decode_envelope(server.get("/v1/run").body);
    REQUIRE(envelope.ok());
    REQUIRE(manifest::verify_manifest(*envelope, pinned).ok());
    return manifest::key_number(*envelope, pinned);
  };
  CHECK(number() == 0);
  const std::string root = (server.folder / "root.key").string();
  CHECK(server.command({"keys", "rotate", server.directory, "--root", root}).says("first: keys offline"));
  const Ended offline = server.command({"keys", "offline", server.directory, root});
  REQUIRE_MESSAGE(offline.status == 0, offline.output);
  REQUIRE(eventually([&] { return number() == 1; }));
  const auto stolen = read_file(std::filesystem::path(server.directory) / "manifest.key", 64 * 1024);
  CHECK(stolen->find(read_file(root, 64 * 1024)->substr(30, 40)) == std::string::npos);
  CHECK(server.command({"keys", "offline", server.directory, root + "2"}).status == 1);
  REQUIRE(server.command({"keys", "rotate", server.directory, "--root", root}).status == 0);
  REQUIRE(eventually([&] { return number() == 2; }));
  CHECK(server.command({"keys", "show", server.directory}).says("number 2"));
  // A new member pins the unchanged root; runs are made, looked at and backed up as before.
  Member bob("Bob");
  REQUIRE(bob.join(link).ok());
  CHECK(bob.manifest_key().spki() == pinned.spki());
  REQUIRE(server.create_run("two").status == 0);
  CHECK(server.command({"run", "status", server.directory, "two"}).status == 0);
  CHECK(server.command({"doctor", server.directory}).status == 0);
  const std::string copy = (server.folder / "copy").string();
  REQUIRE(server.back_up_with_keys(copy).status == 0);
  CHECK(server.restore_with_keys(copy, (server.folder / "again").string()).status == 0);
  CHECK(server.command({"keys", "show", (server.folder / "again").string()}).says("number 2"));
  // Another key is not accepted as the root.
  const crypto::PrivateKey other = crypto::PrivateKey::generate();
  REQUIRE(write_file_atomically(server.folder / "other.key", other.to_pem()).ok());
  CHECK(server.command({"keys", "rotate", server.directory, "--root", (server.folder / "other.key").string()})
            .says("is not this project's root"));
}

TEST_CASE("a run that is trained is signed anew with another title and oldest version, and with nothing else") {
  TestServer server;
  REQUIRE(server.create_run("one", "title = \"Poems\"\n").status == 0);
  REQUIRE(server.command({"run", "start", server.directory}).status == 0);
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  Member ada("Ada");
  REQUIRE(ada.join(server.init.last_line()).ok());
  ada.beat.run_id = "one";
  REQUIRE(ada.call().ok());
  const auto signed_now = [&] {
    const auto envelope = manifest::decode_envelope(server.get("/v1/run").body);
    REQUIRE(envelope.ok());
    return manifest::verify_manifest(*envelope, ada.manifest_key()).value();
  };
  const wire::RunManifest before = signed_now();
  const Ended anew =
      server.command({"run", "sign", server.directory, "--title", "All the poems", "--client-min", "0.0.1"});
  REQUIRE_MESSAGE(anew.status == 0, anew.output);
  REQUIRE(eventually([&] { return signed_now().title == "All the poems"; }));
  wire::RunManifest after = signed_now();
  CHECK(after.client_min == "0.0.1");
  after.title = before.title;
  after.client_min = before.client_min;
  CHECK(wire::encode_manifest(after) == wire::encode_manifest(before));
  CHECK(ada.call()->run_state == wire::RunState::running);
  CHECK(server.command({"audit", server.directory}).says("run sign"));
  CHECK(server.command({"run", "sign", server.directory, "one", "--mirror", "https://mirror.example.org/"})
            .says("mirrors are for shards"));
  CHECK(server.command({"run", "sign", server.directory, "--client-min", "soon"}).says("client_min"));
  CHECK(signed_now().title == "All the poems");
  CHECK(server.command({"run", "sign", server.directory, "two"}).status == 1);
}

TEST_CASE("during maintenance newcomers wait, who trains goes on, pages say why, and a restart changes nothing") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  REQUIRE(server.command({"run", "start", server.directory}).status == 0);
  const std::string link = server.command({"invite", "new", server.directory, "--uses", "3"}).last_line();
  Member ada("Ada");
  Member bob("Bob");
  {
    Process process(server.serve_command());
    REQUIRE(process.wait_for("listening on"));
    REQUIRE(ada.join(link).ok());
    ada.beat.run_id = "one";
    const Ended on =
        server.command({"maintenance", "on", server.directory, "--message", "a <new> disk", "--until", "2h"});
    REQUIRE_MESSAGE(on.status == 0, on.output);
    REQUIRE(eventually([&] { return !ada.call()->notice.empty(); }));
    process.signal(SIGKILL);
    process.end();
  }
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  const auto reply = ada.call();
  REQUIRE(reply.ok());
  CHECK(reply->run_state == wire::RunState::running);
  CHECK(reply->notice.find("a <new> disk") != std::string::npos);
  const Status put_off = bob.join(link);
  CHECK(put_off.error().code == ErrorCode::unavailable);
  CHECK(put_off.error().message.find("a <new> disk. Please come again after") != std::string::npos);
  for (const char* path : {"/", "/leaderboard", "/status", "/login"}) {
    CAPTURE(path);
    const net::HttpResponse page = server.get(path);
    CHECK(page.status == 200);
    CHECK(has(page, "a &lt;new&gt; disk"));
  }
  CHECK(has(server.get("/status.json"), R"("maintenance":{"message":"a <new> disk","until_unix_ms":)"));
  CHECK(server.command({"status", server.directory}).says("maintenance  since"));
  CHECK(server.command({"maintenance", "status", server.directory}).says("on since"));

  REQUIRE(server.command({"maintenance", "off", server.directory}).status == 0);
  CHECK(server.command({"maintenance", "status", server.directory}).says("serves as ever"));
  REQUIRE(eventually([&] { return ada.call()->notice.empty(); }));
  CHECK(bob.join(link).ok());
  CHECK_FALSE(has(server.get("/login"), "looked after"));
}

}  // namespace starling::server::testing
