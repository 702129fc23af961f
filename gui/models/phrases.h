// Sentences that other programs say in English, with names and figures in them, in the window's language.
#pragma once

#include <QString>
#include <optional>
#include <span>

namespace starling::models {

// The sentence is a regular expression with its names and figures in brackets; `words` is a text of the context
// "Daemon" for translators, with %1 for the first of them.
struct Phrase {
  const char* said;
  const char* words;
};

// None of them: nullopt. Figures are written as the window's language does. `before` is a pattern for text that may
// precede the sentence.
std::optional<QString> phraseOf(const QString& said, std::span<const Phrase> phrases, const QString& before = {});

QString capitalized(QString sentence);

}  // namespace starling::models
