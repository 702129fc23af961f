// The exact text of every request and reply of the control API: windows and command lines of other versions, and other
// people's programs, read and write it.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "shared/control/control_fields.h"
#include "shared/protocol/message_fields.h"
#include "tests/support/field_filler.h"

namespace starling::wire {

// The fields of preferences have tests of their own.
template <>
void each_field(testing::FieldFiller& /*visit*/, Preferences& /*preferences*/) {}

namespace {

template <typename Id>
Id id(std::uint8_t byte) {
  Id id;
  id.bytes.fill(byte);
  return id;
}

RulesStatus full_rules() {
  return {"battery",
          "plug it in",
          "prefs set on_battery yes",
          {1'800'000'000'000},
          true,
          4,
          1 << 30,
          true,
          false,
          "somebody is at work",
          {"idle time", "battery"},
          9,
          5,
          3,
          1,
          100,
          50};
}

DaemonStatus full_status() {
  DaemonStatus s;
  s.revision = 7;
  s.version = "0.9";
  s.phase = DaemonPhase::training;
  s.reason = "why";
  s.ends_when = "when";
  s.problems = {"a", "b", "c", "d", "e", "f", "g", "h", "left out"};
  s.paused = true;
  s.rules = full_rules();
  s.membership.project = "Z\xc3\xbcrich \"birds\"\\";
  s.membership.display_name = "Ada";
  s.membership.projects = 2;
  s.membership.run_id = "run";
  s.membership.run_title = "A run";
  s.membership.run_state = "running";
  s.membership.peer = id<PeerId>(3);
  s.membership.listen_port = 4000;
  s.reach = {"blocked", "192.0.2.7", id<PeerId>(5), "busy", 4001, "UPnP", "no router", 1, 2, 3, 7'000'000};
  s.update = {"available", "1.2 is out", "1.2", "Faster.", "https://example.org/", "1.1", true, {17}};
  s.membership.coordinator_away = true;
  s.training.round = 12;
  s.training.state_round = 11;
  s.training.state_digest = id<Digest>(4);
  s.training.synced = true;
  s.training.samples_this_round = 8;
  s.swarm.samples_accumulated = 40;
  s.swarm.target_batch_size = 96;
  s.training.samples_total = 1000;
  s.training.samples_credited = 900;
  s.training.credit = 0.125;
  s.training.samples_per_s = 2.5;
  s.swarm.samples_per_s = 25;
  s.swarm.size = 10;
  s.swarm.plan = "all lines";
  s.training.loss = 1.5;
  s.training.validation_bits_per_byte = 2.25;
  s.training.validation_accuracy = 0.5;
  s.training.validation_round = 10;
  s.training.rounds_done = 9;
  s.training.rounds_failed = 1;
  s.local_steps.mixings = 6;
  s.local_steps.mixings_missed = 2;
  s.local_steps.spread = 0.01;
  s.training.reports_waiting = 3;
  s.network.upload_bytes_per_s = 1e6;
  s.network.download_bytes_per_s = 2e6;
  s.network.bytes_sent = 1'000'000'000'000;
  s.network.bytes_received = 12;
  s.checked = CheckedWork{41, 1, 96, "look at the memory"};
  s.cells = CellsStatus{4, {{1, 0, 2, {7, 8}}}, 9, false};
  s.computing.trainer = "running";
  s.computing.device = {.kind = "cuda",
                        .count = 2,
                        .name = "NVIDIA A40",
                        .memory_bytes = 48'000'000'000,
                        .memory_max_bytes = 24'000'000'000,
                        .backend = "LibTorch 2.6.0 with CUDA 12.4",
                        .precision = "bf16",
                        .card_unused = "none"};
  return s;
}

// Figures by column: the recent average, then credit and samples in all, in the run, of a day, of a week.
StandingView standing(std::int64_t rank, std::string name, std::array<double, leaderboard::kColumns.size()> figures) {
  StandingView row{rank, std::move(name), {}};
  for (std::size_t i = 0; i < figures.size(); ++i) row.figures.at(i) = figures[i];
  return row;
}

ControlReply full_views() {
  ControlReply reply;
  reply.history = {{{1'700'000'000'000}, 3, 2, 12, 40, 1.5, 0.25, 1 << 20}, {}};
  reply.peers = {7, 2, {{id<PeerId>(1), "full", 5, 0.5, true, true, 1e6, 2e6, 0.25}, {}}};
  reply.preview = {"h:1", "ab", "Birds", true, "A run", "running", 1000, 2000, 3000, 4000, 4500, 5, 6, 1.75};
  reply.projects = {{"Birds", "Ada", "[2001:db8::7]:7700", 1, 12.5, true}};
  LeaderboardView& board = reply.leaderboard.emplace();
  board.project = "Birds";
  board.sort = "recent";
  board.volunteers = 12;
  board.page = 2;
  board.per_page = 50;
  board.pinned = standing(3, "Ada", {0.5, 1.5, 10, 0.25, 9, 0.125, 4, 0.75, 7});
  board.rows = {standing(1, "Bo", {2.5, 3.5, 20, 1.25, 19, 0.5, 5, 1.5, 8}), {}};
  reply.remote = {true, "192.0.2.5", 7447, "ff00", "token", "busy", 2};
  reply.team = {"Swans", 3, "Ada", 12, 1.5, 0.25, 2};
  reply.text = "done";
  return reply;
}

ControlReply with_preferences() {
  ControlReply reply;
  Preferences& p = reply.preferences.emplace();
  p.compute = UseMode::always;
  p.when.exclusive_programs = {"game", "mail"};
  p.limits.threads_max = 3;
  p.traffic.upload_max_mbit_s = 2.5;
  p.hours.compute_schedule_on = true;
  return reply;
}

ControlReply refusal() {
  ControlReply reply;
  reply.error = Error{ErrorCode::not_found, "no such project"};
  return reply;
}

ControlReply with_status(const DaemonStatus& status) {
  ControlReply reply;
  reply.status = status;
  return reply;
}

std::string again(const std::string& line) {
  const auto reply = decode_control_reply(line);
  return reply.ok() ? encode_line(*reply) : reply.error().message;
}

}  // namespace

TEST_CASE("requests have these texts") {
  for (const std::string line : {
           R"({"command":"status"})",
           R"({"command":"status","after_revision":7})",
           R"({"command":"join","link":"starling://h:1/?ca=ab","name":"Ada"})",
           R"({"command":"join","link":"starling://h:1/","name":"Ada","password":"secret","email":"a@b.org"})",
           R"({"command":"projects"})",
           R"({"command":"share","project":"Birds","share":0.5})",
           R"({"command":"share","project":"Birds"})",
           R"({"command":"train","project":"Birds"})",
           R"({"command":"allow","project":"Birds"})",
           R"({"command":"leave"})",
           R"({"command":"leave","project":"Birds"})",
           R"({"command":"stop"})",
           R"({"command":"pause"})",
           R"({"command":"pause","reason":"film","for":"1h","after_round":true})",
           R"({"command":"pause","for":"tomorrow","gpu":true})",
           R"({"command":"resume"})",
           R"({"command":"resume","gpu":true})",
           R"({"command":"preferences"})",
           R"({"command":"set_preferences","preset":"gentle","changes":[{"name":"on_battery","value":"yes"}]})",
           R"({"command":"set_preferences","changes":[{"name":"a","value":"1"},{"name":"b","value":"2"}]})",
           R"({"command":"update"})",
           R"({"command":"update","install":true})",
           R"({"command":"log","lines":50})",
           R"({"command":"preview","link":"starling://h:1/"})",
           R"({"command":"history","span":"day"})",
           R"({"command":"peers"})",
           R"({"command":"team","team":"join","name":"Swans"})",
           R"({"command":"team","team":"show"})",
           R"({"command":"leaderboard"})",
           R"({"command":"leaderboard","sort":"recent","search":"ad","page":2})",
           R"({"command":"remote","remote":"enable","listen":"192.0.2.5","port":7447})",
           R"({"command":"authenticate","token":"abc"})",
           R"({"command":"sample","prompt":"Once","length":50,"temperature":0.5})",
       }) {
    const auto request = decode_control_request(line);
    REQUIRE(request.ok());
    CHECK(encode_line(*request) == line + "\n");
  }
}

TEST_CASE("fields that a request leaves out have these values") {
  const auto whole = [](const std::string& line) { return encode_line(*decode_control_request(line)); };
  CHECK(whole(R"({"command":"log"})") == "{\"command\":\"log\",\"lines\":100}\n");
  CHECK(whole(R"({"command":"leaderboard","page":1,"other":[1]})") == "{\"command\":\"leaderboard\"}\n");
  CHECK(whole(R"({"command":"remote","remote":"show"})") ==
        "{\"command\":\"remote\",\"remote\":\"show\",\"listen\":\"127.0.0.1\",\"port\":7447}\n");
  CHECK(whole(R"({"command":"sample"})") ==
        "{\"command\":\"sample\",\"prompt\":\"\",\"length\":200,\"temperature\":0.8}\n");
}

TEST_CASE("replies have these texts") {
  CHECK(encode_line(ControlReply{}) == R"({"ok":true})"
                                       "\n");
  CHECK(encode_line(refusal()) == R"({"ok":false,"code":"not_found","message":"no such project"})"
                                  "\n");
  CHECK(
      encode_line(full_views()) ==
      R"({"ok":true,"preview":{"address":"h:1","fingerprint":"ab","project":"Birds","has_run":true,"run_title":"A)"
      R"( run","run_state":"running","parameters":1000,"data_bytes":2000,"disk_bytes":3000,"bytes_per_round":4000)"
      R"(,"bytes_per_hour":4500,"volunteers":5,"swarm_size":6,"bits_per_byte":1.75},"projects":[{"name":"Birds","display_name":"Ada","a)"
      R"(ddress":"[2001:db8::7]:7700","share":1,"trained_s":12.5,"current":true}],"history":[{"at_ms":17000000000)"
      R"(00,"round":3,"rounds":2,"samples":12,"swarm_samples":40,"loss":1.5,"credit":0.25,"bytes":1048576},{"at_m)"
      R"(s":0,"round":0,"rounds":1,"samples":0,"swarm_samples":0,"loss":0,"credit":0,"bytes":0}],"peers":{"round")"
      R"(:7,"members":2,"list":[{"peer":"0101010101010101010101010101010101010101010101010101010101010101","role")"
      R"(:"full","samples":5,"part":0.5,"relayed":true,"self":true,"upload_bytes_per_s":1000000,"download_bytes_p)"
      R"(er_s":2000000,"round_trip_ms":0.25},{"peer":"00000000000000000000000000000000000000000000000000000000000)"
      R"(00000","role":"","samples":0,"part":0,"relayed":false,"self":false,"upload_bytes_per_s":0,"download_byte)"
      R"(s_per_s":0,"round_trip_ms":0}]},"leaderboard":{"project":"Birds","sort":"recent","volunteers":12,"page":)"
      R"(2,"per_page":50,"pinned":{"rank":3,"name":"Ada","recent_average":0.5,"credit":1.5,"samples":10,)"
      R"("run_credit":0.25,"run_samples":9,"day_credit":0.125,"day_samples":4,"week_credit":0.75,"week_samples":7},)"
      R"("rows":[{"rank":1,"name":"Bo","recent_average":2.5,"credit":3.5,"samples":20,"run_credit":1.25,)"
      R"("run_samples":19,"day_credit":0.5,"day_samples":5,"week_credit":1.5,"week_samples":8},{"rank":0,"name":"",)"
      R"("recent_average":0,"credit":0,"samples":0,"run_credit":0,"run_samples":0,"day_credit":0,"day_samples":0,)"
      R"("week_credit":0,"week_samples":0}]},"remote":{"enabled":true,"address":"192.0.2.5","port":7447,"fingerprint":"ff00)"
      R"(","token":"token","problem":"busy","callers":2},"team":{"name":"Swans","id":3,"founder":"Ada","members":)"
      R"(12,"credit":1.5,"recent_average":0.25,"rank":2},"text":"done"})"
      "\n");
  CHECK(
      encode_line(with_preferences()) ==
      R"({"ok":true,"preferences":{"compute":"always","gpu":"rules","network":"rules","while_in_use":true,"gpu_wh)"
      R"(ile_in_use":false,"idle_minutes":3,"on_battery":false,"battery_min_percent":50,"on_metered":false,"durin)"
      R"(g_fullscreen":false,"exclusive_programs":["game","mail"],"compute_schedule_on":true,"compute_schedule":")"
      R"(always","network_schedule_on":false,"network_schedule":"always","threads_in_use_percent":50,"threads_idl)"
      R"(e_percent":90,"threads_max":3,"memory_in_use_percent":25,"memory_idle_percent":50,"cells_max_gb":null,)"
      R"("gpu_memory_percent":50,"temperature_max_c":null,"disk_max_gb":20,"disk_free_min_gb":5,"upload_max_mbit_s":2.5,"download_max_m)"
      R"(bit_s":null,"data_max_gb_per_month":null,"data_month_first_day":1,"port_mapping":true,"update_check":tru)"
      R"(e,"update_install":true,"relay_max_mbit_s":null}})"
      "\n");
}

