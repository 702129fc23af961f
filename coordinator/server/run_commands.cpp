#include <fmt/core.h>

#include <charconv>
#include <utility>

#include "coordinator/api/run_report.h"
#include "coordinator/core/audit_standing.h"
#include "coordinator/dataset/examples.h"
#include "coordinator/operations/rollback.h"
#include "coordinator/operations/runs.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "coordinator/server/data_notes.h"
#include "coordinator/server/mirror_inquiry.h"
#include "coordinator/server/run_beginning.h"
#include "coordinator/server/run_data.h"
#include "coordinator/server/run_script.h"
#include "coordinator/server/staged_artefacts.h"
#include "coordinator/server/trainers_seen.h"
#include "shared/base/files.h"
#include "shared/base/plain_text.h"
#include "shared/base/shell_words.h"
#include "shared/base/words.h"
#include "shared/manifest/operator_manifest.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/run/cells.h"
#include "shared/run/model_layout.h"
#include "shared/run/round_parts.h"

namespace starling::server {
namespace {

void print_audits(const wire::RunManifest& manifest) {
  if (manifest.round.audit_rate <= 0) {
    const std::string why = wire::why_not_audited(manifest);
    fmt::print("  checks    nobody's work is recomputed{}\n", why.empty() ? ": audit_rate is 0" : ": " + why);
    return;
  }
  fmt::print(
      "  checks    one round in {:.0f} of each volunteer is recomputed by others; credit is final after {} rounds\n",
      1 / manifest.round.audit_rate, core::rounds_pending(manifest.round.audit_rate));
  if (manifest.round.audit_never_bans) fmt::print("            a third false round bans nobody: audit_never_bans\n");
  for (const std::string& gap : wire::left_out_of_audits(manifest)) fmt::print("            {}\n", gap);
}

void print_created(const wire::RunManifest& manifest, const std::filesystem::path& directory) {
  fmt::print("run '{}' is ready, paused\n", manifest.run_id);
  fmt::print("  model     {} parameters, {:.3g} GFLOP per sample\n", wire::parameter_count(manifest.model),
             manifest.flops_per_sample / 1e9);
  const bool is_cut = wire::has_cells(manifest.model);
  const wire::RunManifest whole_or_trunk = is_cut ? wire::piece_of(manifest, wire::kTrunk) : manifest;
  fmt::print("  memory    {:.1f} GB of each volunteer's computer, at the least\n",
             wire::memory_needs(whole_or_trunk).total() / 1e9);
  const wire::DataOptions& data = manifest.data;
  const bool bytes = data.kind == wire::DataKind::bytes;
  std::int64_t train = bytes ? data.train.bytes : data.train_items;
  for (const wire::Shard& shard : data.shards) train += shard.items;
  fmt::print("  data      {} {} to train on, {} held out\n", train,
             data.kind == wire::DataKind::labelled ? "labelled samples" : word_of(data.kind),
             bytes ? data.validation.bytes : data.validation_items);
  if (!data.shards.empty()) {
    fmt::print("  shards    {}, from {}\n", data.shards.size(),
               data.mirrors.empty() ? "this coordinator" : fmt::format("{} mirrors", data.mirrors.size()));
  }
  if (is_cut) {
    fmt::print(
        "  cells     {}, each for {} volunteers to hold, {:.2f} GB of memory; everybody who trains holds {:.2f} of "
        "{:.2f} million parameters beside them, and a computer without memory for these holds cells alone\n",
        wire::cells_of(manifest.model).size(), manifest.model.experts.cells.holders,
        static_cast<double>(wire::held_bytes(manifest, 0)) / 1e9,
        static_cast<double>(wire::parameter_count(wire::trunk_of(manifest.model))) / 1e6,
        static_cast<double>(wire::parameter_count(manifest.model)) / 1e6);
  }
  fmt::print("  begins    with state {}, which is signed\n", manifest.initial_state_digest.brief());
  fmt::print("  rounds    {} samples each, by up to {} computers\n", manifest.target_batch_size, manifest.peers_max);
  print_audits(manifest);
  fmt::print("start it with: starling-coordinator run start {} {}\n", shell_word(directory.string()),
             shell_word(manifest.run_id));
  fmt::print("{}\n", manifest.run_id);
}

// One of a project's runs, with its signed manifest.
struct OpenedRun {
  Project project;
  std::unique_ptr<db::Database> database;
  db::Run run;
  wire::RunManifest manifest;

