// The calls by which a micro-batch's tokens get through cells that other volunteers hold. An *exchange* is one way, of
// all tokens through all cells that they need at once; its *parts* are the tokens of one cell each. A part is sent to
// the holder that is expected to answer first. If that one refuses, fails, or does not answer when it should, the part
// goes to another one, as long as the exchange has time left; the first answer counts.
//
// An exchange ends when all its parts are answered or lost, or when its time is over. One that needs only some of the
// answers for each token ends earlier (Learning@home, arXiv 2002.04013, section 3.1: mixtures are formed over the
// experts that have answered): once each token has enough, it waits for the others half as long again as it has waited
// so far.
//
// Decides, and sends nothing. Pure; single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "client/routing/holders.h"
#include "shared/base/clock.h"

namespace starling::routing {

using ExchangeId = std::int64_t;

class CallBook {
 public:
  // `holders` outlives the book.
  explicit CallBook(Holders& holders) : holders_(holders) {}

  struct Part {
    wire::CellIndex cell = 0;
    std::int64_t units = 0;              // tokens, each as often as experts of the cell see it
    std::vector<std::int32_t> tokens{};  // its places in the micro-batch, each once
    std::optional<PeerId> rather{};      // the holder that has kept this part's input
  };
  struct Terms {
    std::int32_t tokens = 0;  // in the micro-batch
    int answers_min = 1;      // answered parts that a token needs, or all it has; 0: none, but all are waited for
    Duration budget{};        // from now on
    // A part goes to another holder only if the first one has refused it, so that no two compute it.
    bool once = false;
  };
  // Begins an exchange. Sends are due at once.
  ExchangeId begin(TimePoint now, const Terms& terms, std::vector<Part> parts);

  struct Send {
    ExchangeId exchange = 0;
    std::size_t part = 0;
    PeerId holder;
    Duration budget{};  // the answer is of use within this time
  };
  // Returns the calls that are to be sent now, each once.
  [[nodiscard]] std::vector<Send> take_sends();

  // Each of these may come late, or twice: it changes nothing then. on_answer returns whether the answer is the one
  // that counts.
  bool on_answer(TimePoint now, ExchangeId exchange, std::size_t part, const PeerId& holder);
  void on_refused(TimePoint now, ExchangeId exchange, std::size_t part, const PeerId& holder, Duration not_for);
  void on_failed(TimePoint now, ExchangeId exchange, std::size_t part, const PeerId& holder);
  // The link with a holder is gone: all calls to it have failed.
  void on_gone(TimePoint now, const PeerId& holder);
  void on_timer(TimePoint now);
  [[nodiscard]] TimePoint next_deadline() const;

  struct Ended {
    ExchangeId exchange = 0;
    bool enough = false;                             // each token has as many answers as it needs
    std::vector<std::optional<PeerId>> answered_by;  // by part; nothing: it is lost
  };
  // Returns exchanges that have ended since the last call.
  [[nodiscard]] std::vector<Ended> take_ended();
  // Ends an exchange that nobody needs any more, without a word.
  void drop(TimePoint now, ExchangeId exchange);

 private:
  struct Progress {
    Part part;
    std::vector<Holders::Sent> open;
    std::set<PeerId> tried;
    std::optional<PeerId> answered_by;
    TimePoint again_at = kNever;  // another holder is looked for then
    bool is_lost = false;         // nobody is left who could answer it
    [[nodiscard]] bool is_over() const { return answered_by.has_value() || is_lost; }
  };
  struct Exchange {
    Terms terms;
    TimePoint began{};
    TimePoint ends_at{};
    std::vector<Progress> parts;
    std::vector<std::int32_t> needed;  // by token: answers that it still needs
    std::int32_t tokens_short = 0;     // tokens that need more
    std::size_t parts_left = 0;
  };
  using Entry = std::map<ExchangeId, Exchange>::iterator;

  void send(TimePoint now, ExchangeId id, Exchange& exchange, std::size_t part);
  // When an open call's part goes to another holder.
  [[nodiscard]] TimePoint late_at(const Exchange& exchange, const Holders::Sent& call) const;
  // Takes the call out of the open ones, and returns it; nothing if it is not one of them.
  std::optional<Holders::Sent> close(ExchangeId id, std::size_t part, const PeerId& holder);
  void on_no_answer(TimePoint now, ExchangeId id, std::size_t part);
  static void lose(Exchange& exchange, std::size_t part);
  static void count_answer(TimePoint now, Exchange& exchange, const Part& part);
  void end_if_over(TimePoint now, ExchangeId id);
  void end(TimePoint now, Entry entry);

  Holders& holders_;
  std::map<ExchangeId, Exchange> exchanges_;
  ExchangeId next_ = 1;
  std::vector<Send> sends_;
  std::vector<Ended> ended_;
};

}  // namespace starling::routing
