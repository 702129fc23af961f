#include "shared/protocol/checkpoint.h"
#include "shared/protocol/compute_device.h"
#include "shared/protocol/error_reply.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/protocol/join.h"
#include "shared/protocol/limits.h"
#include "shared/protocol/round_report.h"
#include "shared/protocol/states.h"
#include "shared/protocol/team.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <string>

#include "tests/shared/protocol/full_messages.h"

namespace starling::wire {
namespace {

// The report of a program that knows neither draws, grids nor complaints.
RoundReport older_report(RoundIndex round) {
  RoundReport report = full_report();
  report.round = round;
  report.contributions[0].draw = 0;
  report.grid.reset();
  report.complaints.clear();
  return report;
}

// The heartbeat of a program that knows neither draws nor relays nor devices.
Heartbeat older_heartbeat() {
  Heartbeat beat = full_heartbeat();
  beat.relaying.posted_at = {};
  beat.relaying.bytes_per_s = 0;
  beat.process = 0;
  beat.next_draw = 0;
  beat.computing = {};
  beat.reports = {older_report(15), older_report(16)};
  return beat;
}

// `json` with the first `from` replaced.
std::string with(std::string json, const std::string& from, const std::string& to) {
  const std::size_t at = json.find(from);
  REQUIRE(at != std::string::npos);
  return json.replace(at, from.size(), to);
}

void refused(const std::string& json, const std::string& naming, ErrorCode code = ErrorCode::invalid_argument) {
  const auto beat = decode_heartbeat(json);
  REQUIRE_FALSE(beat.ok());
  CHECK(beat.error().code == code);
  CHECK_MESSAGE(beat.error().message.find(naming) != std::string::npos, beat.error().message);
}

}  // namespace

TEST_CASE("a round report alone survives the way to disk and back") {
  const RoundReport report = older_report(15);
  const auto read = decode_round_report(encode(report));
  REQUIRE(read.ok());
  CHECK(encode(*read) == encode(report));
  CHECK(read->round == 15);
  CHECK(read->contributions.at(0).samples == 40);
  CHECK_FALSE(read->grid);
  CHECK_FALSE(decode_round_report("{}").ok());
}

TEST_CASE("leases and draws travel, and older programs know nothing of them") {
  Heartbeat beat = older_heartbeat();
  CHECK(encode(beat).find("draw") == std::string::npos);
  beat.process = 77;
  beat.next_draw = 41;
  beat.reports[0].contributions[0].draw = 9;
  const auto heard = decode_heartbeat(encode(beat));
  REQUIRE(heard.ok());
  CHECK(heard->process == 77);
  CHECK(heard->next_draw == 41);
  CHECK(heard->reports[0].contributions[0].draw == 9);
  HeartbeatReply reply = full_reply();
  reply.leases.clear();
  CHECK(encode(reply).find("leases") == std::string::npos);
  reply.leases = {{1, 2, 300, 16, 20}, {17, 3, 0, 8, 21}};
  const auto told = decode_heartbeat_reply(encode(reply));
  REQUIRE(told.ok());
  CHECK(told->leases == reply.leases);
  reply.leases[0].count = 0;
  CHECK_FALSE(decode_heartbeat_reply(encode(reply)).ok());
}

TEST_CASE("what a computer's times vary by, and how far it is from others, are not told before they are known") {
  Heartbeat beat = older_heartbeat();
  beat.batch_jitter = beat.round_trip_s = 0;
  CHECK(encode(beat).find("jitter") == std::string::npos);
  CHECK(encode(beat).find("round_trip") == std::string::npos);
  const auto older = decode_heartbeat(encode(beat));
  REQUIRE(older.ok());
  CHECK(older->batch_jitter == 0);
  CHECK(older->round_trip_s == 0);
  beat.batch_jitter = 2 * kJitterMax;
  refused(encode(beat), "batch_jitter");
}

TEST_CASE("a member's room is told where it has a limit, and no head has one that its column has") {
  HeartbeatReply reply = full_reply();
  CHECK(encode(reply).find("weight_max") == std::string::npos);
  reply.group->members[0].weight_max = 123;
  const auto told = decode_heartbeat_reply(encode(reply));
  REQUIRE(told.ok());
  CHECK(told->group->members[0].weight_max == 123);
  CHECK(told->group->members[1].weight_max == 0);
  for (const GroupMember& member : spread_group(*told->group).members) CHECK(member.weight_max == 0);
}

TEST_CASE("troubles travel, with proofs whose seals are those that were signed") {
  Heartbeat beat = older_heartbeat();
  CHECK(encode(beat).find("troubles") == std::string::npos);
  OwnerProof proof;
  proof.one = {id<GroupId>(3), id<Hash128>(4), 5, id<Hash128>(6), {id<PeerId>(7).bytes, {}}};
  proof.other = proof.one;
  proof.other.part_digest = id<Hash128>(8);
  proof.one.signature.signature.bytes[63] = 1;
  proof.other.signature.signature.bytes[0] = 2;
  beat.trust.troubles = {{15, id<GroupId>(3), {{id<PeerId>(2), Fault::slow}}, {sealed_twice(id<PeerId>(9), proof)}}};
  const auto heard = decode_heartbeat(encode(beat));
  REQUIRE(heard.ok());
  REQUIRE(heard->trust.troubles.size() == 1);
  CHECK(heard->trust.troubles[0].complaints.size() == 1);
  CHECK(heard->trust.troubles[0].proofs[0].owner == id<PeerId>(9));
  const OwnerProof back = seals_of(heard->trust.troubles[0].proofs[0], heard->trust.troubles[0].group);
  CHECK(encode(back.one) == encode(proof.one));
  CHECK(encode(back.other) == encode(proof.other));
  CHECK(check_proof(back).ok());
  beat.trust.troubles[0].proofs[0].group = id<GroupId>(11);  // in a grid
  CHECK(seals_of(decode_heartbeat(encode(beat))->trust.troubles[0].proofs[0], id<GroupId>(3)).one.group ==
        id<GroupId>(11));
  beat.trust.troubles.resize(kTroublesPerHeartbeatMax + 1);
  refused(encode(beat), "troubles");
}

TEST_CASE("complaints travel with a report, and older programs make none") {
  RoundReport report = older_report(15);
  CHECK(encode(report).find("complaints") == std::string::npos);
  report.complaints = {{id<PeerId>(2), Fault::nonsense}, {id<PeerId>(1), Fault::slow}};
  const auto read = decode_round_report(encode(report));
  REQUIRE(read.ok());
  REQUIRE(read->complaints.size() == 2);
  CHECK(read->complaints[0].peer == id<PeerId>(2));
  CHECK(read->complaints[0].fault == Fault::nonsense);
  CHECK(read->complaints[1].fault == Fault::slow);
  CHECK_FALSE(decode_round_report(with(encode(report), "\"nonsense\"", "\"ugly\"")).ok());
  report.complaints.assign(kComplaintsMax + 1, {id<PeerId>(2), Fault::gone});
  CHECK_FALSE(decode_round_report(encode(report)).ok());
}

TEST_CASE("rates at which data came in travel with a report, sixteen at most, and older programs tell none") {
  RoundReport report = older_report(15);
  const std::string without = encode(report);
  CHECK(without.find("\"received\"") == std::string::npos);
  report.received = {{1, 2.5e6}, {0, 1e5}};
  const auto read = decode_round_report(encode(report));
  REQUIRE(read.ok());
  REQUIRE(read->received.size() == 2);
  CHECK(read->received[0].member == 1);
  CHECK(read->received[0].bytes_per_s == 2.5e6);
  report.received.assign(kReceivedMax, {500, 123'456'789});
  CHECK(decode_round_report(encode(report)).ok());
  CHECK(encode(report).size() < without.size() + 700);
  report.received.resize(kReceivedMax + 1);
  CHECK_FALSE(decode_round_report(encode(report)).ok());
  report.received = {{-1, 1e5}};
  CHECK_FALSE(decode_round_report(encode(report)).ok());
  report.received = {{1, -1e5}};
  CHECK_FALSE(decode_round_report(encode(report)).ok());
}

TEST_CASE("a column's place in a grid, and what it reports, arrive as they were sent") {
  RoundReport report = older_report(15);
  report.grid = GridShare{2, {40, 0, 48}};
  const auto read = decode_round_report(encode(report));
  REQUIRE_MESSAGE(read.ok(), read.status().error().message);
  REQUIRE(read->grid);
  CHECK(read->grid->column == 2);
  CHECK(read->grid->accepted == report.grid->accepted);

  HeartbeatReply reply;
  GroupInfo& column = reply.group.emplace();
  column.run_id = "tiny-gpt";
  column.members.resize(2);
  GridPlan& grid = column.grid.emplace();
  grid.id = id<GroupId>(4);
  grid.column = 1;
  grid.columns = 3;
  grid.heads_id = id<GroupId>(5);
  grid.heads_within_ms = 700;
  grid.heads.push_back({{{id<PeerId>(6), "192.0.2.1", 4000}, 100}, 2});
  grid.spread_id = id<GroupId>(7);
  grid.spread_within_ms = 900;
  grid.spread = {{60, true}, {40, false}};
  const auto got = decode_heartbeat_reply(encode(reply));
  REQUIRE_MESSAGE(got.ok(), got.status().error().message);
  REQUIRE((got->group && got->group->grid));
  CHECK(encode(*got) == encode(reply));
  CHECK(got->group->grid->heads.at(0).column == 2);
  CHECK(got->group->grid->heads.at(0).member.part_floats == 100);
  CHECK(got->group->grid->spread.at(0).head);
  CHECK(got->group->grid->spread_id == grid.spread_id);
}

TEST_CASE("a heartbeat arrives as it was sent") {
  const Heartbeat sent = older_heartbeat();
  const auto got = decode_heartbeat(encode(sent));
  REQUIRE_MESSAGE(got.ok(), got.status().error().message);
  CHECK(got->run_id == sent.run_id);
  CHECK(got->phase == sent.phase);
  CHECK(got->state_round == 17);
  CHECK(got->state_digest == sent.state_digest);
  CHECK(got->samples_this_round == 48);
  CHECK(got->samples_per_s == sent.samples_per_s);
  CHECK(got->batch_seconds == sent.batch_seconds);
  CHECK(got->batch_jitter == 0.25);
  CHECK(got->round_trip_s == 0.04);
  CHECK(got->listen_port == 4000);
  REQUIRE(got->reports.size() == 2);
  const RoundReport& report = got->reports[1];
  CHECK(report.round == 16);
  CHECK(report.group == sent.reports[1].group);
  CHECK(report.members == sent.reports[1].members);
  REQUIRE(report.contributions.size() == 2);
  CHECK(report.contributions[0].peer == id<PeerId>(1));
  CHECK(report.contributions[0].samples == 40);
  CHECK(report.result_digest == sent.reports[1].result_digest);
  CHECK(report.state_digest == sent.reports[1].state_digest);
  CHECK(report.loss == 1.25);
  CHECK(report.bytes_received == 1 << 21);
  REQUIRE(got->evaluation);
  CHECK(got->evaluation->bits_per_byte == 2.125);
  CHECK(got->evaluation->accuracy == 0.375);
  CHECK(encode(*got) == encode(sent));
}

TEST_CASE("a reply arrives as it was sent") {
  const HeartbeatReply sent = full_reply();
  const auto got = decode_heartbeat_reply(encode(sent));
  REQUIRE_MESSAGE(got.ok(), got.status().error().message);
  REQUIRE(got->group);
  CHECK(got->group->id == sent.group->id);
  CHECK(got->group->state_digest == sent.group->state_digest);
  REQUIRE(got->group->members.size() == 3);
  CHECK(got->group->members[1].part_floats == 400);
  CHECK(got->group->members[0].codec == "int4");
  CHECK(got->group->members[1].codec.empty());
  CHECK(got->group->members[0].role == MemberRole::full);
  CHECK(got->group->members[1].role == MemberRole::client_only);
  CHECK(got->group->reason == sent.group->reason);
  CHECK(got->group->members[1].endpoint.port == 0);
  REQUIRE(got->kept.checkpoint.has_value());
  CHECK(got->kept.checkpoint->round == 40);
  CHECK(got->kept.checkpoint->state_digest == id<Digest>(8));
  CHECK(got->kept.checkpoint->file.sha256 == id<Digest>(9));
  CHECK(got->kept.checkpoint->file.bytes == 1'000'000);
  CHECK(got->send_checkpoint);
  REQUIRE(got->donors.size() == 1);
  CHECK(got->donors[0].host == "2001:db8::1");
  CHECK(got->evaluate_round == 19);
  CHECK(got->notice == sent.notice);
  CHECK(encode(*got) == encode(sent));
  CHECK_FALSE(decode_heartbeat_reply(encode(HeartbeatReply{}))->group);
}

TEST_CASE("why a trainer fails arrives as it was sent, within its limit, and programs whose do not say nothing of it") {
  Heartbeat beat = older_heartbeat();
  CHECK(encode(beat).find("trainer_failure") == std::string::npos);
  CHECK(decode_heartbeat(encode(beat))->computing.failure.empty());
  beat.computing.failure = "it has no tensor 'labels'";
  CHECK(decode_heartbeat(encode(beat))->computing.failure == beat.computing.failure);
  beat.computing.failure = "a\n\x1b[2Jb\x7f";
  CHECK(decode_heartbeat(encode(beat))->computing.failure == "a ?[2Jb?");
  beat.computing.failure.assign(kTrainerFailureBytesMax + 1, 'x');
  refused(encode(beat), "trainer_failure");
}

TEST_CASE("what a trainer computes on arrives plain, within its limits, and may be missing or of a kind to come") {
  Heartbeat beat = older_heartbeat();
  CHECK(encode(beat).find("\"device\"") == std::string::npos);
  CHECK_FALSE(decode_heartbeat(encode(beat))->computing.device);
  beat.computing.device = ComputeDevice{.kind = "cpu"};
  CHECK(encode(beat).find(R"("device":{"kind":"cpu"})") != std::string::npos);
  CHECK(decode_heartbeat(encode(beat))->computing.device == beat.computing.device);
  beat.computing.device = ComputeDevice{.kind = "tpu", .count = 8, .name = "a\x1b[2J", .precision = "fp8"};
  const auto got = decode_heartbeat(encode(beat));
  REQUIRE(got.ok());
  CHECK(got->computing.device->kind == "tpu");
  CHECK(got->computing.device->name == "a?[2J");
  beat.computing.device->name.assign(kDeviceNameBytesMax + 1, 'x');
  refused(encode(beat), "name");
  beat.computing.device->name = "x";
  beat.computing.device->count = 0;
  refused(encode(beat), "count");
}

TEST_CASE("a device of any trainer fits into a message") {
  ComputeDevice device{.kind = "cuda\n",
                       .count = -3,
                       .name = "\u202e" + std::string(kDeviceNameBytesMax - 1, 'x') + "é",
                       .memory_bytes = INT64_MAX,
                       .memory_max_bytes = -1,
                       .card_unused = std::string(5000, '\n')};
  device = within_bounds(device);
  CHECK(device.kind == "cuda ");
  CHECK(device.name == std::string(kDeviceNameBytesMax - 1, 'x'));
  Heartbeat beat = older_heartbeat();
  beat.computing.device = device;
  const auto got = decode_heartbeat(encode(beat));
  REQUIRE(got.ok());
  CHECK(got->computing.device == device);
}

TEST_CASE("a device in words has what is known of it, and nothing else") {
  CHECK(to_text(ComputeDevice{.kind = "cpu"}) == "a processor without a name");
  CHECK(to_text(ComputeDevice{.kind = "tpu"}) == "a device without a name (tpu)");
  CHECK(to_text(ComputeDevice{.kind = "cpu", .name = "Z80", .memory_bytes = 64'000'000'000}) == "Z80, 64.0 GB memory");
  CHECK(to_text(ComputeDevice{.kind = "cpu", .name = "Z80", .memory_max_bytes = 2'000'000'000}) ==
        "Z80, at most 2.0 GB memory");
  CHECK(to_text(*full_heartbeat().computing.device) ==
        "2 × NVIDIA A40, at most 24.0 of 48.0 GB memory each, bf16, LibTorch 2.6.0 with CUDA 12.4");
}

TEST_CASE("how a member is reached arrives as it was sent, and older programs say nothing of it") {
  Heartbeat beat = older_heartbeat();
  CHECK(decode_heartbeat(encode(beat))->relaying.posted_at.is_zero());
  CHECK(encode(beat).find("relay") == std::string::npos);
  beat.relaying.posted_at = id<PeerId>(9);
  beat.relaying.bytes_per_s = 2.5e6;
  CHECK(decode_heartbeat(encode(beat))->relaying.posted_at == beat.relaying.posted_at);
  CHECK(decode_heartbeat(encode(beat))->relaying.bytes_per_s == 2.5e6);
  refused(with(encode(beat), "\"relay_bytes_per_s\":2500000", "\"relay_bytes_per_s\":-1"), "'relay_bytes_per_s'");

  HeartbeatReply reply = full_reply();
  reply.group->members[0].endpoint.relay = {};
  reply.group->members[1].endpoint = {id<PeerId>(2), "203.0.113.5", 8444, id<PeerId>(9)};
  reply.seen.reachability = Reachability::blocked;
  reply.seen.address = "192.0.2.7";
  reply.relaying.at = Endpoint{id<PeerId>(3), "203.0.113.5", 8444, id<PeerId>(9)};
  reply.relaying.clients.assign(kRelayClientsMax, id<PeerId>(4));
  reply.relaying.bytes_per_round = 1 << 20;
  const auto got = decode_heartbeat_reply(encode(reply));
  REQUIRE_MESSAGE(got.ok(), got.status().error().message);
  CHECK(got->group->members[0].endpoint.relay.is_zero());
  CHECK(got->group->members[1].endpoint.relay == id<PeerId>(9));
  CHECK(got->seen.reachability == Reachability::blocked);
  CHECK(got->relaying.at->relay == id<PeerId>(9));
  CHECK(got->relaying.clients == reply.relaying.clients);
  CHECK(encode(*got) == encode(reply));
  reply.relaying.clients.push_back(id<PeerId>(4));
  CHECK_FALSE(decode_heartbeat_reply(encode(reply)).ok());
}

TEST_CASE("a reply names newcomers and revoked computers, and an older one names neither") {
  HeartbeatReply reply = full_reply();
  reply.named.newcomers = std::vector<PeerId>(kNewcomersMax, id<PeerId>(4));
  reply.named.revoked.assign(kRevokedMax, id<PeerId>(5));
  const auto got = decode_heartbeat_reply(encode(reply));
  REQUIRE_MESSAGE(got.ok(), got.status().error().message);
  CHECK(got->named.newcomers == reply.named.newcomers);
  CHECK(got->named.revoked == reply.named.revoked);
  reply.named.newcomers->clear();
  CHECK(decode_heartbeat_reply(encode(reply))->named.newcomers == std::vector<PeerId>());  // named nobody
  reply.named.newcomers.reset();
  reply.named.revoked.clear();
  const auto older = decode_heartbeat_reply(encode(reply));
  REQUIRE(older.ok());
  CHECK_FALSE(older->named.newcomers.has_value());
  CHECK(older->named.revoked.empty());
  reply.named.newcomers = std::vector<PeerId>(kNewcomersMax + 1, id<PeerId>(4));
  CHECK_FALSE(decode_heartbeat_reply(encode(reply)).ok());
  reply.named.newcomers.reset();
  reply.named.revoked.assign(kRevokedMax + 1, id<PeerId>(5));
  CHECK_FALSE(decode_heartbeat_reply(encode(reply)).ok());
}

TEST_CASE("the other messages arrive as they were sent") {
  const JoinRequest join{1, "0.1.0", "abc", "Zoë", "-----BEGIN\nEND-----\n"};
  CHECK(encode(*decode_join_request(encode(join))) == encode(join));
  CHECK(decode_join_request(encode(join))->display_name == "Zoë");
  const JoinReply joined{7, id<PeerId>(1), "Project", "PEM", "00ff", 1'700'000'000'000};
  CHECK(encode(*decode_join_reply(encode(joined))) == encode(joined));
  CHECK(decode_join_reply(encode(joined))->account_id == 7);
  CHECK(decode_renew_request(encode(RenewRequest{"PEM"}))->csr_pem == "PEM");
  CHECK(decode_renew_request(encode(RenewRequest{"PEM", "secret"}))->device_token == "secret");
  CHECK(decode_renew_reply(encode(RenewReply{"PEM", 5}))->server_unix_ms == 5);
  CHECK(decode_error_reply(encode(ErrorReply{"not_found", "no such run"}))->message == "no such run");
}

TEST_CASE("what others say arrives plain, and what is signed, secret or data as it was sent") {
  const std::string said = "a\x1b[2J\u009b31m\u202eb\nc";
  HeartbeatReply reply = full_reply();
  reply.notice = said;
  CHECK(decode_heartbeat_reply(encode(reply))->notice == "a?[2J?31mb\nc");
  CHECK(decode_error_reply(encode(ErrorReply{"internal", said}))->message == "a?[2J?31mb c");
  TeamReply team;
  team.name = said;
  CHECK(decode_team_reply(encode(team))->name == "a?[2J?31mb c");
  JoinReply joined;
  joined.project_name = said;
  CHECK(decode_join_reply(encode(joined))->project_name == "a?[2J?31mb c");
  JoinRequest join;
  join.csr_pem = "BEGIN\nEND\n";
  join.password = said;
  CHECK(decode_join_request(encode(join))->csr_pem == join.csr_pem);
  CHECK(decode_join_request(encode(join))->password == said);
}

TEST_CASE("a field that is missing or of the wrong type is named") {
  const std::string good = encode(older_heartbeat());
  refused(with(good, "\"state_round\"", "\"state_rounds\""), "'state_round': is missing");
  refused(with(good, "\"samples_this_round\":48", "\"samples_this_round\":\"48\""), "'samples_this_round'");
  refused(with(good, "\"samples_this_round\":48", "\"samples_this_round\":48.5"), "'samples_this_round'");
  refused(with(good, "\"phase\":\"averaging\"", "\"phase\":\"sleeping\""), "'phase'");
  refused(with(good, "\"reports\":[", "\"reports\":[7,"), "'reports[0].round'");
  refused(with(good, "\"run_id\":\"fortunes\"", "\"run_id\":null"), "'run_id'");
  refused(with(good, "\"round\":15", "\"round\":{}"), "'reports[0].round'");
  CHECK_FALSE(decode_heartbeat("[]").ok());
  CHECK_FALSE(decode_heartbeat("").ok());
}

TEST_CASE("numbers out of range are refused") {
  const std::string good = encode(older_heartbeat());
  refused(with(good, "\"samples\":40", "\"samples\":-40"), "'reports[0].contributions[0].samples'");
  refused(with(good, "\"samples_this_round\":48", "\"samples_this_round\":-1"), "'samples_this_round'");
  refused(with(good, "\"samples_this_round\":48", "\"samples_this_round\":18446744073709551615"), "samples_this_round");
  refused(with(good, "\"samples_per_s\":12.5", "\"samples_per_s\":-0.5"), "'samples_per_s'");
  refused(with(good, "\"listen_port\":4000", "\"listen_port\":65536"), "'listen_port'");
  refused(with(good, "\"loss\":1.25", "\"loss\":NaN"), "not JSON", ErrorCode::corrupt);
  refused(with(good, "\"loss\":1.25", "\"loss\":1e999"), "not JSON", ErrorCode::corrupt);
  refused(with(good, "\"loss\":1.25", "\"loss\":null"), "'reports[0].loss'");
}

TEST_CASE("a loss that is not finite never leaves as a number") {
  Heartbeat beat = older_heartbeat();
  beat.reports[0].loss = std::numeric_limits<double>::quiet_NaN();
  refused(encode(beat), "'reports[0].loss'");
}

TEST_CASE("lists and texts beyond their limits are refused") {
  const std::string good = encode(older_heartbeat());
  std::string many = "\"reports\":[";
  for (std::size_t i = 0; i <= kReportsPerHeartbeatMax; ++i) many += "{},";
  refused(with(good, "\"reports\":[", many), "'reports'");
  refused(with(good, "fortunes", std::string(200, 'x')), "'run_id'");
  refused(std::string(kJsonBytesMax + 1, ' '), "at most", ErrorCode::resource_exhausted);
  refused(with(good, id<Digest>(7).hex(), "07"), "'state_digest'");
}

TEST_CASE("reports that do not fit in one heartbeat wait for the next") {
  Heartbeat beat = older_heartbeat();
  beat.reports.clear();
  for (RoundIndex round = 0; round < 40; ++round) beat.reports.push_back(older_report(round));
  CHECK(decode_heartbeat(encode(beat))->reports.size() == kReportsPerHeartbeatMax);
  for (RoundReport& report : beat.reports) report.members.assign(500, id<PeerId>(1));
  const std::string json = encode(beat);
  CHECK(json.size() <= kJsonBytesMax);
  const auto got = decode_heartbeat(json);
  REQUIRE(got.ok());
  REQUIRE(got->reports.size() == 3);
  CHECK(got->reports[0].round == 0);
}

TEST_CASE("audits make the report of a round with 16 members at most 8 KB longer") {
  constexpr std::size_t kMembers = 16;
  Heartbeat beat = full_heartbeat();
  beat.reports.resize(1);
  beat.reports[0].own.reset();
  beat.reports[0].measured.reset();
  beat.trust.audits = {};
  const std::size_t without = encode(beat).size();
  std::mt19937 random(1);
  const auto sketches = [&](std::size_t floats) {
    std::vector<float> values(floats);
    for (float& value : values) value = std::normal_distribution<float>(0, 1e-3F)(random);
    return values;
  };
  MeasuredParts measured;
  measured.seed = id<Hash128>(9);
  for (std::size_t rank = 1; rank < kMembers; ++rank) measured.members.push_back(static_cast<std::int64_t>(rank));
  measured.sketches = sketches((kMembers - 1) * kSketchFloats);
  beat.reports[0].measured = std::move(measured);
  beat.reports[0].own = OwnTerms{1024, 1024};
  const std::size_t with_report = encode(beat).size();
  const std::size_t parts = kMembers * kShortSketchFloats;
  beat.trust.audits.own = OwnSketches{7, sketches(parts), sketches(kSketchFloats), sketches(parts)};
  const std::size_t with_all = encode(beat).size();
  MESSAGE("the report grows by " << with_report - without << " bytes, all that is told of a round by "
                                 << with_all - without);
  CHECK(with_report - without <= 8 * 1024);
  CHECK(with_all - without <= 9 * 1024);
}

TEST_CASE("fields of a newer version are ignored") {
  const std::string json = with(encode(older_heartbeat()), "{\"protocol\"", "{\"later\":[{}],\"protocol\"");
  CHECK(decode_heartbeat(json).ok());
}

TEST_CASE("damaged bytes are refused without harm") {
  const std::string heartbeat = encode(full_heartbeat());
  const std::string reply = encode(full_reply());
  std::mt19937 random(20240611);
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = i % 2 == 0 ? heartbeat : reply;
    const std::size_t edits = 1 + random() % 4;
    for (std::size_t e = 0; e < edits; ++e) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    const auto beat = decode_heartbeat(bytes);
    if (beat.ok()) {
      ++accepted;
      CHECK(decode_heartbeat(encode(*beat)).ok());
    }
    (void)decode_heartbeat_reply(bytes).ok();
    (void)decode_join_request(bytes).ok();
  }
  CHECK(accepted < 4000);
  CHECK_FALSE(decode_heartbeat(std::string(100'000, '[')).ok());
  std::string deep = "{\"protocol\":";
  for (int i = 0; i < 50'000; ++i) deep += "[";
  for (int i = 0; i < 50'000; ++i) deep += "]";
  CHECK_FALSE(decode_heartbeat(deep + "}").ok());
}

}  // namespace starling::wire
