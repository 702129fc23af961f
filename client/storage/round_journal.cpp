#include "client/storage/round_journal.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "client/storage/append_log.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::storage {
namespace {

constexpr std::size_t kReportsFileMax = std::size_t{1} << 30;
constexpr std::size_t kSettledLinesMax = 256;  // useless lines before the reports file is rewritten

// A line of rounds.jsonl.
std::string round_line(const RunId& run_id, const wire::RoundReport& report, double seconds) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("run_id", run_id);
  writer.integer("round", report.round);
  writer.text("group_id", report.group.hex());
  writer.boolean("autonomous", report.autonomous);
  writer.text("state_digest", report.state_digest.hex());
  if (report.grid) writer.integer("column", report.grid->column);  // column of the contributions
  writer.open("contributions", '{');
  for (const wire::Contribution& contribution : report.contributions) {
    writer.integer(contribution.peer.hex(), contribution.samples);
  }
  writer.close('}');
  writer.number("seconds", seconds);
  writer.close('}');
  return std::move(writer.str());
}

// A line of rounds.jsonl: this round's line, and those of later rounds, are of results that do not count.
std::string void_line(const RunId& run_id, RoundIndex from) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("run_id", run_id);
  writer.integer("void_from", from);
  writer.close('}');
  return std::move(writer.str());
}

// Lines of reports-RUN.jsonl: {"seconds":…,"report":"<the report's own JSON>"} or {"settled_below":…}.
std::string report_line(const wire::RoundReport& report, double seconds) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.number("seconds", seconds);
  writer.text("report", wire::encode(report));
  writer.close('}');
  return std::move(writer.str());
}

std::string settled_line(RoundIndex below) { return fmt::format("{{\"settled_below\":{}}}", below); }

struct ReportLine {
  std::optional<RoundIndex> settled_below;
  double seconds = 0;
  std::string report;
};

Result<ReportLine> decode_line(std::string_view json) {
  return wire::decode_json<ReportLine>(json, "line", kLogLineMax, [](wire::JsonReader& reader, ReportLine& line) {
    if (reader.present("settled_below")) {
      reader.integer("settled_below", line.settled_below.emplace(), 0, INT64_MAX);
    } else {
      reader.number("seconds", line.seconds, 0, 1e12);
      reader.text("report", line.report, kLogLineMax, wire::TextForm::exact);
    }
  });
}

}  // namespace

struct RoundJournal::Files {
  RunId run_id;
  std::filesystem::path reports_path;
  AppendLog rounds;
  AppendLog reports;
  std::vector<wire::RoundReport> pending;
  std::vector<double> seconds;  // duration of each pending round
  std::size_t useless_lines = 0;
  std::deque<std::string> unwritten_rounds;  // lines that rounds.jsonl lacks; at most kPendingReportsMax
  bool reports_incomplete = false;           // the reports' file lacks some of `pending`

  void add(wire::RoundReport report, double took) {
    if (pending.size() == kPendingReportsMax) {
      log_warning("more than {} rounds are not acknowledged: the report of round {} is given up", kPendingReportsMax,
                  pending.front().round);
      pending.erase(pending.begin());
      seconds.erase(seconds.begin());
      ++useless_lines;
    }
    pending.push_back(std::move(report));
    seconds.push_back(took);
  }

