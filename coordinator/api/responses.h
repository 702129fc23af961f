// Errors and JSON as HTTP responses.
#pragma once

#include <string>

#include "coordinator/gate/router.h"
#include "shared/base/result.h"

namespace starling::api {

gate::Response json_response(std::string body);
// The status that fits the code, with a wire::ErrorReply.
gate::Response error_response(const Error& error);

}  // namespace starling::api
