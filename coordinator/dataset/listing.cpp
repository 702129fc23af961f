#include "coordinator/dataset/listing.h"

#include <fmt/core.h>

#include <utility>

#include "shared/base/plain_text.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::dataset {

Status check_class_names(std::span<const ImageClass> classes) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    bytes += classes[i].name.size() + 3;  // quotes and a comma
    if (is_plain_line(classes[i].name)) continue;
    return Error{ErrorCode::invalid_argument,
                 fmt::format("name the classes: the name of '{}', folder {} of {}, is no UTF-8, or has characters that "
                             "control a terminal or the direction of text; rename it",
                             plain_line(classes[i].name), i + 1, classes.size())};
  }
  if (bytes <= kClassNamesBytesMax) return {};
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("name the classes: the names of {} folders take {} bytes in the listing, and {} are the most; "
                  "give them shorter names",
                  classes.size(), bytes, kClassNamesBytesMax)};
}

std::string encode_listing(const wire::DataOptions& data, std::span<const ImageClass> classes) {
  const std::string shards = wire::encode_listing(data);
  if (classes.empty()) return shards;
  wire::JsonWriter names;
  names.open("", '[');
  for (const ImageClass& of_images : classes) names.text("", of_images.name);
  names.close(']');
  return fmt::format("{{\"classes\":{},{}", names.str(), std::string_view(shards).substr(1));
}

Result<std::vector<std::string>> class_names_of(std::string_view listing) {
  using Names = std::vector<std::string>;
  auto all = wire::decode_json<Names>(
      listing, "listing of shards", wire::kListingBytesMax, [](wire::JsonReader& reader, Names& names) {
        if (!reader.present("classes")) return;
        reader.list("classes", kClassNamesBytesMax,
                    [&names](wire::JsonReader& item) { item.text("", names.emplace_back(), kClassNamesBytesMax); });
      });
  if (!all.ok()) return all;
  for (std::string& name : *all) name = plain_line(name);  // listings of before have names that are refused today
  return all;
}

}  // namespace starling::dataset
