#include "client/trainer_link/messages.h"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <utility>

#include "client/trainer_link/binary_fields.h"
#include "client/trainer_link/message_fields.h"
#include "shared/base/plain_text.h"

namespace starling::trainer_link {
namespace {

constexpr std::uint32_t kMagic = 0x4b4e4c54;  // "TLNK"
enum class Kind : std::uint16_t { request = 1, reply, failure };

constexpr std::array<std::string_view, kCommands> kCommandWords = {
    "start the trainer",  "compute a micro-batch", "take the optimizer step", "evaluate the model",
    "sample text",        "prepare an audit",      "audit a micro-batch",     "share memory for experts' work",
    "hold experts",       "let go of experts",     "compute a segment",       "compute for others",
    "make words of text", "make text of words",
};

template <typename Message>
std::string to_bytes(Kind kind, const Message& message) {
  std::string bytes;
  BinaryWriter writer(bytes);
  each_field(writer, Header{kMagic, kLinkVersion, static_cast<std::uint16_t>(kind)});
  each_field(writer, message);
  return bytes;
}

// Returns the message's kind, and leaves the reader behind the header.
Result<Kind> read_header(BinaryReader& reader) {
  Header header;
  each_field(reader, header);
  STARLING_TRY(reader.status());
  if (header.magic != kMagic) return Error{ErrorCode::corrupt, "message does not begin with the link's mark"};
  if (header.version != kLinkVersion) {
    return Error{ErrorCode::unsupported, fmt::format("the other end speaks version {} of the trainer link, this one "
                                                     "version {}: restart starlingd after an upgrade",
                                                     header.version, kLinkVersion)};
  }
  return static_cast<Kind>(header.kind);
}

template <typename Message>
Result<Message> read_message(BinaryReader& reader) {
  Message message;
  each_field(reader, message);
  STARLING_TRY(reader.status());
  if (!reader.rest().empty()) {
    return Error{ErrorCode::corrupt, fmt::format("message is {} bytes longer than its fields", reader.rest().size())};
  }
  return message;
}

}  // namespace

std::span<const std::string_view> words_of(Command /*command*/) { return kCommandWords; }

std::string_view to_string(Command command) { return word_of(command); }

std::string pack_tokens(std::span<const int> tokens) {
  return {reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes()};
}

Result<std::vector<int>> unpack_tokens(std::string_view packed) {
  if (packed.size() % sizeof(int) != 0) return Error{ErrorCode::corrupt, "the last word is not whole"};
  std::vector<int> tokens(packed.size() / sizeof(int));
  if (!tokens.empty()) std::memcpy(tokens.data(), packed.data(), packed.size());
  return tokens;
}

std::string encode(const Request& request) { return to_bytes(Kind::request, request); }

Result<Request> decode_request(std::span<const std::uint8_t> bytes) {
  BinaryReader reader(bytes);
  STARLING_ASSIGN(const Kind kind, read_header(reader));
  if (kind != Kind::request) return Error{ErrorCode::corrupt, "message of the wrong kind"};
  STARLING_ASSIGN(Request request, read_message<Request>(reader));
  if (request.begins_ahead && request.samples.round == 0) {
    return Error{ErrorCode::corrupt, "no round is before the first"};
  }
  return request;
}

std::string encode(const Reply& reply) {
  if (reply.status.ok()) return to_bytes(Kind::reply, reply);
  const Error& error = reply.status.error();
  return to_bytes(Kind::failure, Failure{reply.sequence, static_cast<std::uint8_t>(error.code), error.message});
}

Result<Reply> decode_reply(std::span<const std::uint8_t> bytes) {
  BinaryReader reader(bytes);
  STARLING_ASSIGN(const Kind kind, read_header(reader));
  if (kind == Kind::reply) {
    STARLING_ASSIGN(Reply reply, read_message<Reply>(reader));
    reply.device = wire::within_bounds(std::move(reply.device));
    return reply;
  }
  if (kind != Kind::failure) return Error{ErrorCode::corrupt, "message of the wrong kind"};
  STARLING_ASSIGN(Failure failure, read_message<Failure>(reader));
  Reply reply;
  reply.sequence = failure.sequence;
  reply.status = Error{static_cast<ErrorCode>(failure.code), plain_lines(failure.message)};
  return reply;
}

}  // namespace starling::trainer_link
