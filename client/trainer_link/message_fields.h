// The fields of the link's messages, each with its range (shared/wire/fields.h). Encoders, decoders and the fuzzer's
// seeds follow from these. Only .cpp files include it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "client/trainer_link/messages.h"
#include "shared/protocol/limits.h"
#include "shared/run/buckets.h"
#include "shared/run/model_layout.h"
#include "shared/wire/fields.h"

namespace starling::trainer_link {

// By the command's number.
std::span<const std::string_view> words_of(Command command);

// Begins every message. The first two fields never change, so that another build's messages are known.
struct Header {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  std::uint16_t kind = 0;
};

// The answer to a request that failed.
struct Failure {
  std::uint64_t sequence = 0;
  std::uint8_t code = 0;  // ErrorCode
  std::string message;
};

constexpr wire::Whole kNotNegative{0, std::numeric_limits<std::int64_t>::max()};
constexpr wire::Real kFinite{std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
constexpr wire::Real kFiniteNotNegative{0, std::numeric_limits<double>::max()};
constexpr wire::Text kLinkText{kTextBytesMax};
constexpr wire::Whole kDeviceBytes{0, wire::kMessageCountMax};
constexpr std::int64_t kOptimizerVectorsMax = 8;

template <typename Visitor>
void each_field(Visitor& visit, wire::Seen<Visitor, Header>& header) {
  visit("magic", header.magic, wire::Whole{0, std::numeric_limits<std::uint32_t>::max()});
  visit("version", header.version, wire::Whole{0, std::numeric_limits<std::uint16_t>::max()});
  visit("kind", header.kind, wire::Whole{0, std::numeric_limits<std::uint16_t>::max()});
}

template <typename Visitor>
void each_field(Visitor& visit, wire::Seen<Visitor, Request>& request) {
  visit("sequence", request.sequence, kNotNegative);
  visit("command", request.command);
  visit("threads", request.limits.threads, wire::Whole{1, kThreadsMax});
  visit("memory_bytes", request.limits.memory_bytes, kNotNegative);
  visit("gpu_memory_percent", request.limits.gpu_memory_percent, wire::Whole{0, 100});
  visit("sandbox", request.limits.sandbox);
  visit("landlock", request.limits.landlock);
  visit("yield_to_others", request.limits.yield_to_others);
  visit("piece", request.piece, wire::Whole{wire::kNoPiece, wire::kExpertsMax});
  visit("cell", request.cell, wire::Whole{0, wire::kExpertsMax});
  visit("samples.round", request.samples.round, kNotNegative);
  visit("samples.lane", request.samples.lane, kNotNegative);
  visit("samples.first", request.samples.first, kNotNegative);
  visit("samples.count", request.samples.count, kNotNegative);
  visit("samples.epoch", request.samples.epoch, wire::Whole{wire::kNoEpoch, kNotNegative.most});
  visit("begins_sum", request.begins_sum);
  visit("begins_ahead", request.begins_ahead);
  visit("knows_own", request.knows_own);
  visit("merges_step", request.merges_step);
  visit("ends_audits", request.ends_audits);
  visit("round", request.round, kNotNegative);
  visit("count", request.count, wire::Whole{0, kTokensMax});
  visit("temperature", request.temperature, kFiniteNotNegative);
  visit("text", request.text, kLinkText);
}

// A reply that is no Failure.
template <typename Visitor>
void each_field(Visitor& visit, wire::Seen<Visitor, Reply>& reply) {
  visit("sequence", reply.sequence, kNotNegative);
  visit("stepped_bucket", reply.stepped_bucket,
        wire::Whole{kNoBucket, static_cast<std::int64_t>(wire::kBucketsMost) - 1});
  visit("parameter_count", reply.layout.parameter_count, kNotNegative);
  visit("optimizer_vectors", reply.layout.optimizer_vectors, wire::Whole{0, kOptimizerVectorsMax});
  visit("device.kind", reply.device.kind, wire::Text{wire::kDeviceWordBytesMax});
  visit("device.count", reply.device.count, wire::Whole{1, wire::kDevicesMax});
  visit("device.name", reply.device.name, wire::Text{wire::kDeviceNameBytesMax});
  visit("device.memory_bytes", reply.device.memory_bytes, kDeviceBytes);
  visit("device.memory_max_bytes", reply.device.memory_max_bytes, kDeviceBytes);
  visit("device.backend", reply.device.backend, wire::Text{wire::kBackendBytesMax});
  visit("device.precision", reply.device.precision, wire::Text{wire::kDeviceWordBytesMax});
  visit("device.platform", reply.device.platform, wire::Text{wire::kDeviceWordBytesMax});
  visit("device.card_unused", reply.device.card_unused, wire::Text{wire::kCardUnusedBytesMax});
  visit("samples", reply.batch.samples, kNotNegative);
  visit("loss_sum", reply.batch.loss_sum, kFinite);
  visit("seconds", reply.batch.seconds, kFiniteNotNegative);
  visit("bits_per_byte", reply.evaluation.bits_per_byte, kFiniteNotNegative);
  visit("evaluated_bytes", reply.evaluation.bytes, kNotNegative);
  visit("accuracy", reply.evaluation.accuracy, wire::Real{0, 1});
  visit("text", reply.text, kLinkText);
}

template <typename Visitor>
void each_field(Visitor& visit, wire::Seen<Visitor, Failure>& failure) {
  visit("sequence", failure.sequence, kNotNegative);
  visit("code", failure.code, wire::Whole{0, static_cast<std::int64_t>(ErrorCode::internal)});
  visit("message", failure.message, kLinkText);
}

}  // namespace starling::trainer_link
