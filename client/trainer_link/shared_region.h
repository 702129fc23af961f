// The memory that daemon and trainer share: [parameters | optimizer vectors], a micro-batch's gradient, the step
// journal and, in runs with local steps, the volunteer's own [parameters | inner optimizer's vectors]. It belongs to
// the daemon and outlives every child. Its size is sealed, so neither end can take pages away from the other.
#pragma once

#include <cstddef>
#include <span>

#include "client/optim/step_journal.h"
#include "client/session/trainer.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"

namespace starling::trainer_link {

class SharedRegion {
 public:
  // Makes a new region, all zero. local_floats: wire::local_state_size. resource_exhausted when the machine lacks that
  // much memory.
  static Result<SharedRegion> create(const session::StateLayout& layout, std::size_t local_floats = 0);
  // Maps a region that another process made. corrupt when it does not have this layout.
  static Result<SharedRegion> attach(int fd, const session::StateLayout& layout, std::size_t local_floats = 0);

  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&&) = delete;
  ~SharedRegion();

  [[nodiscard]] const session::StateLayout& layout() const { return layout_; }
  [[nodiscard]] std::span<float> state() const;
  [[nodiscard]] std::span<float> gradient() const;  // parameter_count floats
  [[nodiscard]] optim::StepJournal& journal() const;
  [[nodiscard]] std::span<float> local() const;  // local_floats
  // Descriptor for the child. Invalid in a region that was attached.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  SharedRegion(UniqueFd fd, std::byte* base, const session::StateLayout& layout, std::size_t local_floats);
  static Result<SharedRegion> map(int fd, UniqueFd owned, const session::StateLayout& layout, std::size_t local_floats);

  UniqueFd fd_;
  std::byte* base_ = nullptr;
  session::StateLayout layout_;
  std::size_t local_floats_ = 0;
};

}  // namespace starling::trainer_link