  [[nodiscard]] const db::Stores& stores() const { return database->stores(); }
};

Result<OpenedRun> open_run(const std::filesystem::path& directory, const RunId& run_id) {
  STARLING_ASSIGN(Project project, load_project(directory));
  STARLING_ASSIGN(auto database, open_database(project));
  STARLING_ASSIGN(db::Run run, operations::find_run(database->stores().training.runs, run_id));
  STARLING_ASSIGN(const auto envelope, manifest::decode_envelope(run.manifest_envelope));
  STARLING_ASSIGN(wire::RunManifest manifest, manifest::verify_manifest(envelope, project.root));
  return OpenedRun{std::move(project), std::move(database), std::move(run), std::move(manifest)};
}

// Applies an operator's action to a run.
Status act_on(const RunOptions& options, Status (*act)(const operations::Desk&, const db::Run&),
              std::string_view done) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  STARLING_ASSIGN(const db::Run run, operations::find_run(database->stores().training.runs, options.run));
  STARLING_TRY(act(desk_of(*database, clock), run));
  fmt::print("run '{}' is {}\n", run.run_id, done);
  return {};
}

// "poems-1" is followed by "poems-2", "poems" by "poems-2".
std::string next_id(const RunId& run_id) {
  const std::size_t digits = run_id.find_last_not_of("0123456789") + 1;
  std::int64_t number = 1;
  const bool numbered =
      digits > 0 && run_id[digits - 1] == '-' &&
      std::from_chars(run_id.data() + digits, run_id.data() + run_id.size(), number).ec == std::errc();
  return fmt::format("{}{}", numbered ? run_id.substr(0, digits) : run_id + "-", number + 1);
}

// Prints what the volunteers' trainers compute on; only counts where the server runs on another machine.
void print_devices(const api::RunReport& report) {
  const char* label = "computes on";
  for (const std::string& line : core::device_lines(report.devices)) {
    fmt::print("  {:<12} {}\n", std::exchange(label, ""), line);
  }
  const core::DeviceSums& sums = report.device_sums;
  if (*label == 0 || sums == core::DeviceSums{}) return;
  fmt::print("  {:<12} {} on graphics cards, {} on processors, {} not told yet\n", label, sums.on_cards,
             sums.on_processors, sums.untold);
}

void print_report(const api::RunReport& report) {
  fmt::print("run '{}' is {}, round {}\n", report.run_id, report.retired ? "retired" : wire::to_string(report.state),
             report.round);
  fmt::print("  this round   {} of {} samples, {:.1f} a second, {} computers\n", report.swarm.samples_accumulated,
             report.target_batch_size, report.swarm.samples_per_s, report.swarm.swarm_size);
  if (report.failing.count > 0) fmt::print("  FAILING      {}\n", core::failing_text(report.failing));
  print_devices(report);
  if (!report.swarm.plan.empty()) fmt::print("  plan         {}\n", report.swarm.plan);
  if (const core::CellCover& cells = report.swarm.cells; !cells.holders.empty()) {
    const auto all = static_cast<std::int64_t>(cells.holders.size());
    fmt::print("  cells        {}: {} with {} holders or more, {} with nobody\n", all, cells.held_by(cells.wanted),
               cells.wanted, all - cells.held_by(1));
  }
  if (report.latest_evaluation && report.first_evaluation) {
    const auto accuracy = report.latest_evaluation->accuracy;
    fmt::print("  held out     {:.4f} bits per byte at round {}, {:.4f} at first{}{}\n",
               report.latest_evaluation->bits_per_byte, report.latest_evaluation->round,
               report.first_evaluation->bits_per_byte,
               accuracy ? fmt::format("; {:.1f} % guessed right", 100 * *accuracy) : "",
               report.latest_evaluation->confirmed() ? "" : "; unconfirmed: one computer measured it");
  }
  if (report.epochs && report.epochs->current) {
    const db::EpochProgress& epoch = *report.epochs->current;
    fmt::print("  epoch        {}, {} of its {} samples accepted\n", epoch.epoch + 1, epoch.counted, epoch.samples);
  } else if (report.epochs) {
    fmt::print("  epochs       {} complete\n", report.epochs->complete);
  }
  if (report.epochs && report.epochs->set_aside > 0) {
    fmt::print("  set aside    {} samples: no computer gets a finite gradient of them (doctor says which they are)\n",
               report.epochs->set_aside);
  }
  fmt::print("  ledger       {} samples, {:.3f} credit{}, {} volunteers\n", report.totals.samples,
             credit_of(report.totals),
             report.pending.credit > 0 ? fmt::format(" ({:.3f} of it pending)", credit_of(report.pending)) : "",
             report.volunteers);
  for (const db::VolunteerTotals& row : report.rows) {
    fmt::print("    {:<34} {:>12} samples {:>12.3f} credit\n", row.display_name, row.totals.samples,
               credit_of(row.totals));
  }
}

// The states that the run can go back to, and where it has done so.
Status print_ways_back(const OpenedRun& opened) {
  const SystemClock clock;
  const RunId& run_id = opened.run.run_id;
  STARLING_ASSIGN(const auto kept, operations::rounds_kept(desk_of(*opened.database, clock), run_id));
  if (!kept.empty()) fmt::print("  copies       of the states of rounds {}\n", operations::shown_rounds(kept));
  STARLING_ASSIGN(const auto rollbacks, opened.stores().training.runs.rollbacks(run_id));
  for (const db::Rollback& rollback : rollbacks) {
    fmt::print("  rolled back  at round {}, to the state of round {}, {}\n", rollback.round, rollback.to_round,
               local_time(rollback.at));
  }
  return {};
}

// Which label is which, where the listing of the shards said it.
Status print_classes(const OpenedRun& opened) {
  STARLING_ASSIGN(const auto names, kept_class_names(opened.stores().training.artefacts, opened.manifest.data,
                                                     opened.project.files.artefacts()));
  if (names.empty()) return {};
  std::vector<std::string> told;
  for (std::size_t label = 0; label < names.size(); ++label)
    told.push_back(fmt::format("{} '{}'", label, names[label]));
  fmt::print("  classes      {}\n", dataset::examples_of(told, ", "));
  return {};
}

// The ids of the cells of the run's model; none where it is not cut.
std::vector<RunId> cells_of_run(const wire::RunManifest& manifest) {
  std::vector<RunId> cells;
  if (!wire::has_cells(manifest.model)) return cells;
  const std::size_t count = wire::cells_of(manifest.model).size();
  for (std::size_t cell = 0; cell < count; ++cell) {
    cells.push_back(wire::cell_run_id(manifest.run_id, static_cast<wire::CellIndex>(cell)));
  }
  return cells;
}

// In an open project a stranger may be the only one who holds a cell, then.
Status check_sole_holders(const CreateOptions& options, const Project& project, const wire::RunManifest& manifest) {
  const bool is_sole = wire::has_cells(manifest.model) && manifest.model.experts.cells.holders == 1;
  if (!is_sole || !project.config.open_to_all || options.sole_holders) return {};
  return Error{ErrorCode::failed_precondition,
               "cells.holders is 1, and this project is open to all: a stranger would be the only one who holds a part "
               "of the model, and nobody could contradict what it answers or keep what it loses. Write holders = 2 or "
               "more; or insist with --sole-holders (docs/trust.md says what that means)"};
}

// Takes the run's files into the project once all of it is accepted, and completes its manifest.
Status take_run_over(const CreateOptions& options, const Project& project, manifest::OperatorManifest& wanted) {
  wire::RunManifest& manifest = wanted.manifest;
  STARLING_ASSIGN(StagedArtefacts staged, StagedArtefacts::create(project.files.artefacts()));
  STARLING_TRY(take_data_over(wanted, staged.folder(), options.held_out_may_repeat, project.files.artefacts()));
  STARLING_TRY(check_mask(manifest, staged.folder()));
  if (wire::has_program(manifest.model)) {
    if (manifest.round.audit_rate > 0) STARLING_TRY(check_audited_script(wanted.source));
    STARLING_TRY(import_script(wanted.source, staged.folder(), manifest.model.script));
  }
  const Status sound = wire::check_manifest(manifest);
  if (!sound.ok()) return sound.error().prefixed(fmt::format("'{}'", options.manifest.string()));
  if (!options.mirrors_later) STARLING_TRY(ask_mirrors(manifest.data, project, staged.folder()));
  STARLING_TRY(name_initial_state(manifest, staged.folder()));
  return staged.publish();
}

}  // namespace

