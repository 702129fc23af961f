// Finds pictures in folders, one for each class, and tells what was passed over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "coordinator/dataset/prepare.h"
#include "shared/base/result.h"

namespace starling::dataset {

// A picture and the place of its class among the classes.
struct LabelledImage {
  std::filesystem::path file;
  std::int32_t label = 0;
};

// The pictures of a folder, and what in it is none.
struct ImageFolders {
  std::vector<ImageClass> classes;    // in the order of their names' bytes
  std::vector<LabelledImage> images;  // class by class
  std::vector<std::string> notes;     // sentences about what was passed over
};

// The .png, .jpg, .jpeg, .jpe and .jfif files of FOLDER/CLASS/. Files and folders whose names begin with a dot are
// passed over, like other kinds, deeper folders and folders without pictures. Error invalid_argument: there are fewer
// than two classes, or names that a listing cannot hold; io.
Result<ImageFolders> find_images(const std::filesystem::path& folder);

}  // namespace starling::dataset
