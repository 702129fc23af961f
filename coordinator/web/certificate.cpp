#include "coordinator/web/certificate.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

#include "coordinator/web/html.h"
#include "shared/crypto/digest.h"
#include "shared/crypto/secrets.h"

namespace starling::web {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;
constexpr std::size_t kProofDigits = 20;
constexpr double kFlopPerCredit = 86'400e9 / 200;

std::string figures(const Certified& certified) {
  return fmt::format("{}-{}-{}-{}", certified.account_id, certified.day, certified.total.samples,
                     certified.total.credit);
}

std::string proof(const std::string& figures, std::string_view secret) {
  return crypto::keyed_digest(secret, "certificate " + figures).hex().substr(0, kProofDigits);
}

// "1-2-3-4" as four numbers, none of them negative.
std::optional<std::array<std::int64_t, 4>> read_figures(std::string_view text) {
  std::array<std::int64_t, 4> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool last = i + 1 == numbers.size();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers[i]);
    const auto used = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || numbers[i] < 0) return std::nullopt;
    if (last ? used != text.size() : used >= text.size() || text[used] != '-') return std::nullopt;
    text.remove_prefix(used + (last ? 0 : 1));
  }
  return numbers;
}

void add_text(std::string& svg, int y, int size, std::string_view more, std::string_view text) {
  svg += fmt::format("<text x=\"500\" y=\"{}\" font-size=\"{}\" text-anchor=\"middle\" {}>{}</text>\n", y, size, more,
                     text);
}

// A font size that shrinks for long names, so that even the widest letters fit.
int name_size(std::string_view name) { return name.size() <= 14 ? 60 : name.size() <= 24 ? 38 : 26; }

}  // namespace

std::string certificate_code(const Certified& certified, std::string_view secret) {
  const std::string text = figures(certified);
  return text + "-" + proof(text, secret);
}

std::optional<Certified> read_certificate_code(std::string_view code, std::string_view secret) {
  const std::size_t dash = code.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto numbers = read_figures(code.substr(0, dash));
  if (!numbers) return std::nullopt;
  const Certified certified{(*numbers)[0], (*numbers)[1], {(*numbers)[2], (*numbers)[3]}};
  const std::string right = certificate_code(certified, secret);
  if (!crypto::constant_time_equal(crypto::as_bytes(right), crypto::as_bytes(code))) return std::nullopt;
  return certified;
}

double flop_of(const db::Totals& total) { return credit_of(total) * kFlopPerCredit; }

std::string power_text(double number) {
  if (number <= 0) return "0";
  const int power = static_cast<int>(std::floor(std::log10(number)));
  constexpr std::array<std::string_view, 10> kRaised = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string raised = power < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(power))) raised += kRaised[static_cast<std::size_t>(digit - '0')];
  return fmt::format("{:.2f} × 10{}", number / std::pow(10, power), raised);
}

std::string render_certificate(const CertificateData& data) {
  const Certified& certified = data.certified;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 700\" width=\"1000\" height=\"700\" "
      "font-family=\"Georgia, 'DejaVu Serif', 'Times New Roman', serif\" fill=\"#1b1d29\">\n<title>Certificate of {}, "
      "{}</title>\n"
      "<defs><linearGradient id=\"g\"><stop offset=\"0\" stop-color=\"#312e81\"/><stop offset=\".45\" "
      "stop-color=\"#4338ca\"/><stop offset=\"1\" stop-color=\"#0f766e\"/></linearGradient></defs>\n"
      "<rect width=\"1000\" height=\"700\" fill=\"#fff\"/><rect x=\"24\" y=\"24\" width=\"952\" height=\"652\" "
      "rx=\"18\" "
      "fill=\"none\" stroke=\"url(#g)\" stroke-width=\"6\"/>"
      "<rect x=\"38\" y=\"38\" width=\"924\" height=\"624\" rx=\"10\" fill=\"none\" stroke=\"#c7c9dd\"/>\n"
      "<path transform=\"translate(452 66) scale(3)\" d=\"M6 21c5-1 7-9 10-9s5 8 10 9c-4 1-7 0-10-4-3 4-6 5-10 4z\" "
      "fill=\"#4338ca\"/>\n",
      escape(data.name), escape(data.project));
  const std::string credit = short_number(credit_of(certified.total));
  add_text(svg, 192, 30, "fill=\"#5b6072\" letter-spacing=\"6\"", "CERTIFICATE OF CONTRIBUTION");
  add_text(svg, 292, name_size(data.name), "font-weight=\"bold\" unicode-bidi=\"isolate\"", escape(data.name));
  add_text(svg, 344, 24, "", "has given computing time to train a neural network,");
  add_text(svg, 376, 24, "", "together with others, in the project");
  add_text(svg, 412, 26, "font-weight=\"bold\"", escape(data.project));
  add_text(svg, 474, 40, "font-weight=\"bold\" fill=\"#4338ca\"", fmt::format("{} credit", credit));
  add_text(svg, 516, 24, "",
           fmt::format("{} samples accepted · {} floating-point operations", grouped(certified.total.samples),
                       power_text(flop_of(certified.total))));
  if (data.more_waits) {
    add_text(svg, 543, 16, "fill=\"#5b6072\"", "and more, which is not final yet and not counted here");
  }
  add_text(svg, 574, 22, "fill=\"#5b6072\"", utc({certified.day * kMsPerDay}).substr(0, 10));
  add_text(svg, 616, 15, "fill=\"#5b6072\" font-family=\"monospace\"", escape(data.code));
  add_text(svg, 642, 15, "fill=\"#5b6072\"", fmt::format("may be checked at {}", escape(data.check_at)));
  return svg + "</svg>\n";
}

}  // namespace starling::web
