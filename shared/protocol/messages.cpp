// The text of all messages between volunteers and the coordinator, from the descriptions in message_fields.h.
#include <fmt/format.h>

#include "shared/protocol/message_fields.h"

namespace starling::wire {

std::string_view to_string(MemberPhase phase) { return word_of(phase); }
std::string_view to_string(MemberRole role) { return word_of(role); }
std::string_view to_string(Reachability reachability) { return word_of(reachability); }
std::string_view to_string(Fault fault) { return word_of(fault); }
std::string_view to_string(RunState state) { return word_of(state); }
std::string_view to_string(StatementCause cause) { return word_of(cause); }

std::string signed_text(const RunId& run_id, const SignedResult& result) {
  return fmt::format("starling round result v1\n{}\n{}\n{}\n{}\n{}\n{}\n", run_id, result.round, result.group.hex(),
                     result.base_digest.hex(), result.result_digest.hex(), result.state_digest.hex());
}

std::string encode(const ErrorReply& message) { return encode_fields(message); }
std::string encode(const JoinRequest& message) { return encode_fields(message); }
std::string encode(const JoinReply& message) { return encode_fields(message); }
std::string encode(const RenewRequest& message) { return encode_fields(message); }
std::string encode(const RenewReply& message) { return encode_fields(message); }
std::string encode(const Heartbeat& message) { return encode_fields(message); }
std::string encode(const HeartbeatReply& message) { return encode_fields(message); }
std::string encode(const CheckpointReply& message) { return encode_fields(message); }
std::string encode(const RoundReport& message) { return encode_fields(message); }
std::string encode(const StateLink& link) { return encode_fields(link); }
std::string encode(const StateStatement& statement) { return encode_fields(statement); }
std::string encode(const StateProof& proof) { return encode_fields(proof); }
std::string encode(const TeamRequest& message) { return encode_fields(message); }
std::string encode(const TeamReply& message) { return encode_fields(message); }
std::string encode(const UnusableSamples& message) { return encode_fields(message); }

Result<ErrorReply> decode_error_reply(std::string_view json) {
  return decode_fields<ErrorReply>(json, "error reply", kJsonBytesMax);
}
Result<JoinRequest> decode_join_request(std::string_view json) {
  return decode_fields<JoinRequest>(json, "join request", kJsonBytesMax);
}
Result<JoinReply> decode_join_reply(std::string_view json) {
  return decode_fields<JoinReply>(json, "join reply", kReplyBytesMax);
}
Result<RenewRequest> decode_renew_request(std::string_view json) {
  return decode_fields<RenewRequest>(json, "renew request", kJsonBytesMax);
}
Result<RenewReply> decode_renew_reply(std::string_view json) {
  return decode_fields<RenewReply>(json, "renew reply", kReplyBytesMax);
}
Result<Heartbeat> decode_heartbeat(std::string_view json) {
  return decode_fields<Heartbeat>(json, "heartbeat", kJsonBytesMax);
}
Result<HeartbeatReply> decode_heartbeat_reply(std::string_view json) {
  return decode_fields<HeartbeatReply>(json, "heartbeat reply", kReplyBytesMax);
}
Result<CheckpointReply> decode_checkpoint_reply(std::string_view json) {
  return decode_fields<CheckpointReply>(json, "checkpoint reply", kReplyBytesMax);
}
Result<RoundReport> decode_round_report(std::string_view json) {
  return decode_fields<RoundReport>(json, "round report", kReplyBytesMax);
}
Result<StateLink> decode_state_link(std::string_view json) {
  return decode_fields<StateLink>(json, "state link", kJsonBytesMax);
}
Result<StateStatement> decode_state_statement(std::string_view json) {
  return decode_fields<StateStatement>(json, "state statement", kStatementBytesMax);
}
Result<StateProof> decode_state_proof(std::string_view json) {
  return decode_fields<StateProof>(json, "state proof", kStateProofBytesMax);
}
Result<TeamRequest> decode_team_request(std::string_view json) {
  return decode_fields<TeamRequest>(json, "team request", kJsonBytesMax);
}
Result<TeamReply> decode_team_reply(std::string_view json) {
  return decode_fields<TeamReply>(json, "team reply", kReplyBytesMax);
}
Result<UnusableSamples> decode_unusable_samples(std::string_view json) {
  return decode_fields<UnusableSamples>(json, "unusable samples", kJsonBytesMax);
}

}  // namespace starling::wire
