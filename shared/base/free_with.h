// A deleter of std::unique_ptr for objects of C libraries: std::unique_ptr<BIO, FreeWith<BIO_free_all>>.
#pragma once

namespace starling {

template <auto Free>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

}  // namespace starling
