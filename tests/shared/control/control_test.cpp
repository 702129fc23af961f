#include "shared/control/control.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace starling;
using namespace starling::wire;

namespace {

ControlReply all_views() {
  ControlReply reply;
  HistoryPoint point;
  point.begin.unix_ms = 1'700'000'000'000;
  point.samples = 12;
  point.loss = 1.5;
  reply.history = {point, point};
  PeerView peer;
  peer.role = "full";
  peer.part = 0.5;
  peer.download_bytes_per_s = 2e6;
  peer.round_trip_ms = 0.25;
  reply.peers = {7, 2, {peer, peer}};
  LeaderboardView board;
  board.project = "Birds";
  board.pinned.emplace().name = "Ada";
  board.rows.resize(2);
  reply.leaderboard = board;
  reply.preview.emplace().disk_bytes = 80;
  return reply;
}

}  // namespace

TEST_CASE("a status survives the trip to the command line") {
  DaemonStatus status;
  status.revision = 7;
  status.phase = DaemonPhase::training;
  status.problems = {"the disk is full", "'a/b' is damaged"};
  status.membership.project = "Zürich \"birds\"\\";
  status.membership.run_id = "run";
  status.membership.peer.bytes.fill(3);
  status.training.round = 12;
  status.swarm.samples_accumulated = 40;
  status.swarm.target_batch_size = 96;
  status.training.credit = 0.125;
  status.training.loss = 1.5;
  status.training.validation_bits_per_byte = 2.25;
  status.training.validation_round = 31;
  status.network.bytes_sent = 1'000'000'000'000;
  status.update = {"available", "1.2 is out", "1.2", "Faster.", "https://example.org/", "1.1", true, {17}};
  status.reach.reachability = "blocked";
  status.reach.relay.bytes.fill(5);
  status.reach.mapped_port = 4000;
  status.reach.bytes = 7'000'000;
  ControlReply reply;
  reply.status = status;
  const auto back = decode_control_reply(encode_line(reply));
  REQUIRE(back.ok());
  REQUIRE(back->status.has_value());
  CHECK(encode_status(*back->status) == encode_status(status));
  CHECK(back->status->reach.bytes == status.reach.bytes);
}

TEST_CASE("a loss that is not finite yet does not make a status unreadable") {
  DaemonStatus status;
  ControlReply reply;
  reply.status = status;
  const auto back = decode_control_reply(encode_line(reply));
  REQUIRE(back.ok());
  CHECK_FALSE(back->status->training.validation_bits_per_byte.has_value());
}

TEST_CASE("a refusal carries its code and its message") {
  ControlReply reply;
  reply.error = Error{ErrorCode::failed_precondition, "already joined"};
  const auto back = decode_control_reply(encode_line(reply));
  REQUIRE(back.ok());
  REQUIRE(back->error.has_value());
  CHECK(back->error->code == ErrorCode::failed_precondition);
  CHECK(back->error->message == "already joined");
}

TEST_CASE("a window or terminal is told plain text, and a daemon too") {
  ControlReply reply;
  reply.status.emplace();
  reply.status->reason = "a\x1b[2J\u009b\u202e\nb";
  reply.status->problems = {"\x07"};
  reply.text = "one\ntwo\x1b[2J";
  const auto back = decode_control_reply(encode_line(reply));
  REQUIRE(back.ok());
  CHECK(back->status->reason == "a?[2J? b");
  CHECK(back->status->problems == std::vector<std::string>{"?"});
  CHECK(back->text == "one\ntwo?[2J");
  Pause pause;
  pause.reason = "tea\n\x1b[2J";
  const auto paused = decode_control_request(encode_line(pause));
  CHECK(std::get<Pause>(*paused).reason == "tea ?[2J");
  const auto asked = decode_control_request(encode_line(SampleText{"one\ntwo\x1b", 50, 0}));
  CHECK(std::get<SampleText>(*asked).prompt == "one\ntwo\x1b");
}

