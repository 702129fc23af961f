// Messages about rounds in which no field has its default value.
#pragma once

#include "shared/protocol/group_info.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/protocol/round_report.h"

namespace starling::wire {

// An id whose bytes are all the same.
template <typename Id>
Id id(std::uint8_t byte) {
  Id id;
  id.bytes.fill(byte);
  return id;
}

inline RoundReport full_report() {
  RoundReport report;
  report.round = 16;
  report.group = id<GroupId>(3);
  report.autonomous = true;
  report.members = {id<PeerId>(1), id<PeerId>(2)};
  report.contributions = {{id<PeerId>(1), 40, 7}, {id<PeerId>(2), 0}};
  report.grid = GridShare{2, {40, 0, 8}};
  report.base_digest = id<Digest>(7);
  report.result_digest = id<Hash128>(9);
  report.state_digest = id<Digest>(8);
  report.loss = 1.25;
  report.averaging_ms = 120;
  report.bytes_sent = 1 << 20;
  report.bytes_received = 1 << 21;
  report.complaints = {{id<PeerId>(2), Fault::slow}, {id<PeerId>(1), Fault::absent}};
  report.signature = PeerSignature{id<KeyBytes>(11), id<SignatureBytes>(12)};
  return report;
}

inline Heartbeat full_heartbeat() {
  Heartbeat beat;
  beat.run_id = "fortunes";
  beat.phase = MemberPhase::averaging;
  beat.state_round = 17;
  beat.state_digest = id<Digest>(7);
  beat.samples_this_round = 48;
  beat.samples_per_s = 12.5;
  beat.batch_seconds = 0.1;
  beat.batch_jitter = 0.25;
  beat.listen_port = 4000;
  beat.upload_bytes_per_s = 1.25e6;
  beat.download_bytes_per_s = 1e7;
  beat.round_trip_s = 0.04;
  beat.relaying.posted_at = id<PeerId>(5);
  beat.relaying.bytes_per_s = 5e5;
  beat.evaluation = EvaluationReport{16, 2.125, 10000, 0.375};
  beat.process = 99;
  beat.next_draw = 12;
  beat.computing.device = ComputeDevice{.kind = "cuda",
                                        .count = 2,
                                        .name = "NVIDIA A40",
                                        .memory_bytes = 48'000'000'000,
                                        .memory_max_bytes = 24'000'000'000,
                                        .backend = "LibTorch 2.6.0 with CUDA 12.4",
                                        .precision = "bf16",
                                        .card_unused = "none"};
  beat.computing.cells = CellOffer{5000, {2, 7}, 6};
  beat.computing.receipts = CallReceipts{4, {{id<PeerId>(2), 12, {{0, 40}, {7, 8}}}, {id<PeerId>(3), 1, {}}}};
  beat.reports = {full_report(), {}};
  return beat;
}

inline GroupInfo full_group() {
  GroupInfo group;
  group.id = id<GroupId>(5);
  group.run_id = "fortunes";
  group.round = 17;
  group.state_digest = id<Digest>(8);
  group.autonomous = true;
  group.vector_floats = 1000;
  group.segment_floats = 500;
  group.codec = "int8";
  group.start_in_ms = 300;
  group.begin_within_ms = 4000;
  group.reason = "all lines are \"used\"";
  group.members = {{{id<PeerId>(1), "192.0.2.1", 4000, id<PeerId>(4)}, 600, "int4", MemberRole::full, 3},
                   {{id<PeerId>(2), "", 0}, 400, "", MemberRole::client_only},
                   {{id<PeerId>(3), "::1", 1}, 0, "", MemberRole::late}};
  GridPlan& grid = group.grid.emplace();
  grid.id = id<GroupId>(6);
  grid.column = 1;
  grid.columns = 2;
  grid.heads_id = id<GroupId>(7);
  grid.heads_within_ms = 6000;
  grid.heads = {{{{id<PeerId>(1), "192.0.2.1", 4000}, 500, "", MemberRole::full, 3}, 1},
                {{{id<PeerId>(9), "192.0.2.9", 4000, id<PeerId>(4)}, 500}, 0}};
  grid.spread_id = id<GroupId>(8);
  grid.spread_within_ms = 7000;
  grid.spread = {{600, true}, {400, false}};
  return group;
}

inline HeartbeatReply full_reply() {
  HeartbeatReply reply;
  reply.run_state = RunState::running;
  reply.round = 17;
  reply.state_digest = id<Digest>(7);
  reply.lane = 3;
  reply.leases = {{1, 2, 3, 4, 20}, {5, 2, 30, 4, 21}};
  reply.swarm.target_batch_size = 96;
  reply.swarm.samples_accumulated = 50;
  reply.swarm.samples_per_s = 33.25;
  reply.swarm.size = 4;
  reply.acknowledged_rounds = 16;
  reply.next_heartbeat_ms = 250;
  reply.server_unix_ms = 1'700'000'000'000;
  reply.renew_certificate = true;
  reply.group = full_group();
  reply.donors = {{id<PeerId>(2), "2001:db8::1", 4001}};
  reply.kept.checkpoint = Checkpoint{40, id<Digest>(8), {id<Digest>(9), 1'000'000}};
  reply.send_checkpoint = true;
  reply.evaluate_round = 19;
  reply.credited.samples = 12345;
  reply.credited.credit = 0.75;
  reply.seen.reachability = Reachability::blocked;
  reply.seen.address = "192.0.2.7";
  reply.relaying.at = Endpoint{id<PeerId>(4), "192.0.2.4", 7000};
  reply.relaying.clients = {id<PeerId>(5), id<PeerId>(6)};
  reply.relaying.bytes_per_round = 1 << 24;
  reply.named.newcomers = {{id<PeerId>(10)}};
  reply.named.revoked = {id<PeerId>(11)};
  reply.notice = "samples of \xc3\xa4ltere clients\n";
  return reply;
}

}  // namespace starling::wire
