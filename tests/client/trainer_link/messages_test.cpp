#include "client/trainer_link/messages.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "client/trainer_link/message_fields.h"
#include "tests/support/field_filler.h"

using namespace starling;
using namespace starling::trainer_link;

namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Request a_batch() {
  Request request;
  request.command = Command::train_batch;
  request.sequence = 42;
  request.samples = {7, 3, 128, 8};
  return request;
}

}  // namespace

TEST_CASE("a request arrives as it was sent") {
  const auto batch = decode_request(bytes_of(encode(a_batch())));
  REQUIRE(batch.ok());
  CHECK_FALSE(
      (batch->begins_sum || batch->begins_ahead || batch->knows_own || batch->merges_step || batch->ends_audits));
  for (bool Request::*flag : {&Request::begins_sum, &Request::begins_ahead, &Request::knows_own, &Request::merges_step,
                              &Request::ends_audits}) {
    Request request = a_batch();
    request.*flag = true;
    const auto got = decode_request(bytes_of(encode(request)));
    REQUIRE(got.ok());
    CHECK((*got).*flag);
    CHECK(got->begins_sum + got->begins_ahead + got->knows_own + got->merges_step + got->ends_audits == 1);
  }
  CHECK(batch->command == Command::train_batch);
  CHECK(batch->sequence == 42);
  CHECK(batch->samples.round == 7);
  CHECK(batch->samples.lane == 3);
  CHECK(batch->samples.first == 128);
  CHECK(batch->samples.count == 8);

  Request start;
  start.limits = {4, std::uint64_t{3} << 30, 60, false, false, false};
  start.text = std::string(kTextBytesMax, 'm');
  const auto started = decode_request(bytes_of(encode(start)));
  REQUIRE(started.ok());
  CHECK(started->limits.threads == 4);
  CHECK(started->limits.memory_bytes == std::uint64_t{3} << 30);
  CHECK(started->limits.gpu_memory_percent == 60);
  CHECK_FALSE(started->limits.sandbox);
  CHECK_FALSE(started->limits.landlock);
  CHECK_FALSE(started->limits.yield_to_others);
  CHECK(started->text == start.text);

  start.limits.gpu_memory_percent = 101;
  CHECK_FALSE(decode_request(bytes_of(encode(start))).ok());
}

TEST_CASE("a reply arrives as it was sent") {
  Reply reply;
  reply.sequence = 9;
  reply.batch = {8, 12.5, 0.25};
  reply.evaluation = {2.5, 1000};
  reply.layout = {123, 2};
  reply.text = std::string("a\0b", 3);
  reply.device = {.kind = "cuda", .count = 2, .name = "NVIDIA A40", .platform = "linux x86_64", .card_unused = "none"};
  const auto got = decode_reply(bytes_of(encode(reply)));
  REQUIRE(got.ok());
  CHECK(got->sequence == 9);
  CHECK(got->device == reply.device);
  CHECK(got->batch.loss_sum == 12.5);
  CHECK(got->evaluation.bytes == 1000);
  CHECK_FALSE(got->evaluation.accuracy);
  reply.evaluation.accuracy = 0.25;
  CHECK(decode_reply(bytes_of(encode(reply)))->evaluation.accuracy == 0.25);
  reply.evaluation.accuracy = 1.5;
  CHECK(decode_reply(bytes_of(encode(reply))).error().code == ErrorCode::corrupt);
  reply.evaluation.accuracy.reset();
  CHECK(got->layout.size() == 369);
  CHECK(got->text == reply.text);
  CHECK(got->stepped_bucket == kNoBucket);
  reply.stepped_bucket = 3;
  CHECK(decode_reply(bytes_of(encode(reply)))->stepped_bucket == 3);
  reply.stepped_bucket = 1000;
  CHECK(decode_reply(bytes_of(encode(reply))).error().code == ErrorCode::corrupt);

  reply.status = Error{ErrorCode::resource_exhausted, "no memory"};
  const auto failed = decode_reply(bytes_of(encode(reply)));
  REQUIRE(failed.ok());
  REQUIRE_FALSE(failed->status.ok());
  CHECK(failed->status.error().code == ErrorCode::resource_exhausted);
  CHECK(failed->status.error().message == "no memory");
}

TEST_CASE("every described field arrives, and a message has one form only") {
  const std::string bytes = encode(testing::filled<Request>());
  const auto request = decode_request(bytes_of(bytes));
  REQUIRE(request.ok());
  CHECK(encode(*request) == bytes);
  CHECK(request->command == Command::text_of_tokens);
  CHECK((request->samples.round > 0 && request->samples.epoch > 0 && request->round > 0 && request->count > 0));
  CHECK(request->temperature > 0);
  CHECK(request->text == "text");

  const std::string answer = encode(testing::filled<Reply>());
  const auto reply = decode_reply(bytes_of(answer));
  REQUIRE(reply.ok());
  CHECK(encode(*reply) == answer);
  CHECK((reply->batch.seconds > 0 && reply->evaluation.bits_per_byte > 0 && reply->evaluation.accuracy > 0));
  CHECK(reply->layout.size() > reply->layout.parameter_count);
}

