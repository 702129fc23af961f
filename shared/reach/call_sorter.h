// Sorts incoming calls by their first byte: a link to this computer begins with TLS, a call to its relay with a
// greeting. One thread: that of `io`.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <functional>
#include <list>

#include "shared/base/clock.h"
#include "shared/reach/address_prefix.h"

namespace starling::reach {

class CallSorter {
 public:
  using TakeCall = std::function<void(asio::ip::tcp::socket)>;

  // Callers that have sent nothing yet: half of them from one network at most; its oldest one gives way to a new one.
  // When all places are taken, the oldest one of the most crowded network is dropped.
  static constexpr std::size_t kUnsortedMax = 64;

  // `patience` is the time that a silent caller has.
  CallSorter(asio::io_context& io, Duration patience, TakeCall link, TakeCall relay)
      : io_(io), patience_(patience), link_(std::move(link)), relay_(std::move(relay)) {}

  void take(asio::ip::tcp::socket socket);

 private:
  struct Caller;
  // Makes a place for a caller from this network.
  void make_place(const AddressPrefix& from);
  void sort(const std::shared_ptr<Caller>& caller);

  asio::io_context& io_;
  Duration patience_;
  TakeCall link_;
  TakeCall relay_;
  std::list<std::shared_ptr<Caller>> unsorted_;  // oldest first
};

}  // namespace starling::reach
