#include "coordinator/api/store_writer.h"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <vector>

namespace starling::api {

TEST_CASE("what the store refuses is tried again, and nothing overtakes it") {
  std::vector<int> written;
  int refusals = 0;
  std::promise<void> done;
  StoreWriter writer;
  writer.add("first", [&]() -> Status {
    if (++refusals < 3) return Error{ErrorCode::resource_exhausted, "full"};
    written.push_back(1);
    return {};
  });
  writer.add("second", [&]() -> Status {
    written.push_back(2);
    done.set_value();
    return {};
  });
  done.get_future().wait();
  CHECK(written == std::vector{1, 2});
  CHECK(refusals == 3);
}

TEST_CASE("what can never be stored is tried once, reported and dropped, so that what waits behind it is stored") {
  for (const ErrorCode code :
       {ErrorCode::invalid_argument, ErrorCode::not_found, ErrorCode::already_exists, ErrorCode::failed_precondition}) {
    CAPTURE(to_string(code));
    std::vector<std::string> happened;
    std::promise<void> done;
    StoreWriter writer;
    const auto impossible = [&]() -> Status {
      happened.emplace_back("tried");
      return Error{code, "the account is gone"};
    };
    writer.add("impossible", impossible, [&] { happened.emplace_back("refused"); });
    writer.add("next", [&]() -> Status {
      happened.emplace_back("next");
      done.set_value();
      return {};
    });
    done.get_future().wait();
    CHECK(happened == std::vector<std::string>{"tried", "refused", "next"});
  }
}

TEST_CASE("at the end everything gets one more try") {
  int first_tries = 0;
  bool second = false;
  {
    StoreWriter writer;
    writer.add("first", [&]() -> Status {
      ++first_tries;
      return Error{ErrorCode::io, "broken"};
    });
    writer.add("second", [&]() -> Status {
      second = true;
      return {};
    });
  }
  CHECK(first_tries >= 1);
  CHECK(second);
}

}  // namespace starling::api
