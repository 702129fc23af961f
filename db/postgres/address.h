// Addresses of databases as libpq reads them. Inside db/postgres only.
#pragma once

#include <string>

#include "shared/base/result.h"

namespace starling::db {

// The address with everything that it says, as libpq's options "key='value' …", over ours: a server that is silent is
// given up within seconds. invalid_argument as public_address().
Result<std::string> connection_options(const std::string& url);

}  // namespace starling::db
