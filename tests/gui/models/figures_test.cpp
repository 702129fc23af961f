#include <doctest/doctest.h>

#include <QLocale>

#include "gui/models/daemon_words.h"
#include "gui/models/format.h"
#include "gui/models/history_model.h"
#include "gui/models/log_lines.h"
#include "gui/models/rows_model.h"

using namespace starling;
using namespace starling::models;

TEST_CASE("bytes, rates and credit are as short as they can be") {
  QLocale::setDefault(QLocale::c());
  CHECK(bytesText(999) == QStringLiteral("999 B"));
  CHECK(bytesText(1'240'000) == QStringLiteral("1.2 MB"));
  CHECK(rateText(0) == QStringLiteral("–"));
  CHECK(rateText(1'500'000) == QStringLiteral("12.0 Mbit/s"));
  CHECK(creditText(0) == QStringLiteral("0"));
  CHECK(creditText(1234.4) == QStringLiteral("1234"));
  CHECK(creditText(0.0123) == QStringLiteral("0.0123"));
  CHECK(creditText(0.00000123) == QStringLiteral("0.0000012"));
}

TEST_CASE("the sum since a moment counts credit as it grew") {
  std::vector<wire::HistoryPoint> points(3);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].begin.unix_ms = 1000 * static_cast<std::int64_t>(i);
    points[i].samples = 10;
    points[i].credit = 1.0 + static_cast<double>(i);
  }
  const HistoryModel::Sum sum = sumSince(points, {1000});
  CHECK(sum.samples == 20);
  CHECK(sum.rounds == 2);
  CHECK(sum.credit == doctest::Approx(2));
  CHECK(sumSince(points, {5000}).samples == 0);
  CHECK(sumSince(points, {5000}).credit == 0);
}

TEST_CASE("what was measured sorts as a number, and what was not is a dash") {
  QLocale::setDefault(QLocale::c());
  RowsModel rows({QStringLiteral("Round trip, ms")});
  const auto cell = [](double value) { return RowsModel::Row{QVariant::fromValue(Measured{value, 1})}; };
  rows.setRows({cell(12.34), cell(0), cell(0.02)});
  const auto shown = [&](int row) { return rows.index(row, 0).data().toString(); };
  CHECK(shown(0) == QStringLiteral("12.3"));
  CHECK(shown(1) == QStringLiteral("–"));
  CHECK(shown(2) == QStringLiteral("< 0.1"));
  CHECK(rows.index(0, 0).data(RowsModel::kSortRole).toDouble() == doctest::Approx(12.34));
}

TEST_CASE("log lines have time, level and words, and may go on over lines") {
  const auto lines =
      parseLog("lost beginning\n2026-11-20 10:00:00.123 I ready\n2026-11-20 10:00:01.000 W disk\n  full\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].time == QStringLiteral("2026-11-20 10:00:00"));
  CHECK(lines[0].level == LogLevel::info);
  CHECK(lines[1].level == LogLevel::warning);
  CHECK(lines[1].words == QStringLiteral("disk\n  full"));
}

TEST_CASE("the daemon's sentences keep their causes and figures") {
  CHECK(daemonWords("the run is complete") == QStringLiteral("The run is complete"));
  CHECK(daemonWords("the trainer failed: out of memory") == QStringLiteral("The trainer failed: out of memory"));
  CHECK(daemonWords("downloading the training data: 1.0 of 2.0 MB") ==
        QStringLiteral("Downloading the training data: 1.0 of 2.0 MB"));
  CHECK(daemonWords("something new") == QStringLiteral("Something new"));
}

TEST_CASE("what computes is one sentence, with why a card does not") {
  wire::ComputingStatus computing;
  CHECK(deviceWords(computing) == QStringLiteral("What computes is known once the trainer has started."));
  computing.device = {.kind = "cuda",
                      .count = 2,
                      .name = "NVIDIA A40",
                      .memory_bytes = 48'000'000'000,
                      .memory_max_bytes = 24'000'000'000,
                      .backend = "LibTorch 2.6.0 with CUDA 12.4",
                      .precision = "bf16"};
  CHECK(deviceWords(computing) == QStringLiteral("Computes on 2 × NVIDIA A40, at most 24.0 GB of 48.0 GB of memory "
                                                 "each, bf16, LibTorch 2.6.0 with CUDA 12.4"));
  computing.device = {.kind = "cpu", .memory_bytes = 16'000'000'000};
  CHECK(deviceWords(computing) == QStringLiteral("Computes on cpu, 16.0 GB of memory"));
  CHECK(cardWords("this LibTorch is built without CUDA") == QStringLiteral("this LibTorch is built without CUDA"));
  CHECK(cardWords("its driver finds none: no 7 of 9") == QStringLiteral("its driver finds none: no 7 of 9"));
  CHECK(cardWords("something new") == QStringLiteral("something new"));
}

TEST_CASE("tables keep numbers as numbers, for sorting, and speak with their headers") {
  RowsModel rows({QStringLiteral("Name"), QStringLiteral("Samples")});
  rows.setRows({{QStringLiteral("Ada"), qlonglong{1200}}});
  const QModelIndex cell = rows.index(0, 1);
  CHECK(rows.data(cell, RowsModel::kSortRole).toLongLong() == 1200);
  CHECK(rows.data(cell, Qt::AccessibleTextRole).toString().startsWith(QStringLiteral("Samples: ")));
  rows.setRows({});
  CHECK(rows.rowCount() == 0);
}
