// Averaging over lines that carry one way only, such as out of a NAT: nobody needs an answer, and nobody knows how many
// listen to a peer. Everybody has mass, its values and a weight. It hands an equal share of the mass to itself and to
// each of its listeners, and adds the mass that it hears; values over weight become everybody's weighted mean wherever
// messages find a way from everybody to everybody. Plain means of heard values do not become it: peers that are heard
// more count more in them. Source: Kempe, Dobra and Gehrke 2003. Pure; a peer belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "shared/swarm/group_formation.h"

namespace starling::swarm {

// Lines may lose, repeat and reorder messages. The message is not a share but the sum of all shares so far, so that the
// next message that arrives makes up for those that did not: no mass is lost, it is late (Hadjicostis, Vaidya and
// Domínguez-García, "Robust distributed average consensus via exchange of running sums", 2016).
class PushSum {
 public:
  PushSum(std::span<const double> values, double weight, std::size_t listeners);

  // Shares the mass out. Returns the message for every listener: [values | weight], the sum of everything that one of
  // them has been given so far. Valid until the next call.
  std::span<const double> push();
  void receive(PeerIndex from, std::span<const double> given);
  [[nodiscard]] std::vector<double> estimate() const;

 private:
  std::vector<double> mass_;   // [values | weight]
  std::vector<double> given_;  // sum of everything given to each listener so far
  double share_;
  std::unordered_map<PeerIndex, std::vector<double>> heard_;  // the newest message of each
};

// A few bits for every value, as codes times a scale.
struct Quantized {
  double scale = 0;
  std::vector<std::int8_t> codes;
};
// Makes codes up to 2^(bits - 1) - 1 either way; the largest magnitude gets the largest code. bits: 2 to 8.
Quantized quantize(std::span<const double> values, int bits);
// values += quantized.
void add(const Quantized& quantized, std::span<double> values);

// Push-sum with few bits a value, over lines that lose nothing. Everybody keeps a public copy ẑ of its values z, which
// its listeners have too; the message is the quantized difference between the two, which shrinks as all agree, and its
// error with it:
//   ẑ ← ẑ + Q(z - ẑ)        z_i ← z_i - ẑ_i + Σ_j a_ij ẑ_j        w_i ← Σ_j a_ij w_j
// Source: Taheri, Mokhtari, Hassani and Pedarsani, "Quantized decentralized stochastic learning over directed graphs",
// ICML 2020 (arXiv 2002.09964). If the value itself were quantized, its error would keep its size.
class QuantizedPushSum {
 public:
  struct Message {
    Quantized difference;
    double share = 0;   // a_ij of every listener
    double weight = 0;  // a_ij w_j
  };

  QuantizedPushSum(std::span<const double> values, double weight, std::size_t listeners, int bits);

  // Returns the message for every listener. Valid until the next call.
  const Message& push();
  // Takes every message of everybody who is heard, once and in order.
  void receive(PeerIndex from, const Message& message);
  [[nodiscard]] std::vector<double> estimate() const;

 private:
  std::vector<double> values_;                                 // z
  double weight_;                                              // w
  std::vector<double> copy_;                                   // ẑ
  std::unordered_map<PeerIndex, std::vector<double>> copies_;  // by peer that is heard
  int bits_;
  Message message_;
};

}  // namespace starling::swarm