Status create_run(const CreateOptions& options) {
  const std::filesystem::path& directory = options.directory;
  const std::filesystem::path& manifest_file = options.manifest;
  STARLING_ASSIGN(const Project project, load_project(directory));
  STARLING_ASSIGN(const std::string toml, read_file(manifest_file, manifest::kOperatorManifestBytesMax));
  const auto folder = std::filesystem::absolute(manifest_file).parent_path();
  auto wanted = manifest::read_operator_manifest(toml, folder);
  if (!wanted) return wanted.error().prefixed(fmt::format("'{}'", manifest_file.string()));
  wire::RunManifest& manifest = wanted->manifest;
  if (manifest.run_id.starts_with('-')) {  // runs of before may be called so
    return Error{ErrorCode::invalid_argument,
                 fmt::format("'{}': run_id '{}' begins with a hyphen, so commands would take it for an option; choose "
                             "another one",
                             manifest_file.string(), manifest.run_id)};
  }
  STARLING_ASSIGN(const auto database, open_database(project));
  const db::Stores& stores = database->stores();
  if (stores.training.runs.find(manifest.run_id)) {
    return Error{ErrorCode::already_exists,
                 fmt::format("there is a run '{}' already; choose another run_id", manifest.run_id)};
  }
  STARLING_TRY(check_sole_holders(options, project, manifest));
  STARLING_TRY(take_run_over(options, project, *wanted));
  const bool is_script = wire::has_program(manifest.model);
  STARLING_ASSIGN(const auto signed_manifest,
                  manifest::sign_manifest(manifest, {project.manifest_key, project.key_certificate}));
  STARLING_TRY(record_artefacts(stores.training.artefacts, *wanted));
  STARLING_TRY(keep_class_names(stores.training.artefacts, *wanted, project.files.artefacts()));
  if (is_script) STARLING_TRY(record_script(stores.training.artefacts, *wanted));
  db::Run run;
  run.run_id = manifest.run_id;
  run.manifest_envelope = manifest::encode_envelope(signed_manifest);
  run.created = SystemClock().wall_now();
  STARLING_TRY(stores.training.runs.create(run, cells_of_run(manifest)));
  const SystemClock clock;
  STARLING_TRY(operations::note(desk_of(*database, clock), "run create", run.run_id));
  for (const std::string& note : notes_on_bytes(*wanted)) fmt::print(stderr, "note: {}\n", plain_line(note));
  print_created(manifest, directory);
  return {};
}

