#include "coordinator/core/upload_book.h"

#include <algorithm>

#include "coordinator/core/reputation.h"
#include "shared/swarm/witnesses.h"

namespace starling::core {

void UploadBook::on_report(const PeerId& reporter, const wire::RoundReport& report, std::span<const Seat> seats) {
  const auto own = std::find_if(seats.begin(), seats.end(), [&](const Seat& seat) { return seat.peer == reporter; });
  if (own == seats.end() || !own->voice || report.received.empty()) return;
  const auto told_about = swarm::told_about(report.group, static_cast<std::size_t>(own - seats.begin()), seats.size());
  const double others = static_cast<double>(seats.size()) - 1;
  for (const wire::ReceivedRate& received : report.received) {
    const auto place = static_cast<std::size_t>(received.member);
    const bool is_witness = std::find(told_about.begin(), told_about.end(), place) != told_about.end();
    // Reports of decided rounds come unchecked: they may name others, or in another order.
    if (!is_witness || place >= report.members.size() || report.members[place] != seats[place].peer) continue;
    if (!(received.bytes_per_s > 0) || seats[place].account == own->account) continue;
    std::vector<Figure>& figures = figures_[seats[place].peer];
    auto figure =
        std::find_if(figures.begin(), figures.end(), [&](const Figure& one) { return one.account == own->account; });
    if (figure == figures.end() && figures.size() < kFiguresMax) figure = figures.insert(figure, Figure{});
    if (figure == figures.end()) {
      figure = std::min_element(figures.begin(), figures.end(),
                                [](const Figure& a, const Figure& b) { return a.round < b.round; });
    }
    if (figure->round <= report.round) *figure = {own->account, report.round, others * received.bytes_per_s};
  }
}

void UploadBook::begin_round(RoundIndex round) {
  for (auto& [peer, figures] : figures_) {
    std::erase_if(figures, [round](const Figure& figure) { return figure.round + kRemembered < round; });
  }
  std::erase_if(figures_, [](const auto& entry) { return entry.second.empty(); });
}

SeenUpload UploadBook::of(const PeerId& peer) const {
  const auto found = figures_.find(peer);
  if (found == figures_.end()) return {};
  std::vector<double> rates;
  for (const Figure& figure : found->second) rates.push_back(figure.bytes_per_s);
  std::sort(rates.begin(), rates.end());
  return {rates[(rates.size() - 1) / 2], rates[2 * rates.size() / 3], rates.size()};
}

}  // namespace starling::core
