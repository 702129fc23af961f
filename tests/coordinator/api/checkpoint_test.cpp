// A copy of the state on its way, piece by piece, through TLS, gate and disk, and back again.
#include <doctest/doctest.h>

#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/run/model_layout.h"
#include "shared/wire/frames.h"
#include "tests/coordinator/api/api_harness.h"

namespace starling::api::testing {
namespace {

constexpr std::size_t kPiece = wire::kCheckpointPieceBytes;

// One member, which has just made the state of round 1 and is asked for a copy of it.
struct Asked : TestProject {
  Asked() {
    const db::Run run = make_run("one", manifest_key, db::RunState::running, 1);
    REQUIRE(stores().training.runs.create(run).ok());
    REQUIRE(ada.join(invite()).ok());
    deal_first_group(stores(), "one", {ada.key.peer_id()});
    REQUIRE(this->run().poll().ok());
    ada.beat.run_id = "one";
    ada.beat.phase = wire::MemberPhase::training;
    ada.beat.state_digest = state_of_round(0);
    state.resize(wire::state_size(this->run().served()->manifest) * sizeof(float));
    for (std::size_t i = 0; i < state.size(); ++i) state[i] = static_cast<char>(i * 31 % 251);
    crypto::PiecewiseSha256 digest(wire::kStateChunkFloats * sizeof(float));
    digest.update(crypto::as_bytes(state));
    state_digest = digest.finish();
    REQUIRE(ada.call().ok());
    ada.beat.state_round = 1;
    ada.beat.state_digest = state_digest;
    wire::RoundReport report = report_of(0, {ada.key.peer_id()}, 30);
    report.state_digest = state_digest;
    ada.beat.reports.push_back(report);
    REQUIRE(ada.call().ok());
    const auto asked = ada.call();
    REQUIRE(asked.ok());
    REQUIRE(asked->send_checkpoint);
  }

  [[nodiscard]] std::string path(std::size_t offset) const {
    return "/v1/checkpoint?round=1&digest=" + state_digest.hex() + "&offset=" + std::to_string(offset);
  }
  net::HttpResponse send(TestVolunteer& from, std::size_t offset, std::size_t bytes) {
    return from.send(path(offset), std::string_view(state).substr(offset, bytes));
  }
  // Sends the state in pieces; returns the answer to the last.
  net::HttpResponse send_all(TestVolunteer& from) {
    std::size_t at = 0;
    for (; at + kPiece < state.size(); at += kPiece) {
      if (net::HttpResponse response = send(from, at, kPiece); response.status != 200) return response;
    }
    return send(from, at, kPiece);
  }
  static std::int64_t held(const net::HttpResponse& response) {
    const auto reply = wire::decode_checkpoint_reply(response.body);
    return reply.ok() ? reply->bytes : -1;
  }

