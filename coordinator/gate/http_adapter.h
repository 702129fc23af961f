// Passes a bounded request to cpp-httplib, which splits and decodes its target and writes the response's head, and to
// the handler that the router has for it. One adapter belongs to one worker thread.
#pragma once

#include <memory>

#include "coordinator/gate/reply.h"
#include "coordinator/gate/request_parser.h"
#include "coordinator/gate/router.h"

namespace starling::gate {

class HttpAdapter {
 public:
  // `router` must outlive the adapter.
  HttpAdapter(const Router& router, const GateLimits& limits);
  ~HttpAdapter();

  // Never fails: an error becomes a 4xx or 5xx.
  Reply answer(const RawRequest& request, const Caller& caller);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace starling::gate
