// Addresses of databases as libpq reads them. Used inside db/postgres only.
#pragma once

#include <string>

#include "shared/base/result.h"

namespace starling::db {

// The address, with all its settings, as libpq's options "key='value' …" on top of our defaults, which give up a silent
// server within seconds. Error invalid_argument as for public_address().
Result<std::string> connection_options(const std::string& url);

}  // namespace starling::db
