// Passes a bounded request to cpp-httplib, which splits and decodes its target and writes the response's head, and to
// the handler that the router has for it. One adapter belongs to one worker thread.
#pragma once

#include <memory>

#include "coordinator/gate/reply.h"
#include "coordinator/gate/request_parser.h"
#include "coordinator/gate/router.h"
#include "shared/base/limited_log.h"

namespace starling::gate {

// The log lines about handlers that failed: one limit for each kind, for all adapters of a gate.
struct HandlerFailures {
  LimitedLog thrown;
  LimitedLog headers;
  LimitedLog files;
};

class HttpAdapter {
 public:
  // `router` and `failures` must outlive the adapter.
  HttpAdapter(const Router& router, const GateLimits& limits, HandlerFailures& failures);
  ~HttpAdapter();

  // Never fails: an error becomes a 4xx or 5xx.
  Reply answer(const RawRequest& request, const Caller& caller);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace starling::gate
