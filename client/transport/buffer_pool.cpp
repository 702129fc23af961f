#include "client/transport/buffer_pool.h"

#include <utility>

namespace starling::transport {

BufferPool::Buffer BufferPool::take() {
  if (free_.empty()) {
    free_.reserve(++made_);  // so that giving back allocates nothing
    return {new std::uint8_t[bytes_], GiveBack{this}};
  }
  Buffer buffer(free_.back().release(), GiveBack{this});
  free_.pop_back();
  return buffer;
}

void BufferPool::trim() {
  made_ -= free_.size();
  free_.clear();
}

}  // namespace starling::transport