TEST_CASE("statuses and pauses have these texts") {
  CHECK(encode_line(with_status({})) ==
        R"({"ok":true,"status":{"revision":0,"version":"","phase":"idle","reason":"","ends_when":"","problems":[],")"
        R"(paused":false,"rules":{"code":"","action":"","action_command":"","ends_at_ms":0,"pause_after_round":fals)"
        R"(e,"threads":0,"memory_bytes":0,"gpu_present":false,"gpu":true,"gpu_reason":"","unknown":[],"month_bytes")"
        R"(:0,"month_averaging_bytes":0,"month_models_bytes":0,"month_coordinator_bytes":0,"month_bytes_max":0,"mon)"
        R"(th_bytes_forecast":0},"project":"","display_name":"","projects":0,"run_id":"","run_title":"","run_state")"
        R"(:"","peer":"0000000000000000000000000000000000000000000000000000000000000000","listen_port":0,"reach":{")"
        R"(reachability":"","address":"","relay":"0000000000000000000000000000000000000000000000000000000000000000")"
        R"(,"relay_problem":"","mapped_port":0,"mapped_by":"","mapping_problem":"","links_relayed":0,"clients":0,"s)"
        R"(treams":0,"bytes":0},"update":{"state":"off","text":"","version":"","notes":"","notes_url":"","required")"
        R"(:"","can_install":false,"checked_ms":0},"coordinator_away":false,"round":0,"state_round":0,"state_digest)"
        R"(":"0000000000000000000000000000000000000000000000000000000000000000","synced":false,"samples_this_round")"
        R"(:0,"target_batch_size":0,"samples_total":0,"samples_credited":0,"credit":0,"samples_per_s":0,"swarm":{"s)"
        R"(ize":0,"samples_per_s":0,"samples_accumulated":0,"plan":""},"loss":0,"validation_bits_per_byte":null,"va)"
        R"(lidation_round":0,"rounds_done":0,"rounds_failed":0,"local_steps":{"mixings":0,"mixings_missed":0,"sprea)"
        R"(d":0},"reports_waiting":0,"network":{"upload_bytes_per_s":0,"download_bytes_per_s":0,"bytes_sent":0,"byt)"
        R"(es_received":0},"computing":{"trainer":"not started","device":null}}})"
        "\n");
  CHECK(
      encode_status(full_status()) ==
      R"({"revision":7,"version":"0.9","phase":"training","reason":"why","ends_when":"when","problems":["a","b",")"
      R"(c","d","e","f","g","h"],"paused":true,"rules":{"code":"battery","action":"plug it in","action_command":")"
      R"(prefs set on_battery yes","ends_at_ms":1800000000000,"pause_after_round":true,"threads":4,"memory_bytes")"
      R"(:1073741824,"gpu_present":true,"gpu":false,"gpu_reason":"somebody is at work","unknown":["idle time","ba)"
      R"(ttery"],"month_bytes":9,"month_averaging_bytes":5,"month_models_bytes":3,"month_coordinator_bytes":1,"mo)"
      R"(nth_bytes_max":100,"month_bytes_forecast":50},"project":"Zürich \"birds\"\\","display_name":"Ada","proje)"
      R"(cts":2,"run_id":"run","run_title":"A run","run_state":"running","peer":"03030303030303030303030303030303)"
      R"(03030303030303030303030303030303","listen_port":4000,"reach":{"reachability":"blocked","address":"192.0.)"
      R"(2.7","relay":"0505050505050505050505050505050505050505050505050505050505050505","relay_problem":"busy",")"
      R"(mapped_port":4001,"mapped_by":"UPnP","mapping_problem":"no router","links_relayed":1,"clients":2,"stream)"
      R"(s":3,"bytes":7000000},"update":{"state":"available","text":"1.2 is out","version":"1.2","notes":"Faster.)"
      R"(","notes_url":"https://example.org/","required":"1.1","can_install":true,"checked_ms":17},"coordinator_a)"
      R"(way":true,"round":12,"state_round":11,"state_digest":"04040404040404040404040404040404040404040404040404)"
      R"(04040404040404","synced":true,"samples_this_round":8,"target_batch_size":96,"samples_total":1000,"sample)"
      R"(s_credited":900,"credit":0.125,"samples_per_s":2.5,"swarm":{"size":10,"samples_per_s":25,"samples_accumu)"
      R"(lated":40,"plan":"all lines"},"loss":1.5,"validation_bits_per_byte":2.25,"validation_accuracy":0.5,"vali)"
      R"(dation_round":10,"rounds_done":9,"rounds_failed":1,"local_steps":{"mixings":6,"mixings_missed":2,"spread)"
      R"(":0.01},"reports_waiting":3,"network":{"upload_bytes_per_s":1000000,"download_bytes_per_s":2000000,"byte)"
      R"(s_sent":1000000000000,"bytes_received":12},"computing":{"trainer":"running","device":{"kind":"cuda","count":2)"
      R"(,"name":"NVIDIA A40","memory_bytes":48000000000,"memory_max_bytes":24000000000,"backend":"LibTorch 2.6.0 )"
      R"(with CUDA 12.4","precision":"bf16","card_unused":"none"}},"checked":{"times":41,"missed":1,"pending":96,"ver)"
      R"(dict":"look at the memory"},"cells":{"all":4,"held":[{"cell":1,"layer":0,"first_expert":2,"units":[7,8]})"
      R"(],"calls_answered":9,"trunk_here":false}})"
      "\n");
  CHECK(encode(PauseRequest{}) == R"({"pause":"none","until_ms":0,"reason":"","gpu_pause":false,"gpu_until_ms":0})");
  CHECK(encode(PauseRequest{PauseKind::after_round, {5}, "film \"night\"", true, {6}}) ==
        R"({"pause":"after_round","until_ms":5,"reason":"film \"night\"","gpu_pause":true,"gpu_until_ms":6})");
}

