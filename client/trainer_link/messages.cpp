#include "client/trainer_link/messages.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "shared/run/buckets.h"

namespace starling::trainer_link {
namespace {

constexpr std::uint32_t kMagic = 0x4b4e4c54;  // "TLNK"
enum class Kind : std::uint16_t { request = 1, reply = 2 };

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kLinkVersion;
  std::uint16_t kind = 0;
  std::uint64_t sequence = 0;
  std::uint32_t text_bytes = 0;
  std::uint32_t code = 0;  // request: Command; reply: 0 for success, 1 + ErrorCode for failure
};

struct RequestBody {
  Header header;
  std::int64_t round = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t epoch = 0;
  double temperature = 0;
  std::uint64_t memory_bytes = 0;
  std::int32_t lane = 0;
  std::int32_t tokens = 0;
  std::int32_t threads = 0;
  std::uint16_t sandbox = 0;
  std::uint16_t yield_to_others = 0;
  std::uint16_t begins_sum = 0;
  std::uint16_t begins_ahead = 0;
  std::uint16_t knows_own = 0;
  std::uint16_t merges_step = 0;
  std::int32_t gpu_memory_percent = 0;
};

constexpr double kNoAccuracy = -1;

struct ReplyBody {
  Header header;
  std::int64_t samples = 0;
  double loss_sum = 0;
  double seconds = 0;
  double bits_per_byte = 0;
  std::int64_t evaluated_bytes = 0;
  double accuracy = kNoAccuracy;
  std::uint64_t parameter_count = 0;
  std::int64_t optimizer_vectors = 0;
  std::int64_t stepped_bucket = kNoBucket;
};
static_assert(std::is_trivially_copyable_v<RequestBody> && std::is_trivially_copyable_v<ReplyBody>);
static_assert(sizeof(RequestBody) + kTextBytesMax <= kMessageBytesMax);
static_assert(sizeof(ReplyBody) + kTextBytesMax <= kMessageBytesMax);

template <typename Body>
std::string to_bytes(Body body, Kind kind, std::uint64_t sequence, std::string_view text) {
  text = text.substr(0, kTextBytesMax);
  body.header.kind = static_cast<std::uint16_t>(kind);
  body.header.sequence = sequence;
  body.header.text_bytes = static_cast<std::uint32_t>(text.size());
  std::string bytes(sizeof body, '\0');
  std::memcpy(bytes.data(), &body, sizeof body);
  return bytes.append(text);
}

template <typename Body>
Result<Body> from_bytes(std::span<const std::uint8_t> bytes, Kind kind, std::string& text) {
  Header header;
  if (bytes.size() < sizeof header) return Error{ErrorCode::corrupt, "message is shorter than its header"};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic) return Error{ErrorCode::corrupt, "message does not begin with the link's mark"};
  if (header.version != kLinkVersion) {
    return Error{ErrorCode::unsupported, fmt::format("the other end speaks version {} of the trainer link, this one "
                                                     "version {}: restart starlingd after an upgrade",
                                                     header.version, kLinkVersion)};
  }
  if (header.kind != static_cast<std::uint16_t>(kind)) return Error{ErrorCode::corrupt, "message of the wrong kind"};
  Body body;
  if (bytes.size() < sizeof body || header.text_bytes > kTextBytesMax ||
      bytes.size() != sizeof body + header.text_bytes) {
    return Error{ErrorCode::corrupt, fmt::format("message of {} bytes has the wrong length", bytes.size())};
  }
  std::memcpy(&body, bytes.data(), sizeof body);
  text.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof body, header.text_bytes);
  return body;
}

