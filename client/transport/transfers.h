// States on their way between this computer and others: the downloads, the donations, and the probe of the upload that
// a download allows. Net thread only.
#pragma once

#include <asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/transport/fetch_driver.h"
#include "client/transport/peer_network.h"
#include "client/transport/state_donor.h"
#include "client/transport/switchboard.h"
#include "client/transport/upload_probe.h"
#include "shared/base/limited_log.h"

namespace starling::transport {

class Transfers {
 public:
  // The references outlive this object, and calls that wait in the event loop. `donations_max`: see PeerNetworkOptions.
  Transfers(const LinkContext& context, Switchboard& switchboard, StateSource source, std::size_t donations_max);

  // See PeerNetwork. cancel() is false when there is nothing to cancel.
  Result<FetchNumber> fetch(StateFetch fetch);
  bool cancel(FetchNumber number);

  // The coordinator, or a plan of it, has named these peers: they may have states from here.
  void name(std::span<const PeerId> peers) { donor_.name(context_.clock.now(), peers); }
  // See PeerNetwork.
  void name_newcomers(const std::optional<std::vector<PeerId>>& newcomers, std::function<void()> unnamed_asks);

  // The type of the frame is state_info or state_chunk.
  [[nodiscard]] Result<bool> wants_frame(const Link& link, const wire::FrameHeader& header) const;
  // One of those types, or state_request.
  Status frame_received(TimePoint now, Link& link, const wire::FrameHeader& header,
                        std::span<const std::uint8_t> payload);
  void input_came(TimePoint now, const Link& link);
  bool next_frame(TimePoint now, Link& link, FrameToSend& frame);
  // Whether the link holds back the rest of a state's chunk, for the sake of a round.
  bool waits(TimePoint now, const Link& link) { return donor_.waits(now, &link); }
  void link_closed(TimePoint now, const Link& link, const Error& why);

  // A round hands `bytes` to a line of this speed (0: unknown), or has ended: donations give way to it.
  void round_sends(TimePoint now, std::size_t bytes, double line_bytes_per_s) {
    donor_.round_sends(now, bytes, line_bytes_per_s);
  }
  void round_ended() { donor_.round_ended(); }

  // Lets time pass, sends requests, reports. `upload_known`: traffic has shown the upload's speed, so no probe is
  // needed.
  void service(TimePoint now, bool upload_known);
  // Bytes a second, once, when the probe is over; otherwise 0.
  double probed(TimePoint now) { return probe_.note(now, context_.moved.bytes_acknowledged); }
  [[nodiscard]] bool is_probing() const { return probe_.running(); }
  [[nodiscard]] TimePoint next_deadline() const;

  [[nodiscard]] const FrameBytes& bytes() const { return bytes_; }

 private:
  // A download, until its end is told.
  struct Fetch {
    std::unique_ptr<FetchDriver> driver;
    TimePoint progress_told{};
    bool is_over = false;
  };

  // Keeps links with the donors of all downloads.
  void want_donors();
  Status answer_request(Link& link, std::span<const std::uint8_t> payload);
  // Pumps links whose turn it is to send a state. From the event loop, because the call may come from another link's
  // pump.
  void pump_donations();
  void tend_donations(TimePoint now);
  void answer(Link& link, const wire::StateInfo& info);
  void probe_upload(TimePoint now, const StateFetch& fetch);
  // Tells of progress, or of the end: from the event loop, because callbacks may begin and cancel downloads.
  void report(TimePoint now, FetchNumber number, Fetch& fetch);
  void tell_end(FetchNumber number);

  const LinkContext& context_;
  Switchboard& switchboard_;
  LimitedLog drops_;  // lost donors, over all downloads
  std::map<FetchNumber, Fetch> fetches_;
  FetchNumber last_number_ = 0;
  StateDonor donor_;
  bool donations_posted_ = false;
  std::function<void()> unnamed_asks_;
  TimePoint unnamed_told_{};
  UploadProbe probe_;
  FrameBytes bytes_;
};

}  // namespace starling::transport