TEST_CASE("each command arrives, and the next number is none") {
  for (std::size_t number = 0; number < kCommands; ++number) {
    Request request;
    request.command = static_cast<Command>(number);
    CHECK(decode_request(bytes_of(encode(request))).value().command == request.command);
  }
  Request unknown;
  unknown.command = static_cast<Command>(kCommands);
  CHECK(decode_request(bytes_of(encode(unknown))).error().code == ErrorCode::corrupt);
}

TEST_CASE("every message fits into its bound, with a text of any length") {
  const std::string longest(2 * kTextBytesMax, 'x');
  Request request = testing::filled<Request>();
  request.text = longest;
  Reply reply = testing::filled<Reply>();
  reply.text = longest;
  Reply failure;
  failure.status = Error{ErrorCode::internal, longest};
  for (const std::string& bytes : {encode(request), encode(reply), encode(failure)}) {
    CHECK(bytes.size() > kTextBytesMax);
    CHECK(bytes.size() <= kMessageBytesMax);
  }
  CHECK(decode_reply(bytes_of(encode(failure)))->status.error().message == longest.substr(0, kTextBytesMax));
}

TEST_CASE("what a project's program says when it fails is plain, and tokens are not touched") {
  Reply failure;
  failure.status = Error{ErrorCode::internal, "raise\x1b[2J\u202e"};
  CHECK(decode_reply(bytes_of(encode(failure)))->status.error().message == "raise?[2J");
  Reply reply = testing::filled<Reply>();
  reply.text = pack_tokens(std::vector<int>{27, 0x9b, 10});
  CHECK(decode_reply(bytes_of(encode(reply)))->text == reply.text);
}

TEST_CASE("what a trainer says of its device is plain") {
  Reply reply = testing::filled<Reply>();
  reply.device.name = "card\x1b[2J\n";
  CHECK(decode_reply(bytes_of(encode(reply)))->device.name == "card?[2J ");
}

TEST_CASE("a batch ahead of the first round is refused, and an error that nobody knows") {
  Request request = a_batch();
  request.begins_ahead = true;
  request.samples.round = 0;
  CHECK(decode_request(bytes_of(encode(request))).error().code == ErrorCode::corrupt);
  Reply failure;
  failure.status = Error{static_cast<ErrorCode>(static_cast<int>(ErrorCode::internal) + 1), "?"};
  CHECK(decode_reply(bytes_of(encode(failure))).error().code == ErrorCode::corrupt);
}

TEST_CASE("messages that are cut, longer, of another kind or another version are refused") {
  const std::string good = encode(a_batch());
  for (std::size_t length = 0; length < good.size(); ++length) {
    CHECK_FALSE(decode_request(bytes_of(good.substr(0, length))).ok());
  }
  CHECK_FALSE(decode_request(bytes_of(good + "x")).ok());
  CHECK_FALSE(decode_reply(bytes_of(good)).ok());
  std::string newer = good;
  newer[4] = static_cast<char>(kLinkVersion + 1);
  const auto refused = decode_request(bytes_of(newer));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::unsupported);
}

TEST_CASE("words arrive as they were sent, and half a word does not") {
  const std::vector<int> tokens = {0, 70'000, -1};
  CHECK(unpack_tokens(pack_tokens(tokens)).value() == tokens);
  CHECK(unpack_tokens("")->empty());
  CHECK_FALSE(unpack_tokens(std::string(7, 'x')).ok());
}

TEST_CASE("values that no peer would send are refused") {
  Request request = a_batch();
  request.samples.count = -1;
  CHECK_FALSE(decode_request(bytes_of(encode(request))).ok());
  request = a_batch();
  request.command = Command::sample_tokens;
  request.count = kTokensMax + 1;
  CHECK_FALSE(decode_request(bytes_of(encode(request))).ok());
  request.count = 1;
  request.temperature = -1;
  CHECK_FALSE(decode_request(bytes_of(encode(request))).ok());
  Reply reply;
  reply.batch.loss_sum = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(decode_reply(bytes_of(encode(reply))).ok());
  request = a_batch();
  request.limits.threads = 0;
  CHECK_FALSE(decode_request(bytes_of(encode(request))).ok());
}

TEST_CASE("random bytes never decode into something out of bounds") {
  std::mt19937_64 random(1);
  const std::string good = encode(a_batch());
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (int flips = 0; flips < 4; ++flips) bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto request = decode_request(bytes_of(bytes));
    if (!request.ok()) continue;
    CHECK(encode(*request) == bytes);
    CHECK(request->samples.count >= 0);
    CHECK(request->count <= kTokensMax);
    CHECK(request->text.size() <= kTextBytesMax);
  }
}
