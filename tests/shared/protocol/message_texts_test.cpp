// The exact JSON text of every message: programs of other versions read and write it, and releases are signed over it.
#include <doctest/doctest.h>

#include <string>

#include "shared/protocol/message_fields.h"
#include "tests/shared/protocol/full_messages.h"
#include "tests/support/field_filler.h"

namespace starling::wire {
namespace {

ReleaseFeed full_feed() {
  ReleaseFeed feed;
  feed.serial = 4;
  feed.issued = {1'700'000'000'000};
  feed.valid_until = {1'800'000'000'000};
  feed.version = "1.2.0";
  feed.notes = "Faster.";
  feed.notes_url = "https://example.org/news";
  feed.files = {{"linux-x86_64", "starling-1.2.0-linux-x86_64.tar.gz", 1000, 3000, id<Digest>(7)}};
  return feed;
}

// The text of the message when it was decoded from `text` and encoded again.
template <typename Message>
std::string again(Result<Message> (*decode)(std::string_view), const std::string& text) {
  const Result<Message> message = decode(text);
  if (!message.ok()) return message.error().message;
  if constexpr (std::is_same_v<Message, ReleaseFeed>) {
    return encode_feed(*message);
  } else {
    return encode(*message);
  }
}

}  // namespace

TEST_CASE("messages about accounts and certificates have these texts") {
  CHECK(encode(ErrorReply{"not_found", "no \"run\""}) == R"({"code":"not_found","error":"no \"run\""})");
  CHECK(encode(JoinRequest{kProtocolVersion, "0.1", "tok", "Ada", "-----BEGIN"}) ==
        R"({"protocol":2,"client_version":"0.1","invite":"tok","display_name":"Ada","csr_pem":"-----BEGIN"})");
  CHECK(
      encode(JoinRequest{kProtocolVersion, "0.1", "", "Ada", "-----BEGIN\n", "secret", "ada@example.org", "device"}) ==
      R"({"protocol":2,"client_version":"0.1","invite":"","display_name":"Ada","csr_pem":"-----BEGIN\n","password)"
      R"(":"secret","email":"ada@example.org","device_token":"device"})");
  CHECK(encode(JoinReply{7, id<PeerId>(1), "Fortunes", "cert", "key", 1'700'000'000'000}) ==
        R"({"account_id":7,"peer_id":"0101010101010101010101010101010101010101010101010101010101010101","project_na)"
        R"(me":"Fortunes","certificate_pem":"cert","manifest_public_key":"key","server_unix_ms":1700000000000})");
  CHECK(encode(JoinReply{7, id<PeerId>(1), "Fortunes", "cert", "key", 5, "Ada 2"}) ==
        R"({"account_id":7,"peer_id":"0101010101010101010101010101010101010101010101010101010101010101","project_na)"
        R"(me":"Fortunes","certificate_pem":"cert","manifest_public_key":"key","server_unix_ms":5,"display_name":"A)"
        R"(da 2"})");
  CHECK(encode(RenewRequest{"-----BEGIN"}) == R"({"csr_pem":"-----BEGIN"})");
  CHECK(encode(RenewRequest{"-----BEGIN", "device"}) == R"({"csr_pem":"-----BEGIN","device_token":"device"})");
  CHECK(encode(RenewReply{"cert", 5}) == R"({"certificate_pem":"cert","server_unix_ms":5})");
  CHECK(encode(TeamRequest{"join", "Swans"}) == R"({"action":"join","name":"Swans"})");
  CHECK(encode(TeamRequest{"show"}) == R"({"action":"show","name":""})");
  CHECK(encode(TeamReply{"Swans", 3, "Ada", 12, 1.5, 0.25, 2}) ==
        R"({"name":"Swans","id":3,"founder":"Ada","members":12,"credit":1.5,"recent_average":0.25,"rank":2})");
  CHECK(encode(TeamReply{}) == R"({"name":"","id":0,"founder":"","members":0,"credit":0,"recent_average":0,"rank":0})");
}