Status sign_run(const SignOptions& options) {
  STARLING_ASSIGN(const OpenedRun opened, open_run(options.directory, options.run));
  const RunId& run_id = opened.run.run_id;
  wire::RunManifest manifest = opened.manifest;
  if (options.title) manifest.title = *options.title;
  if (options.client_min) manifest.client_min = *options.client_min;
  if (manifest.data.shards.empty() && !options.mirrors.empty()) {
    return Error{
        ErrorCode::failed_precondition,
        fmt::format("run '{}' has its data in one file, which the coordinator gives out; mirrors are for shards",
                    run_id)};
  }
  if (options.no_mirrors || !options.mirrors.empty()) manifest.data.mirrors = options.mirrors;
  if (manifest.data.mirrors.empty()) manifest.data.mirror_ca.clear();
  if (!options.mirrors.empty() && !options.mirrors_later) {
    STARLING_ASSIGN(const StagedArtefacts scratch, StagedArtefacts::create(opened.project.files.artefacts()));
    STARLING_TRY(ask_mirrors(manifest.data, opened.project, scratch.folder()));
  }
  if (begins_unsigned(opened.run, manifest)) {
    STARLING_TRY(name_initial_state(manifest, opened.project.files.artefacts()));
  }
  STARLING_ASSIGN(const auto anew,
                  manifest::sign_manifest(manifest, {opened.project.manifest_key, opened.project.key_certificate}));
  STARLING_TRY(opened.stores().training.runs.set_envelope(run_id, manifest::encode_envelope(anew)));
  const SystemClock clock;
  STARLING_TRY(operations::note(desk_of(*opened.database, clock), "run sign", run_id));
  fmt::print("run '{}' is signed anew; programs follow when they start the next time\n", run_id);
  return {};
}

