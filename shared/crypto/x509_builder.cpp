#include "shared/crypto/x509_builder.h"

#include "shared/base/host_name.h"
#include "shared/crypto/secrets.h"

namespace starling::crypto {
namespace {

constexpr std::size_t kHostsMax = 17;

std::int64_t seconds_of(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

void add_name(GENERAL_NAMES* names, int type, std::string_view value) {
  GENERAL_NAME* name = GENERAL_NAME_new();
  ASN1_STRING* text = ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
  VERIFY(name != nullptr && text != nullptr);
  VERIFY(ASN1_STRING_set(text, value.data(), static_cast<int>(value.size())) == 1);
  GENERAL_NAME_set0_value(name, type, text);
  VERIFY(sk_GENERAL_NAME_push(names, name) > 0);
}

Status add_host_name(GENERAL_NAMES* names, const std::string& host) {
  if (ASN1_OCTET_STRING* address = a2i_IPADDRESS(host.c_str()); address != nullptr) {
    const auto* bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(address));
    add_name(names, GEN_IPADD, {bytes, static_cast<std::size_t>(ASN1_STRING_length(address))});
    ASN1_OCTET_STRING_free(address);
    return {};
  }
  if (!is_host_name(host)) {
    return Error{ErrorCode::invalid_argument, "issue certificate: '" + host + "' is no host name or address"};
  }
  add_name(names, GEN_DNS, host);
  return {};
}

}  // namespace

void set_period(CertificateFields& fields, WallTime now, Duration backdate, Duration lifetime) {
  fields.begins_s = now.unix_ms / 1000 - seconds_of(backdate);
  fields.ends_s = now.unix_ms / 1000 + seconds_of(lifetime);
}

X509Ptr make_blank(const CertificateFields& fields) {
  X509Ptr certificate(X509_new());
  VERIFY(certificate != nullptr && X509_set_version(certificate.get(), X509_VERSION_3) == 1);
  const std::uint64_t serial = random_u64() >> 1;  // RFC 5280: positive, unguessable
  VERIFY(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial | 1) == 1);
  VERIFY(ASN1_TIME_set(X509_getm_notBefore(certificate.get()), fields.begins_s) != nullptr);
  VERIFY(ASN1_TIME_set(X509_getm_notAfter(certificate.get()), fields.ends_s) != nullptr);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  if (X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(fields.subject.data()),
                                 static_cast<int>(fields.subject.size()), -1, 0) != 1) {
    return nullptr;
  }
  VERIFY(X509_set_issuer_name(certificate.get(), fields.issuer != nullptr ? fields.issuer : subject) == 1);
  VERIFY(X509_set_pubkey(certificate.get(), fields.key) == 1);
  return certificate;
}

void add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  VERIFY(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1);
}

// Names are built as values, never as OpenSSL's configuration text, which a name could break out of.
Status add_host_names(X509* certificate, const std::vector<std::string>& hosts) {
  if (hosts.size() > kHostsMax) {
    return Error{ErrorCode::invalid_argument, "issue certificate: too many host names"};
  }
  const NamesPtr names(GENERAL_NAMES_new());
  VERIFY(names != nullptr);
  for (const std::string& host : hosts) STARLING_TRY(add_host_name(names.get(), host));
  ERR_clear_error();
  VERIFY(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) == 1);
  return {};
}

}  // namespace starling::crypto