TEST_CASE("messages about rounds have these texts") {
  CHECK(encode(RoundReport{}) ==
        R"({"round":0,"group":"00000000000000000000000000000000","autonomous":false,"members":[],"contributions":[])"
        R"(,"result_digest":"00000000000000000000000000000000","state_digest":"000000000000000000000000000000000000)"
        R"(0000000000000000000000000000","loss":0,"averaging_ms":0,"bytes_sent":0,"bytes_received":0})");
  CHECK(encode(full_report()) ==
        R"({"round":16,"group":"03030303030303030303030303030303","autonomous":true,"members":["010101010101010)"
        R"(1010101010101010101010101010101010101010101010101","020202020202020202020202020202020202020202020202)"
        R"(0202020202020202"],"contributions":[{"peer":"0101010101010101010101010101010101010101010101010101010)"
        R"(101010101","samples":40,"draw":7},{"peer":"020202020202020202020202020202020202020202020202020202020)"
        R"(2020202","samples":0}],"grid":{"column":2,"accepted":[40,0,8]},"base_digest":"0707070707070707070707)"
        R"(070707070707070707070707070707070707070707","result_digest":"09090909090909090909090909090909","stat)"
        R"(e_digest":"0808080808080808080808080808080808080808080808080808080808080808","loss":1.25,"averaging_)"
        R"(ms":120,"bytes_sent":1048576,"bytes_received":2097152,"complaints":[{"peer":"02020202020202020202020)"
        R"(20202020202020202020202020202020202020202","fault":"slow"},{"peer":"01010101010101010101010101010101)"
        R"(01010101010101010101010101010101","fault":"absent"}],"signed_by":{"key":"0b0b0b0b0b0b0b0b0b0b0b0b0b0)"
        R"(b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b","signature":"0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c)"
        R"(0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c"}})");
  CHECK(encode(Heartbeat{}) ==
        R"({"protocol":2,"run_id":"","phase":"joining","state_round":0,"state_digest":"0000000000000000000000000000)"
        R"(000000000000000000000000000000000000","samples_this_round":0,"samples_per_s":0,"batch_seconds":0,"listen)"
        R"(_port":0,"upload_bytes_per_s":0,"download_bytes_per_s":0,"reports":[]})");
  CHECK(
      encode(full_heartbeat()) ==
      R"({"protocol":2,"run_id":"fortunes","phase":"averaging","state_round":17,"state_digest":"0707070707070)"
      R"(707070707070707070707070707070707070707070707070707","samples_this_round":48,"samples_per_s":12.5,"b)"
      R"(atch_seconds":0.1,"batch_jitter":0.25,"listen_port":4000,"upload_bytes_per_s":1250000,"download_byte)"
      R"(s_per_s":10000000,"round_trip_s":0.04,"posted_at":"0505050505050505050505050505050505050505050505050)"
      R"(505050505050505","relay_bytes_per_s":500000,"evaluation":{"round":16,"bits_per_byte":2.125,"bytes":1)"
      R"(0000,"accuracy":0.375},"process":99,"next_draw":12,"device":{"kind":"cuda","count":2,"name":"NVIDIA A40","memory_bytes":)"
      R"(48000000000,"memory_max_bytes":24000000000,"backend":"LibTorch 2.6.0 with CUDA 12.4","precision":"bf16",)"
      R"("card_unused":"none"},"cells":{"bytes":5000,"held":[2,7],"table":6},"receipts":{"number":4,"holders":[{"holder":")"
      R"(0202020202020202020202020202020202020202020202020202020202020202","calls":12,"cells":[{"cell":0,"samples":40},{)"
      R"("cell":7,"samples":8}]},{"holder":"0303030303030303030303030303030303030303030303030303030303030303","calls":1,)"
      R"("cells":[]}]},"reports":[{"round":16,"group":"03030303030303030)"
      R"(303030303030303","autonomous":true,"members":["01010101010101010101010101010101010101010101010101010)"
      R"(10101010101","0202020202020202020202020202020202020202020202020202020202020202"],"contributions":[{")"
      R"(peer":"0101010101010101010101010101010101010101010101010101010101010101","samples":40,"draw":7},{"pe)"
      R"(er":"0202020202020202020202020202020202020202020202020202020202020202","samples":0}],"grid":{"column)"
      R"(":2,"accepted":[40,0,8]},"base_digest":"070707070707070707070707070707070707070707070707070707070707)"
      R"(0707","result_digest":"09090909090909090909090909090909","state_digest":"080808080808080808080808080)"
      R"(8080808080808080808080808080808080808","loss":1.25,"averaging_ms":120,"bytes_sent":1048576,"bytes_re)"
      R"(ceived":2097152,"complaints":[{"peer":"0202020202020202020202020202020202020202020202020202020202020)"
      R"(202","fault":"slow"},{"peer":"0101010101010101010101010101010101010101010101010101010101010101","fau)"
      R"(lt":"absent"}],"signed_by":{"key":"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b")"
      R"(,"signature":"0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c)"
      R"(0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c"}},{"round":0,"group":"00000000000000000000000000000000",)"
      R"("autonomous":false,"members":[],"contributions":[],"result_digest":"00000000000000000000000000000000)"
      R"(","state_digest":"0000000000000000000000000000000000000000000000000000000000000000","loss":0,"averag)"
      R"(ing_ms":0,"bytes_sent":0,"bytes_received":0}]})");
}

