// Compression of responses. Only public pages are compressed: the size of a compressed page reveals something about its
// content, so a page with a secret stays as it is.
#pragma once

#include "coordinator/gate/router.h"

namespace starling::web {

// Whether the client accepts gzip (RFC 9110, 12.5.3).
bool takes_gzip(const gate::Request& request);
// The response with a compressed body; unchanged if the body is too short to gain or memory is short.
gate::Response compressed(gate::Response response);

}  // namespace starling::web