bool is_sane(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

std::string_view to_string(Command command) {
  switch (command) {
    case Command::start:
      return "start the trainer";
    case Command::train_batch:
      return "compute a micro-batch";
    case Command::step:
      return "take the optimizer step";
    case Command::evaluate:
      return "evaluate the model";
    case Command::sample_tokens:
      return "sample text";
    case Command::tokens_of_text:
      return "make words of text";
    case Command::text_of_tokens:
      return "make text of words";
  }
  return "unknown command";
}

std::string pack_tokens(std::span<const int> tokens) {
  return {reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes()};
}

Result<std::vector<int>> unpack_tokens(std::string_view packed) {
  if (packed.size() % sizeof(int) != 0) return Error{ErrorCode::corrupt, "the last word is not whole"};
  std::vector<int> tokens(packed.size() / sizeof(int));
  if (!tokens.empty()) std::memcpy(tokens.data(), packed.data(), packed.size());
  return tokens;
}

std::string encode(const Request& request) {
  RequestBody body;
  body.header.code = static_cast<std::uint32_t>(request.command);
  body.round = request.command == Command::step ? request.round : request.samples.round;
  body.first = request.samples.first;
  body.count = request.samples.count;
  body.lane = request.samples.lane;
  body.epoch = request.samples.epoch;
  body.temperature = request.temperature;
  body.tokens = request.count;
  body.memory_bytes = request.limits.memory_bytes;
  body.threads = request.limits.threads;
  body.gpu_memory_percent = request.limits.gpu_memory_percent;
  body.sandbox = request.limits.sandbox ? 1 : 0;
  body.begins_sum = request.begins_sum ? 1 : 0;
  body.begins_ahead = request.begins_ahead ? 1 : 0;
  body.knows_own = request.knows_own ? 1 : 0;
  body.merges_step = request.merges_step ? 1 : 0;
  body.yield_to_others = request.limits.yield_to_others ? 1 : 0;
  return to_bytes(body, Kind::request, request.sequence, request.text);
}

Result<Request> decode_request(std::span<const std::uint8_t> bytes) {
  Request request;
  STARLING_ASSIGN(const RequestBody body, from_bytes<RequestBody>(bytes, Kind::request, request.text));
  if (body.header.code < 1 || body.header.code > kCommands) return Error{ErrorCode::corrupt, "unknown command"};
  if (body.round < 0 || body.first < 0 || body.count < 0 || body.lane < 0 || body.epoch < wire::kNoEpoch) {
    return Error{ErrorCode::corrupt, "negative sample range"};
  }
  if (body.begins_ahead != 0 && body.round == 0) return Error{ErrorCode::corrupt, "no round is before the first"};
  if (body.tokens < 0 || body.tokens > kTokensMax || !is_sane(body.temperature)) {
    return Error{ErrorCode::corrupt, "number of words or temperature out of range"};
  }
  request.command = static_cast<Command>(body.header.code);
  if (request.command == Command::start && (body.threads < 1 || body.threads > kThreadsMax)) {
    return Error{ErrorCode::corrupt, "thread count out of range"};
  }
  if (body.gpu_memory_percent < 0 || body.gpu_memory_percent > 100) {
    return Error{ErrorCode::corrupt, "share of a graphics card's memory out of range"};
  }
  request.sequence = body.header.sequence;
  request.round = body.round;
  request.samples = {body.round, body.lane, body.first, body.count, body.epoch};
  request.begins_sum = body.begins_sum != 0;
  request.begins_ahead = body.begins_ahead != 0;
  request.knows_own = body.knows_own != 0;
  request.merges_step = body.merges_step != 0;
  request.temperature = body.temperature;
  request.count = body.tokens;
  request.limits = {body.threads, body.memory_bytes, body.gpu_memory_percent, body.sandbox != 0,
                    body.yield_to_others != 0};
  return request;
}

std::string encode(const Reply& reply) {
  ReplyBody body;
  if (!reply.status.ok()) {
    body.header.code = 1 + static_cast<std::uint32_t>(reply.status.error().code);
    return to_bytes(body, Kind::reply, reply.sequence, reply.status.error().message);
  }
  body.samples = reply.batch.samples;
  body.loss_sum = reply.batch.loss_sum;
  body.seconds = reply.batch.seconds;
  body.bits_per_byte = reply.evaluation.bits_per_byte;
  body.evaluated_bytes = reply.evaluation.bytes;
  body.accuracy = reply.evaluation.accuracy.value_or(kNoAccuracy);
  body.parameter_count = reply.layout.parameter_count;
  body.optimizer_vectors = reply.layout.optimizer_vectors;
  body.stepped_bucket = reply.stepped_bucket;
  return to_bytes(body, Kind::reply, reply.sequence, reply.text);
}

Result<Reply> decode_reply(std::span<const std::uint8_t> bytes) {
  Reply reply;
  STARLING_ASSIGN(const ReplyBody body, from_bytes<ReplyBody>(bytes, Kind::reply, reply.text));
  reply.sequence = body.header.sequence;
  if (body.header.code != 0) {
    if (body.header.code > 1 + static_cast<std::uint32_t>(ErrorCode::internal)) {
      return Error{ErrorCode::corrupt, "unknown error code"};
    }
    reply.status = Error{static_cast<ErrorCode>(body.header.code - 1), reply.text};
    return reply;
  }
  if (body.samples < 0 || body.evaluated_bytes < 0 || !std::isfinite(body.loss_sum) || !is_sane(body.seconds) ||
      !is_sane(body.bits_per_byte) || !(body.accuracy >= kNoAccuracy && body.accuracy <= 1) ||
      body.optimizer_vectors < 0 || body.optimizer_vectors > 8 || body.stepped_bucket < kNoBucket ||
      body.stepped_bucket >= static_cast<std::int64_t>(wire::kBucketsMost)) {
    return Error{ErrorCode::corrupt, "reply holds numbers out of range"};
  }
  reply.stepped_bucket = static_cast<int>(body.stepped_bucket);
  reply.batch = {body.samples, body.loss_sum, body.seconds};
  reply.evaluation = {body.bits_per_byte, body.evaluated_bytes};
  if (body.accuracy >= 0) reply.evaluation.accuracy = body.accuracy;
  reply.layout = {body.parameter_count, static_cast<int>(body.optimizer_vectors)};
  return reply;
}

}  // namespace starling::trainer_link
