// The fields of the messages between volunteers and the coordinator, in the order of their text, with their bounds.
#pragma once

#include <array>

#include "shared/protocol/audit.h"
#include "shared/protocol/cell_dealing.h"
#include "shared/protocol/checked_work_fields.h"
#include "shared/protocol/checkpoint.h"
#include "shared/protocol/compute_device_fields.h"
#include "shared/protocol/error_reply.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/protocol/join.h"
#include "shared/protocol/limits.h"
#include "shared/protocol/names.h"
#include "shared/protocol/release_feed.h"
#include "shared/protocol/round_report.h"
#include "shared/protocol/sample_lease.h"
#include "shared/protocol/state_proof.h"
#include "shared/protocol/states.h"
#include "shared/protocol/team.h"
#include "shared/protocol/unusable_samples.h"
#include "shared/wire/fields.h"
#include "shared/wire/limits.h"

namespace starling {

template <typename Visitor>
void each_field(Visitor& visit, wire::Seen<Visitor, PeerSignature>& signature) {
  visit("key", signature.key);
  visit("signature", signature.signature);
}

}  // namespace starling

namespace starling::wire {

constexpr std::size_t kPemBytesMax = 16 * 1024;
constexpr std::size_t kTokenBytesMax = 128;
constexpr std::size_t kMessageBytesMax = 2048;
constexpr std::size_t kAddressBytesMax = 64;  // an IP literal, maybe with a scope
constexpr std::size_t kCodecBytesMax = 32;
constexpr Whole kCount{0, kMessageCountMax};
constexpr Whole kFloats{0, kVectorFloatsMax};
constexpr Real kRate{0, kMessageRateMax};

constexpr std::array<std::string_view, 8> kPhaseWords = {"joining", "downloading", "training",   "averaging",
                                                         "paused",  "leaving",     "evaluating", "holding"};
constexpr std::array<std::string_view, 5> kRoleWords = {"full", "client-only", "auxiliary", "deferred", "late"};
constexpr std::array<std::string_view, 3> kReachabilityWords = {"unknown", "reachable", "blocked"};
constexpr std::array<std::string_view, 5> kFaultWords = {"absent", "gone", "silent", "slow", "nonsense"};
constexpr std::array<std::string_view, 4> kStatementCauseWords = {"start", "advance", "loss", "rollback"};
constexpr std::array<std::string_view, 4> kRunStateWords = {"created", "running", "paused", "complete"};

inline std::span<const std::string_view> words_of(MemberPhase /*phase*/) { return kPhaseWords; }
inline std::span<const std::string_view> words_of(MemberRole /*role*/) { return kRoleWords; }
inline std::span<const std::string_view> words_of(Reachability /*reachability*/) { return kReachabilityWords; }
inline std::span<const std::string_view> words_of(Fault /*fault*/) { return kFaultWords; }
inline std::span<const std::string_view> words_of(RunState /*state*/) { return kRunStateWords; }
inline std::span<const std::string_view> words_of(StatementCause /*cause*/) { return kStatementCauseWords; }

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ErrorReply>& message) {
  visit("code", message.code, Text{64});
  visit("error", message.message, Text{kMessageBytesMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, JoinRequest>& message) {
  visit("protocol", message.protocol, Whole{1, 1000});
  visit("client_version", message.client_version, Text{kNameBytesMax});
  visit("invite", message.invite, Text{kTokenBytesMax});
  visit("display_name", message.display_name, Text{kEmailBytesMax});
  visit("csr_pem", message.csr_pem, Text{kPemBytesMax, TextForm::exact});
  visit("password", message.password, Text{kPasswordBytesMax, TextForm::exact}, kLeftOutIfUnset);
  visit("email", message.email, Text{kEmailBytesMax}, kLeftOutIfUnset);
  visit("device_token", message.device_token, Text{kTokenBytesMax, TextForm::exact}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, JoinReply>& message) {
  visit("account_id", message.account_id, Whole{0, INT64_MAX});
  visit("peer_id", message.peer_id);
  visit("project_name", message.project_name, Text{kDisplayNameBytesMax});
  visit("certificate_pem", message.certificate_pem, Text{kPemBytesMax, TextForm::exact});
  visit("manifest_public_key", message.manifest_public_key, Text{kPemBytesMax, TextForm::exact});
  visit("server_unix_ms", message.server_unix_ms, kCount);
  visit("display_name", message.display_name, Text{kDisplayNameBytesMax}, kLeftOutIfUnset);
  visit("whole_project_name", message.whole_project_name, Text{kDisplayNameBytesMax}, kLeftOutIfUnset);
  visit("whole_display_name", message.whole_display_name, Text{kDisplayNameBytesMax}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, RenewRequest>& message) {
  visit("csr_pem", message.csr_pem, Text{kPemBytesMax, TextForm::exact});
  visit("device_token", message.device_token, Text{kTokenBytesMax, TextForm::exact}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, RenewReply>& message) {
  visit("certificate_pem", message.certificate_pem, Text{kPemBytesMax, TextForm::exact});
  visit("server_unix_ms", message.server_unix_ms, kCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Complaint>& complaint) {
  visit("peer", complaint.peer);
  visit("fault", complaint.fault);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Contribution>& contribution) {
  visit("peer", contribution.peer);
  visit("samples", contribution.samples, kCount);
  visit("draw", contribution.draw, Whole{0, kDrawMax}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, GridShare>& grid) {
  visit("column", grid.column, Whole{0, kGridColumnsMax});
  visit("accepted", grid.accepted, Items{kGridColumnsMax}, kCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ReceivedRate>& received) {
  visit("member", received.member, Whole{0, kGroupMembersMax - 1});
  visit("bytes_per_s", received.bytes_per_s, kRate);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, MeasuredParts>& measured) {
  visit("seed", measured.seed);
  visit("members", measured.members, Items{kMeasuredMax}, Whole{0, kGroupMembersMax - 1});
  visit("sketches", measured.sketches, PackedFloats{kMeasuredMax * kSketchFloats});
  visit("factors", measured.factors, PackedFloats{kMeasuredMax}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, OwnTerms>& own) {
  visit("weight", own.weight, kCount);
  visit("computed", own.computed, kCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, SketchRequest>& request) {
  visit("round", request.round, kCount);
  visit("number", request.number);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, OwnSketches>& own) {
  visit("round", own.round, kCount);
  visit("contributed", own.contributed, PackedFloats{kMeasuredMax * kShortSketchFloats});
  visit("whole", own.whole, PackedFloats{kSketchFloats}, kLeftOutIfUnset);
  visit("result", own.result, PackedFloats{kMeasuredMax * kShortSketchFloats}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, SketchedPart>& part) {
  visit("first", part.first, kFloats);
  visit("floats", part.floats, kFloats);
  visit("seed", part.seed);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, SampleRange>& range) {
  visit("round", range.round, kCount);
  visit("lane", range.lane, Whole{0, 1 << 20}, kLeftOutIfUnset);
  visit("first", range.first, kCount);
  visit("count", range.count, Whole{1, kMessageCountMax});
  visit("epoch", range.epoch, Whole{kNoEpoch, kMessageCountMax}, left_out_if(kNoEpoch));
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, AuditOrder>& order) {
  visit("number", order.number, kCount);
  visit("round", order.round, kCount);
  visit("state_digest", order.state_digest);
  visit("samples", order.samples, Items{kAuditRangesMax});
  visit("parts", order.parts, Items{kAuditPartsMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, AuditResult>& result) {
  visit("number", result.number, kCount);
  visit("sketches", result.sketches, PackedFloats{kAuditPartsMax * kSketchFloats});
  visit("reason", result.reason, Text{kAuditReasonBytesMax}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, RoundReport>& report) {
  visit("round", report.round, kCount);
  visit("group", report.group);
  visit("autonomous", report.autonomous);
  visit("members", report.members, Items{kGroupMembersMax});
  visit("contributions", report.contributions, Items{kGroupMembersMax});
  visit("grid", report.grid);
  visit("base_digest", report.base_digest, kLeftOutIfUnset);
  visit("result_digest", report.result_digest);
  visit("state_digest", report.state_digest);
  visit("loss", report.loss, Real{-1e9, 1e9});
  visit("averaging_ms", report.averaging_ms, kCount);
  visit("bytes_sent", report.bytes_sent, kCount);
  visit("bytes_received", report.bytes_received, kCount);
  visit("complaints", report.complaints, Items{kComplaintsMax}, kLeftOutIfUnset);
  visit("received", report.received, Items{kReceivedMax}, kLeftOutIfUnset);
  visit("own", report.own);
  visit("measured", report.measured);
  visit("signed_by", report.signature);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, SealedTwice>& lie) {
  visit("owner", lie.owner);
  visit("rank", lie.rank, Whole{0, kGroupMembersMax});
  visit("plan", lie.plan_digest);
  visit("key", lie.key);
  visit("one", lie.one);
  visit("one_signature", lie.one_signature);
  visit("other", lie.other);
  visit("other_signature", lie.other_signature);
  visit("group", lie.group, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Accusation>& accusation) {
  visit("accuser", accusation.accuser);
  visit("accused", accusation.accused);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, RoundTrouble>& trouble) {
  visit("round", trouble.round, kCount);
  visit("group", trouble.group);
  visit("complaints", trouble.complaints, Items{kComplaintsMax}, kLeftOutIfUnset);
  visit("proofs", trouble.proofs, Items{kProofsPerTroubleMax}, kLeftOutIfUnset);
  visit("accusations", trouble.accusations, Items{kAccusationsMax}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, EvaluationReport>& evaluation) {
  visit("round", evaluation.round, kCount);
  visit("bits_per_byte", evaluation.bits_per_byte, Real{0, 1e6});
  visit("bytes", evaluation.bytes, kCount);
  visit("accuracy", evaluation.accuracy, Real{0, 1});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, HoldingProof>& proof) {
  visit("challenge", proof.challenge);
  visit("digest", proof.digest);
}

constexpr Whole kCell{0, kCellsMax - 1};
constexpr Items kCells{static_cast<std::size_t>(kCellsMax)};

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, CellOffer>& offer) {
  visit("bytes", offer.bytes, kCount);
  visit("held", offer.held, kCells, kCell);
  visit("table", offer.table, kCount);
  visit("leaves_in_s", offer.leaves_in_s, kCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, CellSamples>& computed) {
  visit("cell", computed.cell, kCell);
  visit("samples", computed.samples, kCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, HolderReceipt>& receipt) {
  visit("holder", receipt.holder);
  visit("calls", receipt.calls, kCount);
  visit("cells", receipt.cells, kCells);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, CallReceipts>& receipts) {
  visit("number", receipts.number, kCount);
  visit("holders", receipts.holders, Items{kReceiptCellsMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Heartbeat>& message) {
  visit("protocol", message.protocol, Whole{1, 1000});
  visit("run_id", message.run_id, Text{kNameBytesMax});
  visit("phase", message.phase);
  visit("state_round", message.state_round, kCount);
  visit("state_digest", message.state_digest);
  visit("samples_this_round", message.samples_this_round, kCount);
  visit("samples_per_s", message.samples_per_s, kRate);
  visit("batch_seconds", message.batch_seconds, kRate);
  visit("batch_jitter", message.batch_jitter, Real{0, kJitterMax}, kLeftOutIfUnset);
  visit("listen_port", message.listen_port, kPort);
  visit("upload_bytes_per_s", message.upload_bytes_per_s, kRate);
  visit("download_bytes_per_s", message.download_bytes_per_s, kRate);
  visit("round_trip_s", message.round_trip_s, Real{0, kRoundTripMaxS}, kLeftOutIfUnset);
  visit("posted_at", message.relaying.posted_at, kLeftOutIfUnset);
  visit("relay_bytes_per_s", message.relaying.bytes_per_s, kRate, kLeftOutIfUnset);
  visit("evaluation", message.evaluation);
  if (visit.has("process", message.process != 0)) {
    visit("process", message.process, kCount);
    visit("next_draw", message.next_draw, Whole{0, kDrawMax});
  }
  visit("troubles", message.trust.troubles, Items{kTroublesPerHeartbeatMax}, kLeftOutIfUnset);
  visit("state_proof_wanted", message.trust.state_proof_wanted, kLeftOutIfUnset);
  visit("holding", message.trust.holding);
  visit("trainer_failure", message.computing.failure, Text{kTrainerFailureBytesMax}, kLeftOutIfUnset);
  visit("device", message.computing.device);
  visit("cells", message.computing.cells);
  visit("receipts", message.computing.receipts);
  visit("own_sketches", message.trust.audits.own);
  visit("self_test_passed", message.trust.audits.self_test_passed, kLeftOutIfUnset);
  visit("audit_results", message.trust.audits.results, Items{kAuditOrdersMax}, kLeftOutIfUnset);
  visit("reports", message.reports, FirstItems{kReportsPerHeartbeatMax, kJsonBytesMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Endpoint>& endpoint) {
  visit("peer", endpoint.peer);
  visit("host", endpoint.host, Text{kAddressBytesMax});
  visit("port", endpoint.port, kPort);
  visit("relay", endpoint.relay, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, CellHolders>& holders) {
  visit("cell", holders.cell, kCell);
  visit("members", holders.members, Items{static_cast<std::size_t>(kCellHoldersMax)}, Whole{0, kCellMembersMax - 1});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, CellTable>& table) {
  visit("number", table.number, Whole{1, kMessageCountMax});
  visit("members", table.members, Items{kCellMembersMax});
  visit("cells", table.cells, kCells);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, CellsDealt>& dealt) {
  visit("hold", dealt.hold, kCells, kCell);
  visit("table", dealt.table);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, GroupMember>& member) {
  each_field(visit, member.endpoint);
  visit("part_floats", member.part_floats, kFloats);
  visit("codec", member.codec, Text{kCodecBytesMax}, kLeftOutIfUnset);
  visit("role", member.role, kLeftOutIfUnset);
  visit("voter", member.voter, Whole{0, kGroupMembersMax}, kLeftOutIfUnset);
  visit("weight_max", member.weight_max, kCount, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, GridPlan::Head>& head) {
  each_field(visit, head.member.endpoint);
  visit("part_floats", head.member.part_floats, kFloats);
  visit("column", head.column, Whole{0, kGridColumnsMax});
  visit("voter", head.member.voter, Whole{0, kGroupMembersMax}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, GridPlan::Seat>& seat) {
  visit("part_floats", seat.part_floats, kFloats);
  visit("head", seat.head, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, GridPlan>& grid) {
  visit("id", grid.id);
  visit("column", grid.column, Whole{0, kGridColumnsMax});
  visit("columns", grid.columns, Whole{0, kGridColumnsMax});
  visit("heads_id", grid.heads_id);
  visit("heads_within_ms", grid.heads_within_ms, kCount);
  visit("heads", grid.heads, Items{kGroupMembersMax});
  visit("spread_id", grid.spread_id);
  visit("spread_within_ms", grid.spread_within_ms, kCount);
  visit("spread", grid.spread, Items{kGroupMembersMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, GroupInfo>& group) {
  visit("id", group.id);
  visit("run_id", group.run_id, Text{kNameBytesMax});
  visit("round", group.round, kCount);
  visit("state_digest", group.state_digest);
  visit("autonomous", group.autonomous);
  visit("vector_floats", group.vector_floats, kFloats);
  visit("segment_floats", group.segment_floats, Whole{1, kSegmentFloatsMax});
  visit("codec", group.codec, Text{kCodecBytesMax});
  visit("start_in_ms", group.start_in_ms, Whole{-kMessageCountMax, kMessageCountMax});
  visit("begin_within_ms", group.begin_within_ms, kCount);
  visit("reason", group.reason, Text{kReasonBytesMax}, kLeftOutIfUnset);
  visit("members", group.members, Items{kGroupMembersMax});
  visit("grid", group.grid);
  visit("audit_commitment", group.audit_commitment, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, SampleLease>& lease) {
  visit("number", lease.number, Whole{1, kDrawMax});
  visit("epoch", lease.epoch, kCount);
  visit("first", lease.first, kCount);
  visit("count", lease.count, Whole{1, kMessageCountMax});
  visit("last_round", lease.last_round, kCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, Checkpoint>& checkpoint) {
  visit("round", checkpoint.round, kCount);
  visit("state_digest", checkpoint.state_digest);
  visit("sha256", checkpoint.file.sha256);
  visit("bytes", checkpoint.file.bytes, Whole{1, kMessageCountMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, StateVoter>& voter) {
  visit("peer", voter.peer);
  visit("voter", voter.voter, Whole{0, kGroupMembersMax}, kLeftOutIfUnset);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, StateVote>& vote) {
  visit("rank", vote.rank, Whole{0, kGroupMembersMax});
  each_field(visit, vote.signature);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, StateLink>& link) {
  visit("round", link.round, kCount);
  visit("group", link.group);
  visit("base_digest", link.base_digest);
  visit("result_digest", link.result_digest);
  visit("state_digest", link.state_digest);
  visit("voters", link.voters, Items{kGroupMembersMax});
  visit("votes", link.votes, Items{kGroupMembersMax});
  visit("seal", link.seal);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, StateStatement>& statement) {
  visit("run_id", statement.run_id, Text{kNameBytesMax});
  visit("round", statement.round, kCount);
  visit("state_digest", statement.state_digest);
  visit("serial", statement.serial, kCount);
  visit("cause", statement.cause);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, StateProof>& proof) {
  visit("statement", proof.statement, Text{kStatementBytesMax, TextForm::exact});
  visit("links", proof.links, Items{kStateLinksMax});
}

// "evaluate": true stands alone where an older coordinator says it, and means the state of `round`.
template <typename Visitor>
void visit_evaluate_round(Visitor& visit, Seen<Visitor, HeartbeatReply>& message) {
  bool evaluate = message.evaluate_round.has_value();
  visit("evaluate", evaluate);
  if (!evaluate) return;
  if constexpr (Visitor::kChanges) message.evaluate_round = message.round;
  visit("evaluate_round", *message.evaluate_round, kCount, kLater);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, HeartbeatReply>& message) {
  visit("run_state", message.run_state);
  visit("round", message.round, kCount);
  visit("state_digest", message.state_digest);
  visit("lane", message.lane, Whole{0, 1 << 20});
  visit("leases", message.leases, Items{kLeasesMax}, kLeftOutIfUnset);
  visit("target_batch_size", message.swarm.target_batch_size, kCount);
  visit("samples_accumulated", message.swarm.samples_accumulated, kCount);
  visit("swarm_samples_per_s", message.swarm.samples_per_s, kRate);
  visit("swarm_size", message.swarm.size, Whole{0, INT32_MAX});
  visit("acknowledged_rounds", message.acknowledged_rounds, kCount);
  visit("next_heartbeat_ms", message.next_heartbeat_ms, kCount);
  visit("server_unix_ms", message.server_unix_ms, kCount);
  visit("renew_certificate", message.renew_certificate);
  visit("group", message.group);
  visit("donors", message.donors, Items{kDonorsMax});
  visit("send_checkpoint", message.send_checkpoint, kLeftOutIfUnset);
  visit("checkpoint", message.kept.checkpoint);
  visit_evaluate_round(visit, message);
  visit("credited_samples", message.credited.samples, kCount);
  visit("credit", message.credited.credit, kRate);
  visit("notice", message.notice, Text{kMessageBytesMax, TextForm::lines});
  // Older programs know nothing of the following.
  visit("reachability", message.seen.reachability, kLater);
  visit("address", message.seen.address, Text{kAddressBytesMax}, kLater);
  visit("relay", message.relaying.at);
  if (visit.has("relay_for", !message.relaying.clients.empty())) {
    visit("relay_for", message.relaying.clients, Items{kRelayClientsMax}, InObject{"peer"});
    visit("relay_bytes", message.relaying.bytes_per_round, kCount);
  }
  visit("audit_keep_states", message.kept.audits.keep_states, Items{kAuditStatesMax}, kCount, kLeftOutIfUnset);
  visit("audit_sketches", message.kept.audits.sketches);
  visit("audit_orders", message.kept.audits.orders, Items{kAuditOrdersMax}, kLeftOutIfUnset);
  visit("audit_checked", message.kept.audits.checked);
  visit("state_proof", message.kept.state_proof);
  visit("challenge", message.kept.challenge, kLeftOutIfUnset);
  visit("newcomers", message.named.newcomers, Items{kNewcomersMax}, InObject{"peer"});
  if (visit.has("revoked", !message.named.revoked.empty())) {
    visit("revoked", message.named.revoked, Items{kRevokedMax}, InObject{"peer"});
  }
  visit("cells", message.named.cells);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, CheckpointReply>& message) {
  visit("bytes", message.bytes, kCount);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, UnusableSamples>& message) {
  visit("run_id", message.run_id, Text{kNameBytesMax});
  visit("process", message.process, Whole{1, kMessageCountMax});
  visit("draws", message.draws, Items{kUnusableDrawsMax}, Whole{1, kDrawMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, TeamRequest>& message) {
  visit("action", message.action, Text{kNameBytesMax});
  visit("name", message.name, Text{kTeamNameBytesMax});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, TeamReply>& message) {
  visit("name", message.name, Text{kTeamNameBytesMax});
  visit("id", message.id, kCount);
  visit("founder", message.founder, Text{kTeamNameBytesMax});
  visit("members", message.members, kCount);
  visit("credit", message.credit, kRate);
  visit("recent_average", message.recent_average, kRate);
  visit("rank", message.rank, kCount);
}

constexpr int kFeedFormat = 1;
constexpr std::size_t kFeedWordBytesMax = 64;  // versions, platforms
constexpr std::size_t kFeedFileNameBytesMax = 200;
constexpr std::size_t kFeedNotesBytesMax = 4096;
constexpr std::size_t kFeedUrlBytesMax = 1024;
constexpr std::int64_t kFeedSerialMax = std::int64_t{1} << 53;  // exact in every JSON reader

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ReleaseFile>& file) {
  visit("platform", file.platform, Text{kFeedWordBytesMax});
  visit("name", file.name, Text{kFeedFileNameBytesMax});
  visit("bytes", file.bytes, Whole{1, kReleaseBytesMax});
  visit("unpacked_bytes", file.unpacked_bytes, Whole{1, kReleaseBytesMax});
  visit("sha256", file.sha256);
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ReleaseFeed>& feed) {
  visit("format", feed.format, Whole{kFeedFormat, kFeedFormat});
  visit("serial", feed.serial, Whole{0, kFeedSerialMax});
  visit("issued_ms", feed.issued.unix_ms, Whole{0, kFeedSerialMax});
  visit("valid_until_ms", feed.valid_until.unix_ms, Whole{0, kFeedSerialMax});
  visit("version", feed.version, Text{kFeedWordBytesMax});
  visit("notes", feed.notes, Text{kFeedNotesBytesMax, TextForm::lines});
  visit("notes_url", feed.notes_url, Text{kFeedUrlBytesMax});
  visit("files", feed.files, Items{kReleaseFilesMax});
}

constexpr int kRootFormat = 1;
constexpr std::size_t kRootKeyNameBytesMax = 64;
constexpr std::size_t kRootKeyHexBytes = 88;

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, RootKey>& key) {
  visit("name", key.name, Text{kRootKeyNameBytesMax});
  visit("spki", key.spki, Text{kRootKeyHexBytes});
}

template <typename Visitor>
void each_field(Visitor& visit, Seen<Visitor, ReleaseRoot>& root) {
  visit("format", root.format, Whole{kRootFormat, kRootFormat});
  visit("version", root.version, Whole{1, kRootVersionMax});
  visit("threshold", root.threshold, Whole{1, kRootKeysMax});
  visit("issued_ms", root.issued.unix_ms, Whole{0, kFeedSerialMax});
  visit("valid_until_ms", root.valid_until.unix_ms, Whole{0, kFeedSerialMax});
  visit("keys", root.keys, Items{kRootKeysMax});
}

}  // namespace starling::wire