Status start_run(const RunOptions& options) { return act_on(options, operations::start_run, "running"); }
Status pause_run(const RunOptions& options) { return act_on(options, operations::pause_run, "paused"); }

Status retire_run(const RunOptions& options) {
  STARLING_TRY(act_on(options, operations::retire_run, "retired: on no list, and nobody new is given it"));
  fmt::print("its page, its credit and its last model stay; a new run from it: starling-coordinator run clone\n");
  return {};
}

Status clone_run(const CloneOptions& options) {
  STARLING_ASSIGN(const OpenedRun opened, open_run(options.directory, options.run));
  const auto& [project, database, run, old] = opened;
  manifest::OperatorManifest draft{old, {}};
  draft.manifest.run_id = options.new_id.empty() ? next_id(run.run_id) : options.new_id;
  const auto artefacts = std::filesystem::absolute(project.files.artefacts());
  if (old.data.shards.empty()) {
    draft.source.train = artefacts / old.data.train.sha256.hex();
    draft.source.validation = artefacts / old.data.validation.sha256.hex();
  } else {
    STARLING_ASSIGN(draft.source.shards, keep_listing(old.data, artefacts));
  }
  if (wire::has_program(old.model)) {
    draft.source.program = artefacts / old.model.script.program.sha256.hex();
    draft.source.parameters = artefacts / old.model.script.parameters.sha256.hex();
  }
  std::error_code unknown;
  if (std::filesystem::exists(options.file, unknown)) {
    return Error{ErrorCode::already_exists,
                 fmt::format("'{}' exists already; choose another file for the draft", options.file.string())};
  }
  STARLING_TRY(write_where_told(
      options.file, fmt::format("# Made from run '{}'. Change what is to be different, then: run create\n\n{}",
                                run.run_id, manifest::write_operator_manifest(draft))));
  fmt::print("a draft of run '{}' is in '{}'; change it, then: starling-coordinator run create {} {}\n",
             draft.manifest.run_id, options.file.string(), shell_word(options.directory.string()),
             shell_word(options.file.string()));
  return {};
}

Status show_run(const RunOptions& options) {
  STARLING_ASSIGN(const OpenedRun opened, open_run(options.directory, options.run));
  const db::Stores& stores = opened.stores();
  const RunId& run_id = opened.run.run_id;
  STARLING_ASSIGN(api::RunReport report, api::read_run_report(stores, opened.run, opened.manifest.target_batch_size));
  // The operator's own view uses the ledger itself, not the totals kept beside it.
  STARLING_ASSIGN(report.totals, stores.training.contributions.ledger_sum(run_id));
  LiveFigures live = ask_server(opened.project, run_id);
  report.swarm = std::move(live.swarm);
  report.failing = std::move(live.failing);
  report.device_sums = live.device_sums;
  report.devices = std::move(live.devices);
  if (options.json) {
    fmt::print("{}\n", api::encode(report));
  } else {
    print_report(report);
    const Digest& first = opened.manifest.initial_state_digest;
    if (!first.is_zero()) fmt::print("  began with   state {}, as is signed\n", first.brief());
    STARLING_TRY(print_classes(opened));
    STARLING_TRY(print_ways_back(opened));
  }
  return {};
}

}  // namespace starling::server
