#include "client/daemon/average_request.h"

#include "shared/crypto/secrets.h"

namespace starling::daemon {

transport::AverageRequest average_request(const rounds::Leg& leg, TimePoint start) {
  transport::AverageRequest request;
  request.group = leg.group;
  request.self = leg.self;
  request.weight = leg.vectors.weight;
  request.draw = leg.vectors.draw;
  request.input = leg.vectors.input;
  request.output = leg.vectors.output;
  request.rest = leg.vectors.rest;
  request.center = leg.vectors.center;
  request.follows = leg.follows;
  request.start = start;
  request.engine = leg.engine;
  crypto::fill_random(request.engine.sketch_seed.bytes);
  return request;
}

}  // namespace starling::daemon
