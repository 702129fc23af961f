// Runs `starling doctor --self-test`: whether this computer computes right. The daemon goes on meanwhile, and reads the
// note that a passed test leaves in its data directory.
#pragma once

#include <QByteArray>
#include <QList>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QTimer>
#include <chrono>
#include <filesystem>

namespace starling::link {

// Stopped: before its end, by stop(). Not run: nothing is known about the computer.
enum class TestVerdict { passed, failed, stopped, not_run };

// One line of the program's answer, in English.
struct TestFinding {
  QString health;  // good, note or bad
  QString about;
  QString text;
  QString to_do;  // advice; empty: none
};

// All that remains of a test that is over.
struct TestResult {
  TestVerdict verdict = TestVerdict::not_run;
  QList<TestFinding> findings;
  QString complaint;  // its last words besides, or why there was no test; empty in most cases
};

class SelfTest : public QObject {
  Q_OBJECT

 public:
  static constexpr std::chrono::seconds kShort{20};  // it computes for so long; looking at memory comes on top
  static constexpr std::chrono::seconds kLong{600};  // finds what only warm parts get wrong

  // `program`: the path of starling; empty if there is none.
  SelfTest(QString program, std::filesystem::path data_dir, QObject* parent = nullptr);
  ~SelfTest() override;  // ends a test that runs

  // Nothing else may be running. finished() comes once, also if the program cannot be started.
  void start(std::chrono::seconds computing);
  // Asks the program to end, and kills it if it does not.
  void stop();
  [[nodiscard]] bool running() const { return process_.state() != QProcess::NotRunning; }

 signals:
  void progressed(const QString& line);
  void finished(const starling::link::TestResult& result);

 private:
  void readProgress();
  void onEnd(int code, QProcess::ExitStatus status);

  QString program_;
  QString data_dir_;
  QProcess process_;
  QTimer patience_;
  bool stopped_ = false;
  QString complaint_;
};

}  // namespace starling::link