TEST_CASE("requests keep what they ask for") {
  const auto back = decode_control_request(encode_line(SampleText{"Once", 50, 0}));
  REQUIRE(back.ok());
  REQUIRE(std::holds_alternative<SampleText>(*back));
  const auto& asked = std::get<SampleText>(*back);
  CHECK(asked.prompt == "Once");
  CHECK(asked.length == 50);
  CHECK(asked.temperature == 0);
}

TEST_CASE("a request that is no such object, or out of range, is refused with its field") {
  CHECK(decode_control_request("").error().code == ErrorCode::corrupt);
  CHECK(decode_control_request("[1]").error().code == ErrorCode::corrupt);
  CHECK_FALSE(decode_control_request(R"({"command":"sample","length":100000})").ok());
  CHECK_FALSE(decode_control_request(R"({"command":3})").ok());
  CHECK_FALSE(decode_control_request(R"({"command":"sample","temperature":-1})").ok());
  CHECK(decode_control_request(R"({"command":"x"})").error().message.find("no command 'x'") != std::string::npos);
}

TEST_CASE("a status says what the rules say") {
  DaemonStatus status;
  RulesStatus& rules = status.rules;
  rules = {"battery",
           "plug it in",
           "prefs set on_battery yes",
           {1'800'000'000'000},
           true,
           4,
           1 << 30,
           true,
           false,
           "in use",
           {"idle time", "full screen"},
           5,
           6,
           7};
  status.problems = {"a file was damaged"};
  ControlReply reply;
  reply.status = status;
  const auto back = decode_control_reply(encode_line(reply));
  REQUIRE(back.ok());
  CHECK(back->status->rules.code == "battery");
  CHECK(back->status->rules.unknown.size() == 2);
  CHECK(encode_status(*back->status) == encode_status(status));
}

TEST_CASE("wishes and preferences travel whole") {
  const SetPreferences request{"balanced", {{"on_battery", "yes"}, {"compute_schedule", "mon 1-2"}}};
  const auto asked = decode_control_request(encode_line(request));
  REQUIRE(asked.ok());
  CHECK(encode_line(*asked) == encode_line(request));
  CHECK(std::get<SetPreferences>(*asked).changes[1].value == "mon 1-2");

  ControlReply reply;
  reply.preferences.emplace().limits.threads_max = 3;
  const auto told = decode_control_reply(encode_line(reply));
  REQUIRE(told.ok());
  CHECK(told->preferences == reply.preferences);
}

TEST_CASE("whoever joins with a password is told as typed") {
  const JoinProject request{"", "Ada", "swan \"lake\" \\ at dusk", "ada@example.org"};
  const auto asked = decode_control_request(encode_line(request));
  REQUIRE(asked.ok());
  CHECK(std::get<JoinProject>(*asked).password == request.password);
  CHECK(std::get<JoinProject>(*asked).email == request.email);
}

TEST_CASE("history, peers, leaderboard and preview travel whole") {
  const ControlReply reply = all_views();
  const auto told = decode_control_reply(encode_line(reply));
  REQUIRE(told.ok());
  CHECK(encode_line(*told) == encode_line(reply));
  CHECK(told->peers->peers[0].part == 0.5);
  CHECK(told->leaderboard->pinned->name == "Ada");
  CHECK(told->preview->disk_bytes == 80);

  const GetLeaderboard request{"week", "a b", 3};
  const auto asked = decode_control_request(encode_line(request));
  REQUIRE(asked.ok());
  CHECK(encode_line(*asked) == encode_line(request));
  CHECK(history_span("day") == HistorySpan::day);
  CHECK_FALSE(history_span("hour").has_value());
}

TEST_CASE("random bytes never crash the decoders") {
  std::mt19937 rng(11);
  ControlReply seed = all_views();
  seed.status.emplace();
  seed.preferences.emplace();
  seed.text = "text";
  const std::string seed_line = encode_line(seed);
  for (int i = 0; i < 3000; ++i) {
    std::string line = seed_line;
    for (int flips = 0; flips < 4; ++flips) line[rng() % line.size()] = static_cast<char>(rng());
    (void)decode_control_reply(line);
    (void)decode_control_request(line);
  }
}
