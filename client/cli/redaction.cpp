#include "client/cli/redaction.h"

#include <arpa/inet.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace starling::cli {
namespace {

constexpr std::size_t kShortestName = 3;  // shorter names of a user or machine are ordinary words too, and stay

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 128 || std::isalnum(byte) != 0 || std::string_view("_.:@+-%").find(c) != std::string_view::npos;
}

bool is_address(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(family, text.c_str(), bytes.data()) == 1;
}

bool tells_nothing(const std::string& address) {
  return address == "127.0.0.1" || address == "0.0.0.0" || address == "::1" || address == "::";
}

// The host of "example.org:7700" and "203.0.113.7:7700"; an IPv6 address unchanged.
std::string without_port(const std::string& word) {
  const std::size_t colon = word.find(':');
  return colon != std::string::npos && word.find(':', colon + 1) == std::string::npos ? word.substr(0, colon) : word;
}

bool is_mail(std::string_view word) {
  const std::size_t at = word.find('@');
  return at != std::string_view::npos && at > 0 && word.find('.', at) != std::string_view::npos;
}

// Whether the word is a name with dots, letters last, and a port: "alpha.example.org:7700".
bool is_host_with_port(const std::string& word) {
  const std::string host = without_port(word);
  if (host.size() == word.size() || host.size() + 1 == word.size()) return false;
  const std::size_t dot = host.rfind('.');
  if (dot == std::string::npos || dot + 2 > host.size()) return false;
  const auto digits = word.substr(host.size() + 1);
  return std::all_of(host.begin() + static_cast<std::ptrdiff_t>(dot) + 1, host.end(),
                     [](unsigned char c) { return std::isalpha(c) != 0; }) &&
         std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string replace_all(std::string text, std::string_view what, std::string_view by) {
  if (what.size() < kShortestName) return text;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// Redacts one word; `before` is the text in front of it.
std::string redacted_word(const std::string& word, std::string_view before, const Private& hidden) {
  for (const std::string_view secret : {"invite=", "token=", "password="}) {
    if (before.ends_with(secret)) return "<secret>";
  }
  std::string bare = word;
  while (!bare.empty() && (bare.back() == '.' || bare.back() == ':') && !bare.ends_with("::")) bare.pop_back();
  const std::string rest = word.substr(bare.size());
  if (is_mail(bare)) return "<e-mail>" + rest;
  const std::string host = without_port(bare).substr(0, bare.find('%'));
  if (is_address(AF_INET, host) || is_address(AF_INET6, host)) {
    return tells_nothing(host) ? word : "<address>" + bare.substr(without_port(bare).size()) + rest;
  }
  if (is_host_with_port(bare)) return "<host>" + bare.substr(without_port(bare).size()) + rest;
  if (hidden.host_name.size() >= kShortestName && bare == hidden.host_name) return "<this computer>" + rest;
  if (hidden.user_name.size() >= kShortestName && bare == hidden.user_name) return "<user>" + rest;
  return word;
}

}  // namespace

Private private_of_this_computer() {
  Private hidden;
  if (const passwd* user = ::getpwuid(::geteuid()); user != nullptr) {
    hidden.home = user->pw_dir;
    hidden.user_name = user->pw_name;
  }
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) hidden.host_name = name.data();
  return hidden;
}

std::string redact(std::string_view text, const Private& hidden) {
  const std::string in = replace_all(std::string(text), hidden.home, "~");
  std::string out;
  for (std::size_t at = 0; at < in.size();) {
    if (!is_word(in[at])) {
      out += in[at++];
      continue;
    }
    std::size_t end = at;
    while (end < in.size() && is_word(in[end])) ++end;
    out += redacted_word(in.substr(at, end - at), std::string_view(in).substr(0, at), hidden);
    at = end;
  }
  return out;
}

}  // namespace starling::cli