TEST_CASE("a reply that was read is written like it was") {
  for (const ControlReply& reply :
       {ControlReply{}, refusal(), full_views(), with_preferences(), with_status({}), with_status(full_status())}) {
    CHECK(again(encode_line(reply)) == encode_line(reply));
  }
  const std::string wish = encode(PauseRequest{PauseKind::after_round, {5}, "film", true, {6}});
  CHECK(encode(*decode_pause_request(wish)) == wish);
}

TEST_CASE("every field of every reply and request survives the trip") {
  const std::string reply = encode_line(testing::filled<ControlReply>());
  CHECK(again(reply) == reply);
  const PauseRequest wish = testing::filled<PauseRequest>();
  CHECK(decode_pause_request(encode(wish)).value() == wish);
  const auto each = [](auto command) {
    testing::FieldFiller filler;
    each_field(filler, command);
    const std::string line = encode_line(ControlRequest(command));
    const auto request = decode_control_request(line);
    REQUIRE_MESSAGE(request.ok(), line);
    CHECK(encode_line(*request) == line);
  };
  [&]<typename... Commands>(const std::variant<Commands...>*) {
    (each(Commands()), ...);
  }(static_cast<const ControlRequest*>(nullptr));
}

TEST_CASE("replies of older daemons are read") {
  std::string line = encode_line(full_views());
  const auto without = [&line](const std::string& part) {
    const std::size_t at = line.find(part);
    REQUIRE(at != std::string::npos);
    line.erase(at, part.size());
  };
  without(R"(,"upload_bytes_per_s":1000000,"download_bytes_per_s":2000000,"round_trip_ms":0.25)");
  without(R"("token":"token",)");
  const auto views = decode_control_reply(line);
  REQUIRE(views.ok());
  CHECK(views->peers->peers.front().round_trip_ms == 0);
  CHECK(views->remote->token.empty());
  line = encode_line(with_status(full_status()));
  without(R"(,"month_averaging_bytes":5,"month_models_bytes":3,"month_coordinator_bytes":1)");
  without(R"("projects":2,)");
  without(R"(,"plan":"all lines")");
  without(R"("local_steps":{"mixings":6,"mixings_missed":2,"spread":0.01},)");
  without(R"("validation_accuracy":0.5,)");
  CHECK(decode_control_reply(line).ok());
}

}  // namespace starling::wire
