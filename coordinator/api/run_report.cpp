#include "coordinator/api/run_report.h"

#include "shared/protocol/compute_device_fields.h"
#include "shared/wire/fields.h"
#include "shared/wire/json_writer.h"

namespace starling::api {
namespace {

void write_epochs(wire::JsonWriter& writer, const db::RunEpochs& epochs) {
  writer.integer("epochs_complete", epochs.complete);
  writer.integer("samples_set_aside", epochs.set_aside);
  if (!epochs.current) return;
  writer.integer("epoch", epochs.current->epoch);
  writer.integer("epoch_samples", epochs.current->samples);
  writer.integer("epoch_accepted", epochs.current->counted);
  writer.integer("epoch_set_aside", epochs.current->set_aside);
}

void write_devices(wire::JsonWriter& writer, const core::DevicesInUse& devices) {
  writer.open("devices", '[');
  for (const core::DevicesAlike& alike : devices.alike) {
    writer.open("", '{');
    writer.integer("computers", alike.members);
    wire::FieldWriter fields(writer);
    each_field(fields, alike.device);
    writer.close('}');
  }
  writer.close(']');
}

}  // namespace

wire::RunState state_of(const db::Run& run) {
  if (run.retired.unix_ms != 0) return wire::RunState::complete;
  switch (run.state) {
    case db::RunState::running:
      return wire::RunState::running;
    case db::RunState::complete:
      return wire::RunState::complete;
    case db::RunState::paused:
      break;
  }
  return run.round == 0 ? wire::RunState::created : wire::RunState::paused;
}

Result<RunReport> read_run_report(const db::Stores& stores, const db::Run& run, SampleCount target_batch_size) {
  RunReport report;
  report.run_id = run.run_id;
  report.state = state_of(run);
  report.retired = run.retired.unix_ms != 0;
  report.round = run.round;
  report.target_batch_size = target_batch_size;
  STARLING_ASSIGN(const db::Credited credited, stores.credit.standings.credited(run.run_id));
  report.totals = credited.totals;
  report.pending = credited.pending;
  report.volunteers = credited.volunteers;
  STARLING_ASSIGN(report.rows, stores.credit.standings.volunteers_of(run.run_id, {.limit = db::kPageRowsMax}));
  STARLING_ASSIGN(report.first_evaluation, stores.training.evaluations.first(run.run_id));
  STARLING_ASSIGN(report.latest_evaluation, stores.training.evaluations.latest(run.run_id));
  STARLING_ASSIGN(report.epochs, db::run_epochs(stores.training.leases, run.run_id));
  return report;
}

std::string encode(const RunReport& report) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("run_id", report.run_id);
  writer.text("state", wire::to_string(report.state));
  writer.integer("round", report.round);
  writer.integer("rounds_decided", report.round);
  writer.boolean("retired", report.retired);
  writer.integer("samples_accumulated", report.swarm.samples_accumulated);
  writer.integer("target_batch_size", report.target_batch_size);
  writer.integer("swarm_size", report.swarm.swarm_size);
  writer.number("samples_per_s", report.swarm.samples_per_s);
  writer.text("plan", report.swarm.plan);
  if (const core::CellCover& cells = report.swarm.cells; !cells.holders.empty()) {
    writer.open("cell_holders", '[');
    for (const int holders : cells.holders) writer.integer("", holders);
    writer.close(']');
    writer.integer("cell_holders_wanted", cells.wanted);
  }
  writer.integer("trainers", report.failing.of);
  writer.integer("trainers_failing", report.failing.count);
  writer.integer("trainers_on_processors", report.device_sums.on_processors);
  writer.integer("trainers_on_cards", report.device_sums.on_cards);
  writer.integer("trainers_untold", report.device_sums.untold);
  if (!report.devices.alike.empty()) write_devices(writer, report.devices);
  writer.integer("ledger_samples", report.totals.samples);
  writer.number("credit_total", credit_of(report.totals));
  writer.number("credit_pending", credit_of(report.pending));
  writer.integer("volunteers", report.volunteers);
  writer.open("credit_by_volunteer", '{');
  for (const db::VolunteerTotals& row : report.rows) writer.number(row.display_name, credit_of(row.totals));
  writer.close('}');
  writer.open("samples_by_volunteer", '{');
  for (const db::VolunteerTotals& row : report.rows) writer.integer(row.display_name, row.totals.samples);
  writer.close('}');
  if (report.latest_evaluation && report.first_evaluation) {
    writer.open("validation", '{');
    writer.integer("round", report.latest_evaluation->round);
    writer.number("bits_per_byte", report.latest_evaluation->bits_per_byte);
    if (report.latest_evaluation->accuracy) writer.number("accuracy", *report.latest_evaluation->accuracy);
    writer.number("first_bits_per_byte", report.first_evaluation->bits_per_byte);
    writer.integer("measured_by", report.latest_evaluation->measured_by);
    writer.close('}');
  } else {
    writer.raw("validation", "null");
  }
  if (report.epochs) write_epochs(writer, *report.epochs);
  writer.close('}');
  return std::move(writer.str());
}

}  // namespace starling::api
