#include "coordinator/accounts/credentials.h"

#include <fmt/core.h>

#include <algorithm>

#include "coordinator/gate/text.h"
#include "shared/crypto/secrets.h"

namespace starling::accounts {
namespace {

// There are 32 letters, so that the low bits of a byte choose one.
constexpr std::string_view kCodeLetters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
constexpr std::size_t kCodeLength = 8;
static_assert(kCodeLetters.size() == 32);

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), gate::to_lower);
  return out;
}

// Letters in groups of four.
template <std::size_t length>
std::string random_letters() {
  std::array<std::uint8_t, length> bytes{};
  crypto::fill_random(bytes);
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    if (i > 0 && i % 4 == 0) text += '-';
    text += kCodeLetters[bytes[i] % kCodeLetters.size()];
  }
  return text;
}

// The forms that mail servers deliver: no quotes, no comments, a dot in the domain.
bool is_address(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at > 64 || text.size() > kEmailBytesMax) return false;
  const std::string_view domain = text.substr(at + 1);
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  const auto local = [&](char c) {
    return plain(c) || std::string_view("!#$%&'*+/=?^_`{|}~").find(c) != std::string_view::npos;
  };
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), local) &&
         std::all_of(domain.begin(), domain.end(), plain) && domain.find('.') != std::string_view::npos &&
         domain.front() != '.' && domain.back() != '.' && domain.find("..") == std::string_view::npos;
}

std::size_t letters_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

Result<std::string> check_email(std::string_view email) {
  std::string address = lower(trimmed(email));
  if (address.empty() || is_address(address)) return address;
  return Error{ErrorCode::invalid_argument, "this is no e-mail address; write one such as ada@example.org"};
}

Status check_new_password(std::string_view password, std::string_view name, std::string_view email) {
  const auto refuse = [](std::string message) { return Error{ErrorCode::invalid_argument, std::move(message)}; };
  if (letters_of(password) < kPasswordLettersMin) {
    return refuse(fmt::format("a password has {} letters or more; some words in a row do well", kPasswordLettersMin));
  }
  if (password.size() > crypto::kPasswordBytesMax) {
    return refuse(fmt::format("a password has {} bytes at most", crypto::kPasswordBytesMax));
  }
  if (std::all_of(password.begin(), password.end(), [&](char c) { return c == password.front(); })) {
    return refuse("this password is one letter again and again; choose another one");
  }
  const std::string plain = lower(password);
  if (plain == lower(name) || (!email.empty() && plain == lower(email))) {
    return refuse("this password is your name or address; choose another one");
  }
  return {};
}

std::string make_passphrase() { return random_letters<16>(); }

std::string make_code() { return random_letters<kCodeLength>(); }

std::optional<std::string> read_code(std::string_view typed) {
  std::string code;
  for (char c : typed) {
    if (c == '-' || c == ' ') continue;
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (kCodeLetters.find(c) == std::string_view::npos) return std::nullopt;
    if (code.size() == kCodeLength / 2) code += '-';
    code += c;
  }
  if (code.size() != kCodeLength + 1) return std::nullopt;
  return code;
}

}  // namespace starling::accounts
