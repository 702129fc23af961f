#include "coordinator/core/upload_book.h"

#include <algorithm>
#include <vector>

#include "coordinator/core/reputation.h"

namespace starling::core {
namespace {

const Seat* seat_of(std::span<const Seat> seats, const PeerId& peer) {
  const auto seat = std::find_if(seats.begin(), seats.end(), [&](const Seat& one) { return one.peer == peer; });
  return seat == seats.end() ? nullptr : &*seat;
}

}  // namespace

void UploadBook::on_report(const PeerId& reporter, const wire::RoundReport& report, std::span<const Seat> seats) {
  const Seat* own = seat_of(seats, reporter);
  if (own == nullptr || !own->voice) return;
  const auto others = static_cast<double>(report.members.size()) - 1;
  for (const wire::ReceivedRate& received : report.received) {
    const auto place = static_cast<std::size_t>(received.member);
    if (place >= report.members.size() || received.bytes_per_s <= 0) continue;
    const Seat* sender = seat_of(seats, report.members[place]);
    if (sender == nullptr || sender->account == own->account) continue;
    Figure& figure = figures_[sender->peer][own->account];
    if (figure.round <= report.round) figure = {report.round, others * received.bytes_per_s};
  }
}

void UploadBook::begin_round(RoundIndex round) {
  for (auto& [peer, figures] : figures_) {
    std::erase_if(figures, [round](const auto& entry) { return entry.second.round + kRemembered < round; });
  }
  std::erase_if(figures_, [](const auto& entry) { return entry.second.empty(); });
}

SeenUpload UploadBook::of(const PeerId& peer) const {
  const auto found = figures_.find(peer);
  if (found == figures_.end()) return {};
  std::vector<double> figures;
  for (const auto& [account, figure] : found->second) figures.push_back(figure.bytes_per_s);
  // The lower one of two in the middle.
  const auto middle = figures.begin() + static_cast<std::ptrdiff_t>((figures.size() - 1) / 2);
  std::nth_element(figures.begin(), middle, figures.end());
  return {*middle, figures.size()};
}

}  // namespace starling::core
