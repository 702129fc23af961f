#include "shared/protocol/unusable_samples.h"

#include <utility>

#include "shared/protocol/messages.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::wire {

std::string encode(const UnusableSamples& message) {
  JsonWriter writer;
  writer.open("", '{');
  writer.text("run_id", message.run_id);
  writer.integer("process", message.process);
  writer.open("draws", '[');
  for (const SampleCount draw : message.draws) writer.integer("", draw);
  writer.close(']');
  writer.close('}');
  return std::move(writer.str());
}

Result<UnusableSamples> decode_unusable_samples(std::string_view json) {
  return decode_json<UnusableSamples>(
      json, "unusable samples", kJsonBytesMax, [](JsonReader& reader, UnusableSamples& message) {
        reader.text("run_id", message.run_id, kNameBytesMax);
        reader.integer("process", message.process, 1, kMessageCountMax);
        reader.list("draws", kUnusableDrawsMax,
                    [&](JsonReader& item) { item.integer("", message.draws.emplace_back(), 1, kDrawMax); });
      });
}

}  // namespace starling::wire
