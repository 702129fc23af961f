// The first state of a run: signed when the run is made, and later for older runs whose manifest lacks it.
#include "coordinator/server/run_beginning.h"

#include <doctest/doctest.h>

#include <csignal>

#include "coordinator/server/run_script.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/run/model_layout.h"
#include "shared/state/initial_state.h"
#include "shared/state/state_digest.h"
#include "shared/wire/safetensors.h"
#include "tests/coordinator/server/server_harness.h"
#include "tests/support/postgres_server.h"

namespace starling::server::testing {
namespace {

// The manifest of run "one" in the database.
wire::RunManifest stored_manifest(const TestServer& server) {
  const Project project = load_project(server.directory).value();
  const auto database = open_database(project).value();
  const auto run = database->stores().training.runs.find("one");
  REQUIRE(run.ok());
  return manifest::verify_manifest(manifest::decode_envelope(run->manifest_envelope).value(), project.root).value();
}

// Removes the first state from the stored manifest, as in runs of older versions.
void leave_open(const TestServer& server) {
  const Project project = load_project(server.directory).value();
  const auto database = open_database(project).value();
  wire::RunManifest manifest = stored_manifest(server);
  manifest.initial_state_digest = {};
  const auto envelope = manifest::sign_manifest(manifest, {project.manifest_key, project.key_certificate}).value();
  REQUIRE(database->stores().training.runs.set_envelope("one", manifest::encode_envelope(envelope)).ok());
}

wire::RunManifest served_manifest(const TestServer& server, const crypto::PublicKey& pinned) {
  const auto envelope = manifest::decode_envelope(server.get("/v1/run").body);
  REQUIRE(envelope.ok());
  return manifest::verify_manifest(*envelope, pinned).value();
}

// Serves a run of an older version that has no round yet, and checks that its members follow.
void check_upgrade(TestServer& server) {
  REQUIRE(server.create_run("one").status == 0);
  REQUIRE(server.command({"run", "start", server.directory}).status == 0);
  const wire::RunManifest named = stored_manifest(server);
  CHECK(named.initial_state_digest == state::initial_state_digest(named));
  leave_open(server);
  REQUIRE(stored_manifest(server).initial_state_digest.is_zero());
  const Ended doctor = server.command({"doctor", server.directory});
  CHECK(doctor.says("its manifest does not name the state that it begins with"));
  {
    Process process(server.serve_command());
    REQUIRE(process.wait_for("listening on"));
    Member ada("Ada");
    REQUIRE(ada.join(server.init.last_line()).ok());
    CHECK(wire::encode_manifest(served_manifest(server, ada.manifest_key())) == wire::encode_manifest(named));
    ada.beat.run_id = "one";
    ada.beat.state_digest.bytes.fill(9);  // the first caller's own state does not matter
    CHECK(ada.call()->state_digest == named.initial_state_digest);
    process.signal(SIGTERM);
    const Ended ended = process.end();
    CHECK(ended.status == 0);
    CHECK_MESSAGE(ended.says("run 'one' is signed anew: it begins with state"), ended.output);
  }
  CHECK(server.command({"audit", server.directory}).says("the state that it begins with"));
  CHECK_FALSE(server.command({"doctor", server.directory}).says("does not name"));
  Process again(server.serve_command());
  REQUIRE(again.wait_for("listening on"));
  again.signal(SIGTERM);
  CHECK_FALSE(again.end().says("signed anew"));
}

}  // namespace

TEST_CASE("a run that was made before first states were signed is signed anew when it is served, if it has no round") {
  TestServer server;
  check_upgrade(server);
}

TEST_CASE("the same in a project whose database is on a server") {
  TestServer server(starling::testing::PostgresServer::shared().create_database());
  check_upgrade(server);
}

TEST_CASE("a run that has rounds and no signed first state goes on as it is") {
  TestServer server;
  Digest last;
  {
    ServedRun run(server);
    run.two.settle();
    run.two.finish_round();
    run.two.settle();
    last = run.two.ada.beat.state_digest;
    run.process.signal(SIGTERM);
    CHECK(run.process.end().status == 0);
  }
  leave_open(server);
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  Member carol("Carol");
  REQUIRE(carol.join(server.command({"invite", "new", server.directory}).last_line()).ok());
  carol.beat.run_id = "one";
  const auto reply = carol.call();
  REQUIRE(reply.ok());
  CHECK(reply->round == 1);
  CHECK(reply->state_digest == last);
  CHECK(stored_manifest(server).initial_state_digest.is_zero());
  CHECK_FALSE(server.command({"doctor", server.directory}).says("does not name"));
}

TEST_CASE("run sign names the first state of a run that does not") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const wire::RunManifest named = stored_manifest(server);
  leave_open(server);
  REQUIRE(server.command({"run", "sign", server.directory}).status == 0);
  CHECK(stored_manifest(server).initial_state_digest == named.initial_state_digest);
}

TEST_CASE("a program that draws random numbers is known by the text of its code") {
  CHECK(random_call_in("").empty());
  CHECK(random_call_in("  _0 = torch.relu(x)\n  return torch.mul(_0, 2)").empty());
  CHECK(random_call_in("  _0 = torch.dropout(x, 0.10000000000000001, True)") == "torch.dropout");
  CHECK(random_call_in("  noise = torch.randn_like(x)") == "torch.rand");
  const starling::testing::TempDir folder;
  manifest::ManifestSource source;
  source.program = folder / "model.pt";
  CHECK(check_audited_script(source).ok());  // that it is missing is said elsewhere
  // Across the edge of two pieces.
  const std::string edge = std::string((1 << 20) - 4, 'x') + "torch.dropout(x, 0.5, True)" + std::string(5000, 'x');
  REQUIRE(write_file_atomically(source.program, edge).ok());
  const Status refused = check_audited_script(source);
  REQUIRE(!refused.ok());
  CHECK(refused.error().message.find("calls torch.dropout") != std::string::npos);
  REQUIRE(write_file_atomically(source.program, std::string(3 << 20, 'x')).ok());
  CHECK(check_audited_script(source).ok());
}

TEST_CASE("a program's run begins with the parameters of the file that was published") {
  const starling::testing::TempDir folder;
  wire::RunManifest manifest;
  manifest.model.architecture = wire::Architecture::script;
  manifest.model.script.tensors = {{"table", {3}}};
  std::vector<wire::TensorInfo> tensors = {{"table", wire::TensorType::f32, {3}}};
  const std::string file = wire::encode_tensor_head(tensors) + std::string(12, '\1');
  manifest.model.script.parameters = {crypto::sha256(file), static_cast<std::int64_t>(file.size())};
  const Status missing = name_initial_state(manifest, folder.path());
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message.find("compute the state that the run begins with") != std::string::npos);
  REQUIRE(write_file_atomically(folder / manifest.model.script.parameters.sha256.hex(), file).ok());
  REQUIRE(name_initial_state(manifest, folder.path()).ok());
  std::vector<float> state(wire::state_size(manifest));
  const auto parameters = state::parameters_in(crypto::as_bytes(file));
  REQUIRE(state::load_initial_state(manifest, parameters, state).ok());
  CHECK(manifest.initial_state_digest == state::state_digest(state));
}

}  // namespace starling::server::testing
