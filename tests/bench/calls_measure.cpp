#include "tests/bench/calls_measure.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

#include "shared/run/cells.h"
#include "shared/wire/codec.h"

namespace starling::bench {
namespace {

constexpr double kServedMin = 0.999;
constexpr double kBusyMachine = 0.9;

}  // namespace

double ProcessorMeter::busy() {
  const Times now = read();
  const double all = now.all - before_.all;
  const double idle = now.idle - before_.idle;
  before_ = now;
  return all > 0 ? 1 - idle / all : 0;
}

ProcessorMeter::Times ProcessorMeter::read() {
  std::ifstream stat("/proc/stat");
  std::string line;
  std::getline(stat, line);
  std::istringstream in(line);
  std::string cpu;
  in >> cpu;
  // user, nice, system, idle, waiting for disks (idle, too), interrupts, soft interrupts, taken by the host
  constexpr int kFields = 8;
  constexpr int kIdle = 3;
  constexpr int kWaiting = 4;
  Times times;
  double ticks = 0;
  for (int field = 0; field < kFields && in >> ticks; ++field) {
    times.all += ticks;
    if (field == kIdle || field == kWaiting) times.idle += ticks;
  }
  return times;
}

void CallsSpent::add(const std::vector<CallsCosts>& costs) {
  for (const CallsCosts& each : costs) {
    all_.cpu_s += each.cpu_s;
    all_.bytes_sent += each.bytes_sent;
    all_.units_computed += each.units_computed;
    all_.units_asked += each.units_asked;
    all_.gradient_cpu_s += each.gradient_cpu_s;
    all_.gradient_bytes += each.gradient_bytes;
  }
}

void CallsSpent::tell(BenchResult& row) const {
  row.figures["cpu_s_per_gb"] = all_.cpu_s / (static_cast<double>(all_.bytes_sent) / 1e9);
  row.figures["gradient_cpu_s_per_gb"] = all_.gradient_cpu_s / (static_cast<double>(all_.gradient_bytes) / 1e9);
  row.figures["served_part"] = static_cast<double>(all_.units_computed) / static_cast<double>(all_.units_asked);
  row.least["served_part"] = kServedMin;
}

CalledModel called(const CallsModel& model) {
  constexpr std::size_t kValues = 1 << 16;
  const double bytes = static_cast<double>(wire::encoded_bytes(wire::Codec::int8, kValues)) / kValues;
  return {model.layers, model.width, model.active, bytes};
}

std::vector<wire::CellIndex> cells_in(const CallsModel& model) {
  std::vector<wire::CellIndex> cells(wire::cells_of(calls_manifest(model, wire::kTrunk).model).size());
  std::iota(cells.begin(), cells.end(), 0);
  return cells;
}

std::vector<double> quotients(const std::vector<double>& values, const std::vector<double>& by) {
  std::vector<double> result;
  for (std::size_t i = 0; i < std::min(values.size(), by.size()); ++i) result.push_back(values[i] / by[i]);
  return result;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void conclude(BenchResult& row) {
  for (const auto& [name, values] : row.series) row.figures[name] = median(values);
}

void conclude_shaped(double bound_tokens_per_s, BenchResult& row) {
  row.figures["bound_tokens_per_s"] = bound_tokens_per_s;
  for (const double tokens_per_s : row.series["tokens_per_s"]) {
    row.series["ratio_to_bound"].push_back(tokens_per_s / bound_tokens_per_s);
  }
  conclude(row);
  if (row.figures["processor_busy"] > kBusyMachine) row.note = "bound by the processor here, not by the lines";
}

}  // namespace starling::bench