TEST_CASE("answers about rounds have these texts") {
  CHECK(encode(HeartbeatReply{}) ==
        R"({"run_state":"created","round":0,"state_digest":"0000000000000000000000000000000000000000000000000000000)"
        R"(000000000","lane":0,"target_batch_size":0,"samples_accumulated":0,"swarm_samples_per_s":0,"swarm_size":0)"
        R"(,"acknowledged_rounds":0,"next_heartbeat_ms":1000,"server_unix_ms":0,"renew_certificate":false,"donors":)"
        R"([],"evaluate":false,"credited_samples":0,"credit":0,"notice":"","reachability":"unknown","address":""})");
  CHECK(encode(full_reply()) ==
        R"({"run_state":"running","round":17,"state_digest":"070707070707070707070707070707070707070707070707070707)"
        R"(0707070707","lane":3,"leases":[{"number":1,"epoch":2,"first":3,"count":4,"last_round":20},{"number":5,"e)"
        R"(poch":2,"first":30,"count":4,"last_round":21}],"target_batch_size":96,"samples_accumulated":50,"swarm_sa)"
        R"(mples_per_s":33.25,"swarm_size":4,"acknowledged_rounds":16,"next_heartbeat_ms":250,"server_unix_ms":1700)"
        R"(000000000,"renew_certificate":true,"group":{"id":"05050505050505050505050505050505","run_id":"fortunes",)"
        R"("round":17,"state_digest":"0808080808080808080808080808080808080808080808080808080808080808","autonomous)"
        R"(":true,"vector_floats":1000,"segment_floats":500,"codec":"int8","start_in_ms":300,"begin_within_ms":4000)"
        R"(,"reason":"all lines are \"used\"","members":[{"peer":"0101010101010101010101010101010101010101010101010)"
        R"(101010101010101","host":"192.0.2.1","port":4000,"relay":"04040404040404040404040404040404040404040404040)"
        R"(40404040404040404","part_floats":600,"codec":"int4","voter":3},{"peer":"02020202020202020202020202020202)"
        R"(02020202020202020202020202020202","host":"","port":0,"part_floats":400,"role":"client-only"},{"peer":"03)"
        R"(03030303030303030303030303030303030303030303030303030303030303","host":"::1","port":1,"part_floats":0,"r)"
        R"(ole":"late"}],"grid":{"id":"06060606060606060606060606060606","column":1,"columns":2,"heads_id":"0707070)"
        R"(7070707070707070707070707","heads_within_ms":6000,"heads":[{"peer":"010101010101010101010101010101010101)"
        R"(0101010101010101010101010101","host":"192.0.2.1","port":4000,"part_floats":500,"column":1,"voter":3},{"p)"
        R"(eer":"0909090909090909090909090909090909090909090909090909090909090909","host":"192.0.2.9","port":4000,")"
        R"(relay":"0404040404040404040404040404040404040404040404040404040404040404","part_floats":500,"column":0}])"
        R"(,"spread_id":"08080808080808080808080808080808","spread_within_ms":7000,"spread":[{"part_floats":600,"he)"
        R"(ad":true},{"part_floats":400}]}},"donors":[{"peer":"0202020202020202020202020202020202020202020202020202)"
        R"(020202020202","host":"2001:db8::1","port":4001}],"send_checkpoint":true,"checkpoint":{"round":40,"state_)"
        R"(digest":"0808080808080808080808080808080808080808080808080808080808080808","sha256":"0909090909090909090)"
        R"(909090909090909090909090909090909090909090909","bytes":1000000},"evaluate":true,"evaluate_round":19,"cre)"
        R"(dited_samples":12345,"credit":0.75,"notice":"samples of ältere clients\n","reachability":"blocked","addr)"
        R"(ess":"192.0.2.7","relay":{"peer":"0404040404040404040404040404040404040404040404040404040404040404","hos)"
        R"(t":"192.0.2.4","port":7000},"relay_for":[{"peer":"050505050505050505050505050505050505050505050505050505)"
        R"(0505050505"},{"peer":"0606060606060606060606060606060606060606060606060606060606060606"}],"relay_bytes":)"
        R"(16777216,"newcomers":[{"peer":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"}],"revok)"
        R"(ed":[{"peer":"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"}]})");
  CHECK(encode(CheckpointReply{4096}) == R"({"bytes":4096})");
  CHECK(encode(UnusableSamples{"fortunes", 7, {3, 9}}) == R"({"run_id":"fortunes","process":7,"draws":[3,9]})");
}

