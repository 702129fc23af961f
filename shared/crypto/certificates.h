// The project's own certificate authority. Every link of a project trusts this one CA and nothing else. A volunteer's
// certificate names its key (common name: the peer id in hex) and nothing about a person or a run. The coordinator's
// carries kCoordinatorName as a DNS name; volunteers' certificates carry no names at all, and names in a request are
// ignored, so no volunteer can pass for the coordinator.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"

struct x509_st;

namespace starling::crypto {

// Name that a client requires in the coordinator's certificate, whatever address it dialled.
constexpr std::string_view kCoordinatorName = "coordinator.starling";

constexpr std::chrono::hours kCertificateLifetime{24};
// Certificates begin in the past, so that a clock that is a little behind accepts them.
constexpr std::chrono::minutes kCertificateBackdate{10};
constexpr std::chrono::hours kServerCertificateLifetime{24 * 365};
// The CA's and the coordinator's certificates are checked against clocks that nobody has corrected yet, so they begin
// earlier.
constexpr std::chrono::hours kServerCertificateBackdate{48};

// The fields of a certificate that matter here. They are claims: reading a certificate verifies nothing.
struct CertificateInfo {
  PeerId peer_id;  // ID of the certified key
  std::string common_name;
  WallTime not_before;
  WallTime not_after;
  Digest fingerprint;        // SHA-256 of the DER bytes
  bool coordinator = false;  // carries kCoordinatorName
  bool authority = false;    // a CA certificate
};
Result<CertificateInfo> read_certificate(std::string_view pem);

// Makes a certificate request for `key`, signed by it (PKCS #10, PEM).
std::string make_csr(const PrivateKey& key);
// Checks a request's signature and returns the peer ID of its key. unsupported for other keys than Ed25519.
Result<PeerId> read_csr(std::string_view csr_pem);

// Validity of a volunteer's certificate. It begins before `now` by `backdate`, so that a clock that is slow accepts it.
struct IssueOptions {
  WallTime now;
  Duration lifetime = kCertificateLifetime;  // counted from now, in addition to the backdating
  Duration backdate = kCertificateBackdate;
};

// Validity and names of the coordinator's certificate.
struct ServerOptions {
  WallTime now;
  std::vector<std::string> hosts;  // further names and addresses at which browsers may dial the coordinator
  Duration lifetime = kServerCertificateLifetime;
};

// Copies share key and certificate, which never change. Safe from several threads.
class CertificateAuthority {
 public:
  // Makes a new key and its self-signed certificate, valid for 20 years.
  static Result<CertificateAuthority> create(std::string_view project_name, WallTime now);
  // failed_precondition when the two do not belong together or the certificate is not a CA's.
  static Result<CertificateAuthority> load(std::string_view certificate_pem, std::string_view key_pem);

  [[nodiscard]] const std::string& certificate_pem() const { return certificate_pem_; }
  [[nodiscard]] std::string key_pem() const { return key_.to_pem(); }
  // SHA-256 of the certificate's DER bytes; join links pin it.
  [[nodiscard]] const Digest& fingerprint() const { return fingerprint_; }

  // Issues a volunteer's certificate, for both ends of a link, as PEM. The caller decides whether the peer may have
  // one; the request's signature is checked here.
  [[nodiscard]] Result<std::string> issue(std::string_view csr_pem, const IssueOptions& options) const;
  // Issues the coordinator's own certificate.
  [[nodiscard]] Result<std::string> issue_server(const PublicKey& key, const ServerOptions& options) const;

 private:
  CertificateAuthority(PrivateKey key, std::shared_ptr<x509_st> certificate);

  PrivateKey key_;
  std::shared_ptr<x509_st> certificate_;
  std::string certificate_pem_;
  Digest fingerprint_;
};

}  // namespace starling::crypto
