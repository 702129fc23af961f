// Errors, joining and renewing; heartbeats are in messages.cpp.
#include <cstdint>

#include "shared/protocol/messages.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::wire {
namespace {

constexpr std::int64_t kUnixMsMax = std::int64_t{1} << 48;
constexpr std::size_t kPemBytesMax = 16 * 1024;
constexpr std::size_t kTokenBytesMax = 128;
constexpr std::size_t kMessageBytesMax = 2048;

}  // namespace

std::string encode(const ErrorReply& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.text("code", message.code);
  writer.text("error", message.message);
  writer.close('}');
  return std::move(writer.str());
}

std::string encode(const JoinRequest& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.integer("protocol", message.protocol);
  writer.text("client_version", message.client_version);
  writer.text("invite", message.invite);
  writer.text("display_name", message.display_name);
  writer.text("csr_pem", message.csr_pem);
  if (!message.password.empty()) writer.text("password", message.password);
  if (!message.email.empty()) writer.text("email", message.email);
  if (!message.device_token.empty()) writer.text("device_token", message.device_token);
  writer.close('}');
  return std::move(writer.str());
}

std::string encode(const JoinReply& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.integer("account_id", message.account_id);
  writer.text("peer_id", message.peer_id.hex());
  writer.text("project_name", message.project_name);
  writer.text("certificate_pem", message.certificate_pem);
  writer.text("manifest_public_key", message.manifest_public_key);
  writer.integer("server_unix_ms", message.server_unix_ms);
  if (!message.display_name.empty()) writer.text("display_name", message.display_name);
  writer.close('}');
  return std::move(writer.str());
}

std::string encode(const RenewRequest& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.text("csr_pem", message.csr_pem);
  if (!message.device_token.empty()) writer.text("device_token", message.device_token);
  writer.close('}');
  return std::move(writer.str());
}

std::string encode(const RenewReply& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.text("certificate_pem", message.certificate_pem);
  writer.integer("server_unix_ms", message.server_unix_ms);
  writer.close('}');
  return std::move(writer.str());
}

Result<ErrorReply> decode_error_reply(std::string_view json) {
  return decode_json<ErrorReply>(json, "error reply", kJsonBytesMax, [](JsonReader& reader, ErrorReply& message) {
    reader.text("code", message.code, 64);
    reader.text("error", message.message, kMessageBytesMax);
  });
}

Result<JoinRequest> decode_join_request(std::string_view json) {
  return decode_json<JoinRequest>(json, "join request", kJsonBytesMax, [](JsonReader& reader, JoinRequest& message) {
    read_int(reader, "protocol", message.protocol, 1, 1000);
    reader.text("client_version", message.client_version, kNameBytesMax);
    reader.text("invite", message.invite, kTokenBytesMax);
    reader.text("display_name", message.display_name, kEmailBytesMax);
    reader.text("csr_pem", message.csr_pem, kPemBytesMax);
    if (reader.present("password")) reader.text("password", message.password, kPasswordBytesMax);
    if (reader.present("email")) reader.text("email", message.email, kEmailBytesMax);
    if (reader.present("device_token")) reader.text("device_token", message.device_token, kTokenBytesMax);
  });
}

Result<JoinReply> decode_join_reply(std::string_view json) {
  return decode_json<JoinReply>(json, "join reply", kReplyBytesMax, [](JsonReader& reader, JoinReply& message) {
    reader.integer("account_id", message.account_id, 0, INT64_MAX);
    read_id(reader, "peer_id", message.peer_id);
    reader.text("project_name", message.project_name, kNameBytesMax);
    reader.text("certificate_pem", message.certificate_pem, kPemBytesMax);
    reader.text("manifest_public_key", message.manifest_public_key, kPemBytesMax);
    reader.integer("server_unix_ms", message.server_unix_ms, 0, kUnixMsMax);
    if (reader.present("display_name")) reader.text("display_name", message.display_name, kNameBytesMax);
  });
}

Result<RenewRequest> decode_renew_request(std::string_view json) {
  return decode_json<RenewRequest>(json, "renew request", kJsonBytesMax, [](JsonReader& reader, RenewRequest& message) {
    reader.text("csr_pem", message.csr_pem, kPemBytesMax);
    if (reader.present("device_token")) reader.text("device_token", message.device_token, kTokenBytesMax);
  });
}

Result<RenewReply> decode_renew_reply(std::string_view json) {
  return decode_json<RenewReply>(json, "renew reply", kReplyBytesMax, [](JsonReader& reader, RenewReply& message) {
    reader.text("certificate_pem", message.certificate_pem, kPemBytesMax);
    reader.integer("server_unix_ms", message.server_unix_ms, 0, kUnixMsMax);
  });
}

}  // namespace starling::wire
