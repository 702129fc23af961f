#include "gui/models/daemon_words.h"

#include <doctest/doctest.h>

#include <QString>
#include <string>

#include "shared/names/display_name.h"

using namespace starling;
using namespace starling::models;

TEST_CASE("every reason why a name cannot be shown has words of its own in the window") {
  const std::string many_marks = "q\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b";
  for (const std::string& name :
       {std::string(), std::string("..."), std::string(40, 'a'), std::string("a\xff"), std::string("Ada  B"),
        std::string("Ada \u05d0"), std::string("x\u0336\u0336"), std::string("\u0301a"), many_marks,
        std::string("a\u200bb"), std::string("a\u200db"), std::string("a<b")}) {
    CAPTURE(name);
    const auto checked = names::check_display_name(name);
    REQUIRE_FALSE(checked.ok());
    const QString words = errorWords(checked.error());
    CAPTURE(words.toStdString());
    CHECK(words != QString::fromStdString(checked.error().message));
    CHECK_FALSE(words.contains(QStringLiteral("can not")));                      // the coordinator's own spelling
    CHECK_FALSE(words.startsWith(QStringLiteral("This name cannot be shown")));  // that is for unknown reasons
    CHECK(errorWords({checked.error().code, "join the project at a.org:1: " + checked.error().message}) == words);
  }
  CHECK(nameProblem(QStringLiteral("a<b")).startsWith(QStringLiteral("This name has '<' (U+003C). Use letters")));
  CHECK(nameProblem(QString::fromUtf8("प्रिया")).isEmpty());
}

TEST_CASE("a sentence keeps its cause, in the window's words where they are known") {
  CHECK(daemonWords("the trainer fails: sample 7 is of class 3") ==
        QStringLiteral("The trainer fails: sample 7 is of class 3"));
  CHECK(daemonWords("the coordinator names a state of round 7 that is not proven, so it is not loaded: it gives no "
                    "proof. Tell the project's operator") ==
        QStringLiteral("The coordinator names a state of round 7 that is not proven, so it is not loaded: it gives no "
                       "proof. Tell the project's operator"));
  CHECK(daemonWords("nobody knows: why") == QStringLiteral("Nobody knows: why"));
}
