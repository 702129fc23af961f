#include "shared/wire/web_address.h"

#include "tests/fuzz/fuzz_target.h"

using namespace starling;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = testing::text_of(data, size);
  if (const auto at = wire::parse_host_and_port(text)) VERIFY(wire::format_host_and_port(at->host, at->port) == text);
  const auto address = wire::parse_web_address(text);
  if (!address) return 0;
  VERIFY(address->port != 0 && address->path.front() == '/');
  const std::string at = wire::format_host_and_port(address->host, address->port);
  const auto again = wire::parse_web_address("https://" + at + address->path);
  VERIFY(again && again->host == address->host && again->port == address->port && again->path == address->path);
  return 0;
}
