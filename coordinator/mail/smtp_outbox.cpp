#include "coordinator/mail/smtp_outbox.h"

#include <curl/curl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

#include "shared/base/free_with.h"
#include "shared/base/log.h"
#include "shared/base/verify.h"

namespace starling::mail {
namespace {

using Handle = std::unique_ptr<CURL, FreeWith<curl_easy_cleanup>>;
using Lines = std::unique_ptr<curl_slist, FreeWith<curl_slist_free_all>>;
using Mime = std::unique_ptr<curl_mime, FreeWith<curl_mime_free>>;

void add(Lines& lines, const std::string& line) {
  curl_slist* longer = curl_slist_append(lines.get(), line.c_str());
  VERIFY(longer != nullptr);
  (void)lines.release();  // it is the head of the longer list
  lines.reset(longer);
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S +0000", &parts)};
}

// A subject as a header carries it: plain ASCII stays, other text becomes encoded words of RFC 2047 (quoted, at most 75
// letters each, never splitting a character), one a line. The library does this for bodies, not for headers.
std::string header_text(std::string_view text) {
  constexpr std::size_t kWordMax = 75 - std::string_view(
                                            "=?utf-8?Q?"
                                            "?=")
                                            .size();
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; })) return std::string(text);
  std::string words;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) words += fmt::format("{}=?utf-8?Q?{}?=", words.empty() ? "" : "\r\n ", word);
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    std::string letter;
    for (; at < end; ++at) {
      const bool plain = std::isalnum(static_cast<unsigned char>(text[at])) != 0;
      letter += plain ? std::string(1, text[at]) : fmt::format("={:02X}", static_cast<unsigned char>(text[at]));
    }
    if (word.size() + letter.size() > kWordMax) finish();
    word += letter;
  }
  finish();
  return words;
}

// The library encodes the text.
Mime text_of(CURL* handle, const std::string& text) {
  Mime mime(curl_mime_init(handle));
  curl_mimepart* part = curl_mime_addpart(mime.get());
  curl_mime_data(part, text.data(), text.size());
  curl_mime_type(part, "text/plain; charset=utf-8");
  curl_mime_encoder(part, "base64");
  return mime;
}

void set_relay(CURL* handle, const SmtpOptions& options) {
  curl_easy_setopt(handle, CURLOPT_URL, options.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(handle, CURLOPT_USE_SSL, options.tls ? CURLUSESSL_ALL : CURLUSESSL_NONE);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(to_ms(options.patience)));
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  if (options.user.empty()) return;
  curl_easy_setopt(handle, CURLOPT_USERNAME, options.user.c_str());
  curl_easy_setopt(handle, CURLOPT_PASSWORD, options.password.c_str());
}

}  // namespace

Status send_letter(const SmtpOptions& options, const accounts::Letter& letter) {
  const Handle handle(curl_easy_init());
  if (handle == nullptr) return Error{ErrorCode::internal, "send mail: no memory"};
  set_relay(handle.get(), options);
  const std::string from = fmt::format("<{}>", options.from);
  const std::string to = fmt::format("<{}>", letter.to);
  Lines recipients;
  add(recipients, to);
  Lines headers;
  for (const std::string& line :
       {"Date: " + date(), "From: " + from, "To: " + to, "Subject: " + header_text(letter.subject),
        std::string("Auto-Submitted: auto-generated")}) {
    add(headers, line);
  }
  const Mime mime = text_of(handle.get(), letter.text);
  curl_easy_setopt(handle.get(), CURLOPT_MAIL_FROM, from.c_str());
  curl_easy_setopt(handle.get(), CURLOPT_MAIL_RCPT, recipients.get());
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle.get(), CURLOPT_MIMEPOST, mime.get());
  const CURLcode code = curl_easy_perform(handle.get());
  if (code == CURLE_OK) return {};
  return Error{ErrorCode::unavailable, fmt::format("send mail through {}: {}", options.url, curl_easy_strerror(code))};
}

SmtpOutbox::SmtpOutbox(SmtpOptions options) : options_(std::move(options)) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  thread_ = std::thread([this] { loop(); });
}

SmtpOutbox::~SmtpOutbox() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Status SmtpOutbox::leave(accounts::Letter letter) {
  const MutexLock lock(mutex_);
  if (waiting_.size() >= kWaitingMax) {
    return Error{ErrorCode::resource_exhausted, "too much mail waits to be sent; try again later"};
  }
  waiting_.push_back(std::move(letter));
  changed_.notify_all();
  return {};
}

std::int64_t SmtpOutbox::sent() const {
  const MutexLock lock(mutex_);
  return sent_;
}

// False if nothing is left to do.
bool SmtpOutbox::next(accounts::Letter& letter) {
  const MutexLock lock(mutex_);
  while (waiting_.empty() && !closing_) changed_.wait(mutex_);
  if (closing_) return false;
  letter = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

// False if the process is ending.
bool SmtpOutbox::pause(Duration time) {
  const SystemClock clock;
  const TimePoint end = clock.now() + time;
  const MutexLock lock(mutex_);
  while (!closing_) {
    const Duration left = end - clock.now();
    if (left <= Duration{}) return true;
    changed_.wait_for(mutex_, left);
  }
  return false;
}

void SmtpOutbox::loop() {
  accounts::Letter letter;
  while (next(letter)) {
    Duration wait = options_.retry_after;
    for (int tries = 1;; ++tries) {
      const Status done = send_letter(options_, letter);
      if (done.ok()) {
        const MutexLock lock(mutex_);
        ++sent_;
        break;
      }
      log_warning("{}{}", done.error().message, tries == kTriesMax ? "; the letter is dropped" : "");
      if (tries == kTriesMax) break;
      if (!pause(wait)) return;
      wait *= 2;
    }
  }
}

}  // namespace starling::mail
