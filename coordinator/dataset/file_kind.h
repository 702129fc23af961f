// Tells from a file's first bytes that it is no text in UTF-8, or no picture of a kind that is read.
#pragma once

#include <cstddef>
#include <string_view>

namespace starling::dataset {

constexpr std::size_t kFileHeadBytes = 512;  // all that kind_of_file() looks at

// A kind of file that begins with bytes of its own.
struct FileKind {
  std::string_view magic;
  std::size_t at = 0;       // place of the magic in the file
  std::string_view name;    // "compressed (gzip)"; completes "it is"
  std::string_view advice;  // how its text is had, as a request: "unpack it first"
};

// The kind of the file with this head; null where its bytes are those of no kind that is known here.
const FileKind* kind_of_file(std::string_view head);

}  // namespace starling::dataset
