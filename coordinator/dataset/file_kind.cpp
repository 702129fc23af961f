#include "coordinator/dataset/file_kind.h"

#include <algorithm>
#include <array>

namespace starling::dataset {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kSaveAsText = "save it as plain text first";
constexpr std::string_view kNoText = "it has no text";

// The longer of two magics that begin alike stands first.
constexpr std::array kKinds = {
    FileKind{"\xff\xfe\0\0"sv, 0, "in UTF-32", "convert it first: iconv -f UTF-32 -t UTF-8"},
    FileKind{"\0\0\xfe\xff"sv, 0, "in UTF-32", "convert it first: iconv -f UTF-32 -t UTF-8"},
    FileKind{"\xff\xfe"sv, 0, "in UTF-16", "convert it first: iconv -f UTF-16 -t UTF-8"},
    FileKind{"\xfe\xff"sv, 0, "in UTF-16", "convert it first: iconv -f UTF-16 -t UTF-8"},
    FileKind{"\x1f\x8b"sv, 0, "compressed (gzip)", kUnpack},
    FileKind{"PK\x03\x04"sv, 0, "a ZIP archive, or a document in one", kUnpack},
    FileKind{"PK\x05\x06"sv, 0, "an empty ZIP archive", kUnpack},
    FileKind{"\xfd"
             "7zXZ\0"sv,
             0, "compressed (xz)", kUnpack},
    FileKind{"\x28\xb5\x2f\xfd"sv, 0, "compressed (zstd)", kUnpack},
    FileKind{"1AY&SY"sv, 4, "compressed (bzip2)", kUnpack},
    FileKind{"\x04\x22\x4d\x18"sv, 0, "compressed (lz4)", kUnpack},
    FileKind{"7z\xbc\xaf\x27\x1c"sv, 0, "a 7z archive", kUnpack},
    FileKind{"Rar!\x1a\x07"sv, 0, "a RAR archive", kUnpack},
    FileKind{"ustar\0"sv, 257, "a tar archive", kUnpack},
    FileKind{"ustar  \0"sv, 257, "a tar archive", kUnpack},
    FileKind{"%PDF-"sv, 0, "a PDF document", "take its text out first: pdftotext"},
    FileKind{"{\\rtf"sv, 0, "an RTF document", kSaveAsText},
    FileKind{"\xd0\xcf\x11\xe0\xa1\xb1"sv, 0, "a document of an office program", kSaveAsText},
    FileKind{"SQLite format 3\0"sv, 0, "an SQLite database", kSaveAsText},
    FileKind{"\x7f"
             "ELF"sv,
             0, "a program", kNoText},
    FileKind{"\x89PNG"sv, 0, "a PNG picture", kNoText},
    FileKind{"\xff\xd8\xff"sv, 0, "a JPEG picture", kNoText},
    FileKind{"WEBPVP8"sv, 8, "a WebP picture", kNoText},
    FileKind{"II*\0"sv, 0, "a TIFF picture", kNoText},
    FileKind{"MM\0*"sv, 0, "a TIFF picture", kNoText},
    FileKind{"ftypheic"sv, 4, "a HEIC picture", kNoText},
    FileKind{"ftypmif1"sv, 4, "a HEIF picture", kNoText},
    FileKind{"ftypavif"sv, 4, "an AVIF picture", kNoText},
    FileKind{"\0\x05\x16\x07"sv, 0, "notes of macOS about another file", kNoText},
};

}  // namespace

const FileKind* kind_of_file(std::string_view head) {
  const auto* const found = std::find_if(kKinds.begin(), kKinds.end(), [head](const FileKind& kind) {
    return head.size() >= kind.at && head.substr(kind.at).starts_with(kind.magic);
  });
  return found == kKinds.end() ? nullptr : found;
}

}  // namespace starling::dataset
