// Results of one member that are on their way straight into the output: as many at once as its link has streams.
#pragma once

#include <memory>
#include <vector>

#include "client/averaging/all_reduce.h"
#include "client/averaging/segment_table.h"

namespace starling::averaging {

class PostedReceives {
 public:
  // Null while one of this segment is under way: that is until its pointer is let go, or it is withdrawn.
  std::shared_ptr<const PostedReceive> post(SegmentIndex segment, const PostedReceive& receive);
  [[nodiscard]] bool under_way(SegmentIndex segment) const;
  void withdraw(SegmentIndex segment);
  void withdraw_all();

 private:
  struct Posted {
    SegmentIndex segment = 0;
    std::shared_ptr<PostedReceive> receive;
    [[nodiscard]] bool is_held() const { return receive.use_count() > 1; }
    [[nodiscard]] bool is_under_way() const { return is_held() && !receive->place.empty(); }
  };
  std::vector<Posted> posted_;  // those that nobody holds are used again
};

}  // namespace starling::averaging