  TestVolunteer ada{*this, "Ada"};
  std::string state;
  Digest state_digest;
};

}  // namespace

TEST_CASE_FIXTURE(Asked, "a copy that arrives in pieces is kept, survives a restart and can be loaded") {
  REQUIRE(state.size() > kPiece);
  CHECK(held(send(ada, 0, 1000)) == 1000);
  CHECK(held(send(ada, 0, 1000)) == 1000);  // sent twice, since the answer was lost
  CHECK(held(send(ada, 5000, 1000)) == 1000);
  std::size_t at = 1000;
  for (; at < state.size(); at += kPiece) {
    CHECK(held(send(ada, at, kPiece)) == static_cast<std::int64_t>(std::min(at + kPiece, state.size())));
  }
  const auto kept = stores().training.checkpoints.newest("one").value();
  REQUIRE(kept.has_value());
  CHECK(kept->round == 1);
  CHECK(kept->state_digest == state_digest);
  CHECK(kept->peer_id == ada.key.peer_id());
  CHECK(kept->artefact == crypto::sha256(state));

  restart();
  net::HttpClient client = stranger();
  net::Download download;
  download.path = "/v1/artefacts/" + kept->artefact.hex();
  download.sha256 = kept->artefact;
  download.bytes = kept->bytes;
  download.destination = folder / "loaded";
  REQUIRE(client.download_artefact(download).ok());
  CHECK(*read_file(folder / "loaded", state.size()) == state);
  CHECK_FALSE(ada.call()->send_checkpoint);
}

TEST_CASE_FIXTURE(Asked,
                  "members of a run that is rolled back while it is served load the copy, and go on from there") {
  REQUIRE(send_all(ada).status == 200);
  const AccountId account = stores().people.accounts.find_host(ada.key.peer_id())->account_id;
  db::RoundResult next;
  next.record = {"one", 1, {}, clock.wall_now(), 5, state_of_round(2), 1, 10, 0};
  next.contributions = {{ada.key.peer_id(), account, 5, 1, clock.wall_now()}};
  REQUIRE(stores().training.contributions.append(next).ok());
  restart();
  ada.beat.reports.clear();
  ada.beat.state_round = 2;
  ada.beat.state_digest = state_of_round(2);
  const auto before = ada.call();
  REQUIRE(before.ok());
  CHECK(before->round == 2);
  CHECK(before->state_digest == state_of_round(2));

  REQUIRE(stores().training.runs.roll_back({"one", 1, clock.wall_now()}).ok());
  const auto goes_on = [&] {
    const auto served = this->run().served();
    return served && served->swarm.round == 3;
  };
  for (int polls = 0; polls < 5000 && !goes_on(); ++polls) REQUIRE(this->run().poll().ok());
  const auto after = ada.call();
  REQUIRE(after.ok());
  CHECK(after->round == 3);
  CHECK(after->state_digest == state_digest);
  REQUIRE(after->kept.checkpoint.has_value());
  CHECK(after->kept.checkpoint->file.sha256 == crypto::sha256(state));
  ada.beat.state_round = 3;
  ada.beat.state_digest = state_digest;
  CHECK_FALSE(ada.call()->kept.checkpoint.has_value());
  CHECK(run().served()->swarm.ready == 1);
}

TEST_CASE_FIXTURE(Asked, "bytes of another state are thrown away, and the turn is over") {
  state[17] = static_cast<char>(state[17] + 1);
  CHECK(send_all(ada).status >= 400);
  CHECK_FALSE(stores().training.checkpoints.newest("one").value().has_value());
  CHECK(send(ada, 0, kPiece).status == 412);
  CHECK_FALSE(ada.call()->send_checkpoint);
}

TEST_CASE_FIXTURE(Asked, "more bytes than the state has are refused") {
  state += "x";
  CHECK(send_all(ada).status >= 400);
  CHECK_FALSE(stores().training.checkpoints.newest("one").value().has_value());
}

TEST_CASE_FIXTURE(Asked, "whoever was not asked can send nothing") {
  TestVolunteer eve{*this, "Eve"};
  REQUIRE(eve.join(invite()).ok());
  eve.beat = ada.beat;
  eve.beat.reports.clear();
  REQUIRE(eve.call().ok());
  CHECK(send(eve, 0, kPiece).status == 412);
  CHECK(stranger().post_bytes(path(0), "piece")->status == 401);
  CHECK_FALSE(stores().training.checkpoints.newest("one").value().has_value());
  for (const char* bad : {"/v1/checkpoint", "/v1/checkpoint?round=1&digest=zz&offset=0",
                          "/v1/checkpoint?round=-1&digest=00&offset=0", "/v1/checkpoint?round=1&offset=1e3"}) {
    CAPTURE(bad);
    CHECK(ada.send(bad, "piece").status == 400);
  }
  CHECK(held(send_all(ada)) == static_cast<std::int64_t>(state.size()));  // its turn is not over
}

}  // namespace starling::api::testing
