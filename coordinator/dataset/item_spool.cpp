#include "coordinator/dataset/item_spool.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "coordinator/dataset/digest_file.h"
#include "shared/base/os_error.h"
#include "shared/base/verify.h"

namespace starling::dataset {
namespace {

constexpr std::size_t kBlockBytes = 1 << 20;

Result<UniqueFd> nameless_file(const std::filesystem::path& folder) {
  std::string name = (folder / "spool-XXXXXX").string();
  UniqueFd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd || ::unlink(name.c_str()) != 0) return os_error("create", name, errno);
  return fd;
}

Status write_at(int fd, std::string_view bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return os_error("write", "the items on their way into shards", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
  return {};
}

Status copy_bytes(int from, std::int64_t offset, std::int64_t bytes, DigestFile& to) {
  std::string block(std::min(kBlockBytes, static_cast<std::size_t>(bytes)), '\0');
  while (bytes > 0) {
    const auto wanted = std::min(block.size(), static_cast<std::size_t>(bytes));
    const ssize_t got = ::pread(from, block.data(), wanted, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return os_error("read", "the items on their way into shards", got < 0 ? errno : EIO);
    STARLING_TRY(to.write(std::string_view(block).substr(0, static_cast<std::size_t>(got))));
    offset += got;
    bytes -= got;
  }
  return {};
}

}  // namespace

Result<ItemSpool> ItemSpool::create(const std::filesystem::path& folder, std::vector<wire::TensorInfo> rows) {
  std::vector<Column> columns;
  for (wire::TensorInfo& row : rows) {
    auto row_bytes = static_cast<std::int64_t>(wire::bytes_of(row.type));
    for (const std::int64_t side : row.shape) row_bytes *= side;
    Column& column = columns.emplace_back(Column{std::move(row), row_bytes});
    STARLING_ASSIGN(column.fd, nameless_file(folder));
  }
  return ItemSpool(std::move(columns));
}

Status ItemSpool::append(std::size_t tensor, std::string_view rows) {
  Column& column = columns_[tensor];
  column.waiting += rows;
  column.bytes += static_cast<std::int64_t>(rows.size());
  return column.waiting.size() < kBlockBytes ? Status() : flush(column);
}

Status ItemSpool::flush(Column& column) {
  const auto at = column.bytes - static_cast<std::int64_t>(column.waiting.size());
  STARLING_TRY(write_at(column.fd.get(), column.waiting, at));
  column.waiting.clear();
  return {};
}

std::int64_t ItemSpool::item_bytes() const {
  std::int64_t bytes = 0;
  for (const Column& column : columns_) bytes += column.row_bytes;
  return bytes;
}

Result<wire::Artefact> ItemSpool::write_file(const OutFolder& out, const CutOptions& options, std::int64_t first,
                                             std::int64_t items) {
  std::vector<wire::TensorInfo> tensors;
  for (const Column& column : columns_) {
    tensors.push_back(column.row);
    tensors.back().shape.insert(tensors.back().shape.begin(), items);
  }
  for (const CommonTensor& common : options.common) {
    tensors.push_back({common.name, wire::TensorType::u8, {static_cast<std::int64_t>(common.bytes.size())}});
  }
  STARLING_ASSIGN(DigestFile file, DigestFile::create(out.path()));
  STARLING_TRY(file.write(wire::encode_tensor_head(tensors)));
  for (const Column& column : columns_) {
    STARLING_TRY(copy_bytes(column.fd.get(), first * column.row_bytes, items * column.row_bytes, file));
  }
  for (const CommonTensor& common : options.common) {
    STARLING_TRY(file.write({reinterpret_cast<const char*>(common.bytes.data()), common.bytes.size()}));
  }
  return file.finish();
}

Result<wire::DataOptions> ItemSpool::cut(const OutFolder& out, const CutOptions& options, Progress& progress) {
  for (Column& column : columns_) {
    VERIFY(column.bytes == items() * column.row_bytes);
    STARLING_TRY(flush(column));
  }
  const auto wanted = static_cast<std::int64_t>(std::ceil(static_cast<double>(items()) * options.held_out_fraction));
  const std::int64_t held_out = std::min(wanted, options.held_out_max);
  const std::int64_t train = items() - held_out;
  if (held_out < 1 || train < 1) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("cut {} items into shards: there are too few to train on some and hold others out", items())};
  }
  const std::int64_t shard_items = std::max<std::int64_t>(1, options.shard_bytes / item_bytes());
  const std::int64_t shards = (train + shard_items - 1) / shard_items;
  if (shards > static_cast<std::int64_t>(wire::kShardsMax)) {
    const std::int64_t enough = (train / static_cast<std::int64_t>(wire::kShardsMax) + 1) * item_bytes();
    return Error{ErrorCode::invalid_argument,
                 fmt::format("cut {} items into shards: they would be {}, and a manifest names at most {}; use "
                             "--shard-mb {}",
                             items(), shards, wire::kShardsMax, enough / 1'000'000 + 1)};
  }
  wire::DataOptions data;
  data.kind = options.kind;
  progress.begin("writing shards", shards, "files");
  for (std::int64_t i = 0; i < shards; ++i) {
    const std::int64_t first = train * i / shards;
    const std::int64_t count = train * (i + 1) / shards - first;
    STARLING_ASSIGN(const wire::Artefact file, write_file(out, options, first, count));
    data.shards.push_back({file, count});
    progress.advance_to(i + 1);
  }
  STARLING_ASSIGN(data.validation, write_file(out, options, train, held_out));
  data.validation_items = held_out;
  return data;
}

}  // namespace starling::dataset
