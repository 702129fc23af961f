// The file that lists prepared shards (wire::encode_listing), and beside them the names of the classes: nothing else
// says which label is which.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/dataset/prepare.h"
#include "shared/base/result.h"

namespace starling::dataset {

// Most bytes of all names together: beside the shards they fit into a listing (wire::kListingBytesMax).
constexpr std::size_t kClassNamesBytesMax = 14 * 1024;

// invalid_argument, with the name: it is no UTF-8, or has characters that control a terminal; or all are too long.
Status check_class_names(std::span<const ImageClass> classes);

// {"classes":["cat","dog"],"data":{…}}; without classes as wire::encode_listing().
std::string encode_listing(const wire::DataOptions& data, std::span<const ImageClass> classes);
// The names in a listing, in the order of their labels, as plain_line() shows them; none where it has none. corrupt.
Result<std::vector<std::string>> class_names_of(std::string_view listing);

}  // namespace starling::dataset