  void settle(RoundIndex below) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pending.size(); ++i) {
      if (pending[i].round < below) continue;
      if (kept != i) pending[kept] = std::move(pending[i]);
      seconds[kept++] = seconds[i];
    }
    useless_lines += pending.size() - kept + 1;
    pending.resize(kept);
    seconds.resize(kept);
  }

  Status replay() {
    STARLING_ASSIGN(const std::string text, read_file(reports_path, kReportsFileMax));
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string_view json = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), json.size() + 1));
      auto line = decode_line(json);
      if (line.ok() && line->settled_below) {
        settle(*line->settled_below);
        continue;
      }
      auto report = line.ok() ? wire::decode_round_report(line->report) : Result<wire::RoundReport>(line.error());
      if (report.ok()) {
        add(std::move(*report), line->seconds);
      } else {
        log_warning("'{}': skipping a line that is not understood ({})", reports_path.string(), report.error().message);
        ++useless_lines;
      }
    }
    return {};
  }

  // Adds the last round's own line if a crash came after its report, which is written first. A last line of another run
  // is later than all lines of this one.
  Status complete_rounds() {
    if (pending.empty()) return {};
    const std::string line = round_line(run_id, pending.back(), seconds.back());
    const std::string& last = rounds.last_line();
    const bool is_ours = last.empty() || last.starts_with(line.substr(0, line.find(',')));
    return !is_ours || line == last ? Status() : rounds.append(line);
  }

  Status compact() {
    std::string text;
    for (std::size_t i = 0; i < pending.size(); ++i) text += report_line(pending[i], seconds[i]) + '\n';
    STARLING_TRY(write_file_atomically(reports_path, text));
    STARLING_ASSIGN(reports, AppendLog::open(reports_path));
    useless_lines = 0;
    reports_incomplete = false;
    return {};
  }

  // Writes reports first: a crash must not lose them.
  Status write_missing() {
    if (reports_incomplete) STARLING_TRY(compact());
    while (!unwritten_rounds.empty()) {
      STARLING_TRY(rounds.append(unwritten_rounds.front()));
      unwritten_rounds.pop_front();
    }
    return {};
  }
};

Result<RoundJournal> RoundJournal::open(const std::filesystem::path& folder, const RunId& run_id) {
  STARLING_TRY(ensure_directory(folder));
  const std::filesystem::path reports_path = folder / fmt::format("reports-{}.jsonl", run_id);
  STARLING_ASSIGN(AppendLog rounds, AppendLog::open(folder / "rounds.jsonl"));
  STARLING_ASSIGN(AppendLog reports, AppendLog::open(reports_path));
  auto files =
      std::make_unique<Files>(Files{run_id, reports_path, std::move(rounds), std::move(reports), {}, {}, 0, {}, false});
  STARLING_TRY(files->replay());
  STARLING_TRY(files->complete_rounds());
  return RoundJournal(std::move(files));
}

RoundJournal::RoundJournal(std::unique_ptr<Files> files) : files_(std::move(files)) {}
RoundJournal::RoundJournal(RoundJournal&&) noexcept = default;
RoundJournal& RoundJournal::operator=(RoundJournal&&) noexcept = default;
RoundJournal::~RoundJournal() = default;

Status RoundJournal::record(const wire::RoundReport& report, Duration round_duration) {
  const double seconds = to_seconds(round_duration);
  // The report is pending in any case: if the disk refuses it, this process can still send it.
  files_->add(report, seconds);
  files_->unwritten_rounds.push_back(round_line(files_->run_id, report, seconds));
  if (files_->unwritten_rounds.size() > kPendingReportsMax) files_->unwritten_rounds.pop_front();
  if (!files_->reports_incomplete) {
    Status written = files_->reports.append(report_line(report, seconds));
    files_->reports_incomplete = !written.ok();
    if (!written.ok()) return written;
  }
  return files_->write_missing();
}

Status RoundJournal::forget(RoundIndex below) {
  const auto& pending = files_->pending;
  if (std::none_of(pending.begin(), pending.end(), [&](const auto& report) { return report.round < below; })) {
    return files_->write_missing();
  }
  files_->settle(below);
  STARLING_TRY(files_->write_missing());
  if (files_->useless_lines > kSettledLinesMax) return files_->compact();
  // If this line is lost, the reports are sent once more, which does no harm.
  return files_->reports.append(settled_line(below), AppendLog::Durability::with_the_next);
}

Status RoundJournal::withdraw(RoundIndex from) {
  STARLING_TRY(forget(from));
  if (files_->pending.empty()) return {};
  files_->unwritten_rounds.push_back(void_line(files_->run_id, from));
  return forget(files_->pending.back().round + 1);
}

const std::vector<wire::RoundReport>& RoundJournal::pending() const { return files_->pending; }

}  // namespace starling::storage
