// Errors and JSON as HTTP responses.
#pragma once

#include <string>

#include "coordinator/gate/router.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::api {

gate::Response json_response(std::string body);
// The status that fits the code, with a wire::ErrorReply.
gate::Response error_response(const Error& error);
// 429: the caller has used up its allowance, and may come again after `wait`.
gate::Response too_many_requests(const Error& error, Duration wait);
// 503: not now; it is worth asking again after `wait`.
gate::Response come_later(const Error& error, Duration wait);
// A store's error in a form for strangers: a failure of our own disk or database is "unavailable, try again" and names
// neither path nor statement (the server's own look at the database logs those). Answers about the request itself stay.
Error told(const Error& error);

}  // namespace starling::api
