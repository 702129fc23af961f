// The messages between a volunteer's daemon and the coordinator: JSON over HTTPS.
//   GET  /v1/ca            the project's CA certificate, PEM; checked against the join link's fingerprint
//   POST /v1/join          JoinRequest -> JoinReply       (no client certificate yet)
//   POST /v1/renew         RenewRequest -> RenewReply     (the CSR's signature proves the key; the device token, too)
//   POST /v1/heartbeat     Heartbeat -> HeartbeatReply    (client certificate required)
//   GET  /v1/run           the signed manifest envelope of the run
//   GET  /v1/artefacts/H   the bytes whose SHA-256 is H
//   POST /v1/checkpoint?round=R&digest=D&offset=N&run=C   a piece of the state of the run, or of cell C, from byte N
//   on,
//                          at most kCheckpointPieceBytes, by the member that was asked
//                          (HeartbeatReply::send_checkpoint) -> CheckpointReply
// A refusal is an HTTP status with an ErrorReply ({"code","error"}). Unknown fields are ignored, missing ones are
// errors, so that either side may be one version older. Every list and string is bounded by a constant below.
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling::wire {

constexpr int kProtocolVersion = 2;
constexpr std::size_t kJsonBytesMax = 128 * 1024;    // any request body: a report of 500 members fits
constexpr std::size_t kReplyBytesMax = 1024 * 1024;  // any reply body: a plan of kGroupMembersMax members fits
constexpr std::size_t kNameBytesMax = 40;            // ids of runs, versions, actions
constexpr std::size_t kPasswordBytesMax = 256;
constexpr std::size_t kEmailBytesMax = 254;
constexpr std::int64_t kMessageCountMax = std::int64_t{1} << 48;  // rounds, samples, bytes, milliseconds
constexpr double kMessageRateMax = 1e15;                          // samples or bytes a second; credit

}  // namespace starling::wire
