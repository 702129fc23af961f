// Items that should go to each member next. Only positions are queued: floats are read from the vectors when a link can
// take them. Each member gets its items in this order: begin, begins of lost members, others' lost sets, inventory,
// wants, contributions to its part, results (or results before contributions), answers to its wants, seals, done, ping.
// Links that get ahead of the others rest (balance.h).
#pragma once

#include <cstdint>
#include <vector>

#include "client/averaging/balance.h"
#include "client/averaging/roster.h"
#include "client/averaging/segment_table.h"

namespace starling::averaging {

// One frame to send, by the place of its content. It holds no floats.
struct OutboxItem {
  enum class Kind : std::uint8_t {
    none,
    begin,
    lost_set,
    inventory,
    seal,
    want,
    result,
    contribution,
    done,
    listen,
    ping
  };
  Kind kind = Kind::none;
  SegmentIndex segment = 0;  // for want, result, contribution
  Rank rank = 0;             // for begin, lost set and seal: the member whose it is
};

class Outbox {
 public:
  // Contributions are sent when `contributes`. Both references outlive this object.
  Outbox(const SegmentTable& table, const Roster& roster, bool contributes);

  // Takes the next item for `to`; none when there is nothing to send.
  OutboxItem next(TimePoint now, Rank to);
  // The latest time at which wake() has something to do: links that rest may go on.
  [[nodiscard]] TimePoint wake_at() const { return balance_.wake_at(); }
  void wake(TimePoint now);
  // Whether results go before contributions, as soon as there are any. At first, contributions go first.
  void put_results_first(bool first) { results_first_ = first; }
  // The round is decided here: everything left goes out as fast as it can.
  void stop_resting();
  [[nodiscard]] bool has_ready() const { return !ready_.empty(); }
  // Members for which there may be something, each once, starting behind this member's own rank, so that not everybody
  // begins with one and the same owner.
  std::vector<Rank> take_ready();
  void touch(Rank to);
  void touch_all();

  void send_begin(Rank to) { due(to, &Lane::begin); }
  void send_done(Rank to) { due(to, &Lane::done); }
  void send_ping(Rank to) { due(to, &Lane::ping); }
  void send_inventory(Rank to) { due(to, &Lane::inventory); }
  // Sends to everybody, the lost included: that is how they learn of it. Wants and answers of the view before are
  // dropped.
  void send_inventories();
  void send_result_to_all(SegmentIndex segment);
  // This member's seal, to everybody; and the seal of `owner`, to one.
  void send_seal_to_all();
  void send_seal(Rank to, Rank owner);
  void want(Rank to, SegmentIndex segment);
  // Answers with the result of `segment` if it is held when its turn comes, otherwise with this member's contribution.
  void answer(Rank to, SegmentIndex segment);
  // `to` is out of the round and gets all results all the same, from the first one on. The results come in the order
  // given here, the answers before they are done last.
  void add_listener(Rank to);
  // The round has settled: `to` also gets the orphans that this member owns, and the done. The results of this member's
  // own part are on their way already.
  void serve_listener(Rank to, const std::vector<SegmentIndex>& orphans);
  [[nodiscard]] bool listens(Rank to) const { return lanes_[to].listens; }
  // This member is out itself: from now on it only asks for the result.
  void listen();
  // Passes on the lost set of `whose`, which may be this member, to all others.
  void send_lost_set(Rank whose);
  // Passes on the begin of `whose` to members that have no link to it.
  void relay_begin(Rank whose);
  // Passes on the begin of a member that is lost here to all others.
  void send_begin_of_lost(Rank whose);

  // Answers asked for by `to` in this view, taken or not.
  [[nodiscard]] std::size_t answers(Rank to) const { return lanes_[to].answers.segments.size(); }

 private:
  // First in, first out, without moving what is left at every step.
  struct Queue {
    std::vector<SegmentIndex> segments;
    std::size_t head = 0;
    [[nodiscard]] bool empty() const { return head == segments.size(); }
    SegmentIndex pop() { return segments[head++]; }
    void clear();
  };
  struct Lane {
    bool ready = false;
    bool begin = true;
    bool inventory = false;
    bool done = false;
    bool ping = false;
    bool listen = false;                 // this member asks it for results
    bool listens = false;                // it has asked this member for results
    std::uint32_t results_taken = 0;     // items of results_ that it has taken
    std::uint32_t relays_taken = 0;      // items of relays_ that it has taken
    std::vector<Rank> seals;             // owners whose seals it gets, the last first
    std::vector<Rank> lost_sets;         // members whose lost sets it gets, the last first
    std::vector<Rank> begins;            // lost members whose begins it gets, the last first
    SegmentIndex next_contribution = 0;  // next segment of this member's part to contribute to
    Queue wants;
    Queue answers;
  };
  void due(Rank to, bool Lane::*what);
  static std::vector<std::uint32_t> planned(const SegmentTable& table, const Roster& roster, bool contributes);
  [[nodiscard]] bool has_data(Rank to) const;
  OutboxItem next_data(Rank to, Lane& lane);
  OutboxItem next_result(Lane& lane);
  OutboxItem next_for_listener(Rank to, Lane& lane);
  OutboxItem next_round_item(TimePoint now, Rank to, Lane& lane);
  bool next_relay(Rank to, Lane& lane, OutboxItem& item);
  static OutboxItem next_of(std::vector<Rank>& ranks, OutboxItem::Kind kind);

  const SegmentTable& table_;
  const Roster& roster_;
  bool contributes_;
  bool listening_ = false;
  std::vector<Lane> lanes_;
  Balance balance_;
  bool balanced_ = true;
  bool results_first_ = false;
  std::vector<SegmentIndex> results_;  // finished here, in order; everybody gets all of them
  std::vector<Rank> relays_;
  std::vector<Rank> ready_;
};

}  // namespace starling::averaging
