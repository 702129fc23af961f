#include "coordinator/api/responses.h"

#include <cmath>
#include <string>

#include "shared/protocol/error_reply.h"

namespace starling::api {
namespace {

constexpr const char* kRetryAfterSeconds = "5";

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::corrupt:
    case ErrorCode::unsupported:
      return 400;
    case ErrorCode::unauthenticated:
      return 401;
    case ErrorCode::permission_denied:
      return 403;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::already_exists:
      return 409;
    case ErrorCode::failed_precondition:
      return 412;
    case ErrorCode::resource_exhausted:
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
      return 503;
    case ErrorCode::io:
    case ErrorCode::internal:
      return 500;
  }
  return 500;
}

gate::Response refusal(int status, const Error& error) {
  gate::Response response =
      json_response(wire::encode(wire::ErrorReply{std::string(to_string(error.code)), error.message}));
  response.status = status;
  return response;
}

gate::Response refused_for(int status, const Error& error, Duration wait) {
  gate::Response response = refusal(status, error);
  response.headers.emplace_back("Retry-After", std::to_string(static_cast<std::int64_t>(std::ceil(to_seconds(wait)))));
  return response;
}

}  // namespace

gate::Response json_response(std::string body) {
  gate::Response response;
  response.body = std::move(body);
  response.headers = {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
  return response;
}

gate::Response error_response(const Error& error) {
  gate::Response response = refusal(status_of(error.code), error);
  if (response.status == 503) response.headers.emplace_back("Retry-After", kRetryAfterSeconds);
  return response;
}

gate::Response too_many_requests(const Error& error, Duration wait) { return refused_for(429, error, wait); }
gate::Response come_later(const Error& error, Duration wait) { return refused_for(503, error, wait); }

Error told(const Error& error) {
  switch (error.code) {
    case ErrorCode::corrupt:
    case ErrorCode::io:
    case ErrorCode::internal:
    case ErrorCode::unsupported:
    case ErrorCode::resource_exhausted:
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
      return {ErrorCode::unavailable, "the project's database can not be used at the moment; try again later"};
    default:
      return error;
  }
}

}  // namespace starling::api
