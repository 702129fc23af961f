// LibTorch's exceptions as errors.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::training {

// LibTorch reports lack of memory only in its message.
inline bool tells_of_memory(std::string_view message) {
  return message.find("allocate memory") != std::string_view::npos ||
         message.find("not enough memory") != std::string_view::npos ||
         message.find("out of memory") != std::string_view::npos;
}

// Runs `body` (returning Status or a Result) with LibTorch's exceptions turned into errors.
template <typename Body>
auto guarded(const char* what, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::resource_exhausted, std::string(what) + ": out of memory"};
  } catch (const c10::Error& error) {
    const std::string why = error.what_without_backtrace();
    if (tells_of_memory(why)) return Error{ErrorCode::resource_exhausted, std::string(what) + ": out of memory"};
    return Error{ErrorCode::internal, std::string(what) + ": " + why};
  } catch (const std::exception& error) {
    return Error{ErrorCode::internal, std::string(what) + ": " + error.what()};
  }
}

}  // namespace starling::training
