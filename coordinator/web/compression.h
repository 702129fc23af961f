// Pages compressed for the way. Only those that everybody may see: the size of a compressed page tells of what is in
// it, so a page with a secret stays as it is.
#pragma once

#include "coordinator/gate/router.h"

namespace starling::web {

// Whether the request's sender says that it takes gzip (RFC 9110, 12.5.3).
bool takes_gzip(const gate::Request& request);
// The same response, smaller. Unchanged when its body is too short for that to help, or memory is.
gate::Response compressed(gate::Response response);

}  // namespace starling::web
