#include "client/averaging/posted_receives.h"

#include <algorithm>

namespace starling::averaging {

std::shared_ptr<const PostedReceive> PostedReceives::post(SegmentIndex segment, const PostedReceive& receive) {
  if (under_way(segment)) return nullptr;
  auto place = std::find_if(posted_.begin(), posted_.end(), [](const Posted& posted) { return !posted.is_held(); });
  if (place == posted_.end()) place = posted_.insert(place, {.receive = std::make_shared<PostedReceive>()});
  place->segment = segment;
  *place->receive = receive;
  return place->receive;
}

bool PostedReceives::under_way(SegmentIndex segment) const {
  return std::any_of(posted_.begin(), posted_.end(),
                     [segment](const Posted& posted) { return posted.segment == segment && posted.is_under_way(); });
}

void PostedReceives::withdraw(SegmentIndex segment) {
  for (const Posted& posted : posted_) {
    if (posted.segment == segment) posted.receive->place = {};
  }
}

void PostedReceives::withdraw_all() {
  for (const Posted& posted : posted_) posted.receive->place = {};
}

}  // namespace starling::averaging
