#include "client/trainer_link/channel.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

using namespace starling;
using namespace starling::trainer_link;

TEST_CASE("a message arrives whole, with the descriptor that goes along and without one") {
  const auto ends = make_channel();
  REQUIRE(ends.ok());
  const UniqueFd file(::memfd_create("shard", MFD_CLOEXEC));
  REQUIRE(::write(file.get(), "shard", 5) == 5);
  REQUIRE(send_message(ends->first.get(), "with", file.get()).ok());
  REQUIRE(send_message(ends->first.get(), "without").ok());
  UniqueFd attached;
  auto message = receive_message(ends->second.get(), &attached);
  REQUIRE(message.ok());
  CHECK(std::string(message->begin(), message->end()) == "with");
  REQUIRE(attached);
  CHECK(attached.get() != file.get());
  char content[6] = {};
  CHECK(::pread(attached.get(), content, 5, 0) == 5);
  CHECK(std::string(content) == "shard");
  UniqueFd none;
  message = receive_message(ends->second.get(), &none);
  REQUIRE(message.ok());
  CHECK(std::string(message->begin(), message->end()) == "without");
  CHECK_FALSE(none);
}

TEST_CASE("whoever expects no descriptor gets the message and nothing else") {
  const auto ends = make_channel();
  REQUIRE(ends.ok());
  REQUIRE(send_message(ends->first.get(), "reply", ends->first.get()).ok());
  const auto message = receive_message(ends->second.get());
  REQUIRE(message.ok());
  CHECK(std::string(message->begin(), message->end()) == "reply");
}

TEST_CASE("the other end's going away is an error of its own") {
  auto ends = make_channel();
  REQUIRE(ends.ok());
  ends->first.reset();
  const auto nobody = receive_message(ends->second.get());
  REQUIRE_FALSE(nobody.ok());
  CHECK(nobody.error().code == ErrorCode::not_found);
  CHECK(send_message(ends->second.get(), "anybody?").error().code == ErrorCode::unavailable);
}
