// How far apart the gradients of honest computers are, by the kind of their arithmetic: operating system, processor
// family, device and precision. The tolerance of audits follows from it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/ids.h"
#include "shared/protocol/compute_device.h"

namespace starling::core {

// "linux x86_64, cpu, fp32"; "unknown" for a member that has not told its device.
std::string numeric_class_of(const std::optional<wire::ComputeDevice>& device);

// Relative distances, in classes of a factor of the square root of two.
class Distances {
 public:
  void add(double distance);
  [[nodiscard]] std::int64_t count() const { return count_; }
  // A bound that this fraction of the distances is not above; 0: none is known.
  [[nodiscard]] double quantile(double fraction) const;

 private:
  static constexpr int kBins = 96;
  std::array<std::int64_t, kBins> bins_{};
  std::int64_t count_ = 0;
};

// A class as operators see it.
struct ClassFigures {
  std::string name;
  std::int64_t right = 0;  // rounds of its computers that were checked
  std::int64_t wrong = 0;
  double distance = 0;            // the 99.9 % quantile of its honest pairs; 0: none is known
  double tolerance = 0;           // NumericClasses::tolerance
  bool wrong_by_several = false;  // more than one of its computers was wrong
  // Its computers are wrong often, and not one of them alone: their kind may be, by a driver or a library.
  [[nodiscard]] bool is_suspicious() const { return wrong_by_several && 20 * wrong > right + wrong; }
};

class NumericClasses {
 public:
  // lowest: the tolerance for arithmetic of the run's precision, where honest computers are closer than a tenth of it.
  explicit NumericClasses(double lowest) : lowest_(lowest) {}

  // Two computers that were found to agree have computed gradients that are so far apart.
  void on_agreed(const std::string& one, const std::string& other, double distance);
  // The work of this computer, which is of this class, was found right or wrong.
  void on_checked(const std::string& of, const PeerId& peer, bool right);
  // The largest relative distance that an audit with this class bears: ten times the 99.9 % quantile of its honest
  // pairs, and no more than ten times the lowest, since pairs of liars count, too.
  [[nodiscard]] double tolerance(const std::string& of) const;

  [[nodiscard]] std::vector<ClassFigures> figures() const;

 private:
  struct Class {
    Distances distances{};
    std::int64_t right = 0;
    std::int64_t wrong = 0;
    std::optional<PeerId> first_wrong{};
    bool wrong_by_several = false;
  };
  Class& known(const std::string& of);

  double lowest_;
  std::map<std::string, Class> classes_;
};

}  // namespace starling::core
