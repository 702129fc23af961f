// Runs one state download over the links: passes frames, losses and time to the StateFetcher, and its requests to the
// donors. Net thread only.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "client/transport/link.h"
#include "client/transport/peer_network.h"
#include "client/transport/state_fetcher.h"
#include "shared/base/limited_log.h"

namespace starling::transport {

class FetchDriver {
 public:
  using LinkTo = std::function<Link*(const PeerId&)>;

  // `fetch` has at least one donor and an `out` of a possible size.
  FetchDriver(TimePoint now, StateFetch fetch, LinkTo link_to, LimitedLog& drops);

  // Call it for a donor that cannot be dialled and has no link: the donor is dropped.
  void give_up_on(TimePoint now, const PeerId& donor, const std::string& why);

  [[nodiscard]] bool wants_frame(const Link& link, const wire::FrameHeader& header) const;
  Status frame_received(TimePoint now, const Link& link, const wire::FrameHeader& header,
                        std::span<const std::uint8_t> payload);
  void input_came(TimePoint now, const Link& link);
  void link_closed(TimePoint now, const Link& link, const Error& why);

  // Lets time pass and sends requests. Call after every event.
  void service(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const { return fetcher_.next_deadline(); }

  [[nodiscard]] const StateFetch& request() const { return fetch_; }
  [[nodiscard]] const std::optional<Status>& outcome() const { return fetcher_.outcome(); }
  [[nodiscard]] StateProgress progress() const;

 private:
  struct Donor {
    PeerId peer;
    const Link* link = nullptr;  // the link that requests went out on
    int failed_dials = 0;
    bool drop_logged = false;
  };

  [[nodiscard]] std::optional<StateFetcher::Donor> donor_at(const PeerId& peer) const;

  StateFetch fetch_;
  LinkTo link_to_;
  LimitedLog& drops_;  // outlives this object
  std::vector<Donor> donors_;
  std::unordered_map<PeerId, StateFetcher::Donor> by_peer_;
  StateFetcher fetcher_;
  std::int64_t bytes_received_ = 0;
};

}  // namespace starling::transport