TEST_CASE("release feeds have these texts") {
  CHECK(encode_feed(ReleaseFeed{}) ==
        R"({"format":1,"serial":0,"issued_ms":0,"valid_until_ms":0,"version":"","notes":"","notes_url":"","files":[)"
        R"(]})");
  CHECK(encode_feed(full_feed()) ==
        R"({"format":1,"serial":4,"issued_ms":1700000000000,"valid_until_ms":1800000000000,"version":"1.2.0","notes)"
        R"(":"Faster.","notes_url":"https://example.org/news","files":[{"platform":"linux-x86_64","name":"starling-)"
        R"(1.2.0-linux-x86_64.tar.gz","bytes":1000,"unpacked_bytes":3000,"sha256":"07070707070707070707070707070707)"
        R"(07070707070707070707070707070707"}]})");
}

TEST_CASE("release roots have this text") {
  ReleaseRoot root;
  root.version = 2;
  root.issued = {1'700'000'000'000};
  root.valid_until = {1'800'000'000'000};
  root.keys = {{"anna", "302a"}};
  CHECK(encode_root(root) ==
        R"({"format":1,"version":2,"threshold":2,"issued_ms":1700000000000,"valid_until_ms":1800000000000,"keys":[{)"
        R"("name":"anna","spki":"302a"}]})");
}

TEST_CASE("a message that was read is written like it was") {
  const auto kept = [](auto decode, const std::string& text) { CHECK(again(decode, text) == text); };
  kept(decode_error_reply, encode(ErrorReply{"not_found", "no \"run\""}));
  kept(decode_join_request,
       encode(JoinRequest{kProtocolVersion, "0.1", "", "Ada", "-----BEGIN\n", "secret", "a@b.org", "device"}));
  kept(decode_join_request, encode(JoinRequest{kProtocolVersion, "0.1", "tok", "Ada", "-----BEGIN"}));
  kept(decode_join_reply, encode(JoinReply{7, id<PeerId>(1), "Fortunes", "cert", "key", 5, "Ada 2"}));
  kept(decode_join_reply, encode(JoinReply{7, id<PeerId>(1), "Fortunes", "cert", "key", 5}));
  kept(decode_renew_request, encode(RenewRequest{"-----BEGIN", "device"}));
  kept(decode_renew_reply, encode(RenewReply{"cert", 5}));
  kept(decode_team_request, encode(TeamRequest{"join", "Swans"}));
  kept(decode_team_reply, encode(TeamReply{"Swans", 3, "Ada", 12, 1.5, 0.25, 2}));
  kept(decode_round_report, encode(RoundReport{}));
  kept(decode_round_report, encode(full_report()));
  kept(decode_heartbeat, encode(Heartbeat{}));
  kept(decode_heartbeat, encode(full_heartbeat()));
  kept(decode_heartbeat_reply, encode(HeartbeatReply{}));
  kept(decode_heartbeat_reply, encode(full_reply()));
  kept(decode_checkpoint_reply, encode(CheckpointReply{4096}));
  kept(decode_unusable_samples, encode(UnusableSamples{"fortunes", 7, {3, 9}}));
  kept(decode_feed, encode_feed(full_feed()));
}

TEST_CASE("every field of every message survives the trip") {
  using testing::filled;
  const auto kept = [](auto decode, const std::string& text) { CHECK(again(decode, text) == text); };
  kept(decode_error_reply, encode(filled<ErrorReply>()));
  kept(decode_join_request, encode(filled<JoinRequest>()));
  kept(decode_join_reply, encode(filled<JoinReply>()));
  kept(decode_renew_request, encode(filled<RenewRequest>()));
  kept(decode_renew_reply, encode(filled<RenewReply>()));
  kept(decode_team_request, encode(filled<TeamRequest>()));
  kept(decode_team_reply, encode(filled<TeamReply>()));
  kept(decode_round_report, encode(filled<RoundReport>()));
  kept(decode_heartbeat, encode(filled<Heartbeat>()));
  kept(decode_heartbeat_reply, encode(filled<HeartbeatReply>()));
  kept(decode_checkpoint_reply, encode(filled<CheckpointReply>()));
  kept(decode_unusable_samples, encode(filled<UnusableSamples>()));
}

TEST_CASE("a heartbeat leaves out the reports that make it too long, newest first") {
  Heartbeat beat;
  beat.reports.resize(40);
  CHECK(decode_heartbeat(encode(beat))->reports.size() == kReportsPerHeartbeatMax);
  RoundReport large = full_report();
  large.members.resize(kGroupMembersMax);
  beat.reports.assign(8, large);
  const std::string text = encode(beat);
  const std::size_t one = encode(large).size();
  CHECK(text.size() <= kJsonBytesMax);
  CHECK(text.size() + one + 8 > kJsonBytesMax);
}

}  // namespace starling::wire
