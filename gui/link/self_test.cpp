#include "gui/link/self_test.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <utility>

namespace starling::link {
namespace {

constexpr std::chrono::seconds kPatience{5};  // with a program that was asked to end
constexpr int kPatienceAtExitMs = 1000;
constexpr int kWell = 0;  // exit codes of starling
constexpr int kUnwell = 4;

QList<TestFinding> findingsOf(const QByteArray& json) {
  QList<TestFinding> findings;
  const QJsonArray list = QJsonDocument::fromJson(json).object().value(QStringLiteral("findings")).toArray();
  for (const QJsonValue& line : list) {
    const QJsonObject finding = line.toObject();
    const auto field = [&](const char* name) { return finding.value(QLatin1String(name)).toString(); };
    findings.append({field("health"), field("about"), field("text"), field("to_do")});
  }
  return findings;
}

// Without a trainer that computes, nothing is known about the computer.
bool foundFault(const QList<TestFinding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const TestFinding& finding) {
    return finding.health == QLatin1String("bad") && finding.about != QLatin1String("trainer");
  });
}

bool isProgress(const QString& line) {
  return line.startsWith(QLatin1String("computing: ")) || line.startsWith(QLatin1String("memory: "));
}

}  // namespace

SelfTest::SelfTest(QString program, std::filesystem::path data_dir, QObject* parent)
    : QObject(parent), program_(std::move(program)), data_dir_(QString::fromStdString(data_dir.string())) {
  process_.setProcessChannelMode(QProcess::SeparateChannels);
  process_.setStandardInputFile(QProcess::nullDevice());
  patience_.setSingleShot(true);
  connect(&patience_, &QTimer::timeout, &process_, &QProcess::kill);
  connect(&process_, &QProcess::readyReadStandardError, this, &SelfTest::readProgress);
  connect(&process_, &QProcess::finished, this, &SelfTest::onEnd);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) emit finished({TestVerdict::not_run, {}, process_.errorString()});
  });
}

SelfTest::~SelfTest() {
  process_.disconnect(this);
  if (!running()) return;
  process_.terminate();
  if (process_.waitForFinished(kPatienceAtExitMs)) return;
  process_.kill();
  process_.waitForFinished(kPatienceAtExitMs);
}

void SelfTest::start(std::chrono::seconds computing) {
  stopped_ = false;
  complaint_.clear();
  if (program_.isEmpty()) {
    QMetaObject::invokeMethod(
        this, [this] { emit finished({}); }, Qt::QueuedConnection);
    return;
  }
  process_.start(program_, {QStringLiteral("--data-dir"), data_dir_, QStringLiteral("--json"), QStringLiteral("doctor"),
                            QStringLiteral("--self-test"), QStringLiteral("--progress"), QStringLiteral("--seconds"),
                            QString::number(computing.count())});
}

void SelfTest::stop() {
  if (!running()) return;
  stopped_ = true;
  process_.terminate();
  patience_.start(kPatience);
}

void SelfTest::readProgress() {
  process_.setReadChannel(QProcess::StandardError);
  while (process_.canReadLine()) {
    const QString line = QString::fromUtf8(process_.readLine()).trimmed();
    if (isProgress(line)) {
      emit progressed(line);
    } else if (!line.isEmpty()) {
      complaint_ = line;
    }
  }
}

void SelfTest::onEnd(int code, QProcess::ExitStatus status) {
  patience_.stop();
  readProgress();
  TestResult result;
  result.findings = findingsOf(process_.readAllStandardOutput());
  result.complaint = complaint_;
  if (status == QProcess::NormalExit && code == kWell) {
    result.verdict = TestVerdict::passed;
  } else if (status == QProcess::NormalExit && code == kUnwell && foundFault(result.findings)) {
    result.verdict = TestVerdict::failed;
  } else if (stopped_) {
    result.verdict = TestVerdict::stopped;
  }
  emit finished(result);
}

}  // namespace starling::link
