// LAMB, Muon and AccumAdamW, for which LibTorch has no optimizer, beside their formulas.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/client/optim/reference_run.h"

using namespace starling;
using namespace starling::optim::testing;

namespace {

using Matrix = std::vector<std::vector<double>>;

void adamw(ReferenceTensor& x, const ReferenceStep& s) {
  const wire::OptimizerOptions& o = s.options;
  for (std::size_t i = 0; i < x.p.size(); ++i) {
    x.m[i] = o.beta1 * x.m[i] + (1 - o.beta1) * s.g[i];
    x.v[i] = o.beta2 * x.v[i] + (1 - o.beta2) * s.g[i] * s.g[i];
    const double m_hat = x.m[i] / (1 - std::pow(o.beta1, s.t));
    const double v_hat = x.v[i] / (1 - std::pow(o.beta2, s.t));
    if (x.info.decayed) x.p[i] -= s.learning_rate * o.weight_decay * x.p[i];
    x.p[i] -= s.learning_rate * m_hat / (std::sqrt(v_hat) + o.epsilon);
  }
}

void lamb(ReferenceTensor& x, const ReferenceStep& s) {
  const wire::OptimizerOptions& o = s.options;
  std::vector<double> update(x.p.size());
  for (std::size_t i = 0; i < x.p.size(); ++i) {
    x.m[i] = o.beta1 * x.m[i] + (1 - o.beta1) * s.g[i];
    x.v[i] = o.beta2 * x.v[i] + (1 - o.beta2) * s.g[i] * s.g[i];
    const double m_hat = x.m[i] / (1 - std::pow(o.beta1, s.t));
    const double v_hat = x.v[i] / (1 - std::pow(o.beta2, s.t));
    update[i] = m_hat / (std::sqrt(v_hat) + o.epsilon) + (x.info.decayed ? o.weight_decay * x.p[i] : 0);
  }
  double trust = 1;
  if (x.info.decayed && norm(x.p) > 0 && norm(update) > 0) {
    trust = std::clamp(norm(x.p) / norm(update), o.trust_min, o.trust_max);
  }
  for (std::size_t i = 0; i < x.p.size(); ++i) x.p[i] -= s.learning_rate * trust * update[i];
}

void accum_adamw(ReferenceTensor& x, const ReferenceStep& s) {
  const wire::OptimizerOptions& o = s.options;
  const auto window = static_cast<double>(o.window_rounds);
  const double k = std::ceil(s.t / window);
  for (std::size_t i = 0; i < x.p.size(); ++i) {
    if (x.info.decayed) x.p[i] *= 1 - s.learning_rate * o.weight_decay;
    x.a[i] += s.g[i] / window;
    const double m_now = o.beta1 * x.m[i] + (1 - o.beta1) * s.g[i];
    const double v_now = o.beta2 * x.v[i] + (1 - o.beta2) * s.g[i] * s.g[i];
    x.p[i] -= s.learning_rate * (m_now / (1 - std::pow(o.beta1, k))) /
              (std::sqrt(v_now / (1 - std::pow(o.beta2, k))) + o.epsilon);
    if (std::fmod(s.t, window) != 0) continue;
    x.m[i] = o.beta1 * x.m[i] + (1 - o.beta1) * x.a[i];
    x.v[i] = o.beta2 * x.v[i] + (1 - o.beta2) * x.a[i] * x.a[i];
    x.a[i] = 0;
  }
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out(a.size(), std::vector<double>(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < b[0].size(); ++j) out[i][j] += a[i][k] * b[k][j];
    }
  }
  return out;
}

Matrix transposed(const Matrix& a) {
  Matrix out(a[0].size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[0].size(); ++j) out[j][i] = a[i][j];
  }
  return out;
}

Matrix combined(double p, const Matrix& a, double q, const Matrix& b) {
  Matrix out = a;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[0].size(); ++j) out[i][j] = p * a[i][j] + q * b[i][j];
  }
  return out;
}

void muon(ReferenceTensor& x, const ReferenceStep& s) {
  if (!x.info.hidden) return adamw(x, s);
  const wire::OptimizerOptions& o = s.options;
  const auto rows = static_cast<std::size_t>(x.info.shape[0]), columns = static_cast<std::size_t>(x.info.shape[1]);
  std::vector<double> direction(x.p.size());
  for (std::size_t i = 0; i < x.p.size(); ++i) {
    x.m[i] = o.momentum * x.m[i] + (1 - o.momentum) * s.g[i];
    direction[i] = o.nesterov ? (1 - o.momentum) * s.g[i] + o.momentum * x.m[i] : x.m[i];
  }
  const double length = norm(direction) + 1e-7;
  Matrix q(rows, std::vector<double>(columns));
  for (std::size_t i = 0; i < x.p.size(); ++i) q[i / columns][i % columns] = direction[i] / length;
  if (rows > columns) q = transposed(q);
  for (int step = 0; step < o.newton_schulz_steps; ++step) {
    const Matrix square = product(q, transposed(q));
    q = combined(3.4445, q, 1, product(combined(-4.7750, square, 2.0315, product(square, square)), q));
  }
  if (rows > columns) q = transposed(q);
  const double step_size = s.learning_rate * o.update_rms * std::sqrt(static_cast<double>(std::max(rows, columns)));
  for (std::size_t i = 0; i < x.p.size(); ++i) {
    x.p[i] = x.p[i] * (1 - s.learning_rate * o.weight_decay) - step_size * q[i / columns][i % columns];
  }
}

}  // namespace

TEST_CASE("a hundred steps of LAMB follow its formula") {
  wire::RunManifest manifest = reference_manifest(wire::OptimizerKind::lamb);
  CHECK(difference_after(100, manifest, lamb) < 1e-6);
  manifest.optimizer.weight_decay = 0.5;
  manifest.optimizer.clip_norm = 0;
  CHECK(difference_after(100, manifest, lamb) < 1e-6);
}

TEST_CASE("LAMB's trust ratio stays within its bounds") {
  wire::RunManifest manifest = reference_manifest(wire::OptimizerKind::lamb);
  manifest.optimizer.trust_min = 0.25;  // most tensors would get a smaller ratio here
  CHECK(difference_after(100, manifest, lamb) < 1e-6);
  manifest.optimizer.trust_min = 1;
  manifest.optimizer.trust_max = 1;
  manifest.optimizer.weight_decay = 0;
  CHECK(difference_after(100, manifest, adamw) < 1e-6);  // without ratios and decay LAMB is AdamW
}

TEST_CASE("a hundred steps of AccumAdamW follow its formula, whole windows and a part of one") {
  wire::RunManifest manifest = reference_manifest(wire::OptimizerKind::accum_adamw);
  for (const std::int64_t window : {1, 4, 7}) {
    manifest.optimizer.window_rounds = window;
    CHECK(difference_after(100, manifest, accum_adamw) < 1e-6);
  }
}

TEST_CASE("AccumAdamW with a window of one round is AdamW") {
  wire::RunManifest manifest = reference_manifest(wire::OptimizerKind::accum_adamw);
  manifest.optimizer.window_rounds = 1;
  CHECK(difference_after(100, manifest, adamw) < 1e-6);
}

TEST_CASE("a hundred steps of Muon follow its formula: wide, tall and square matrices, and AdamW for the rest") {
  wire::RunManifest manifest = reference_manifest(wire::OptimizerKind::muon);
  CHECK(difference_after(100, manifest, muon) < 1e-6);
  manifest.optimizer.nesterov = false;
  manifest.optimizer.clip_norm = 0;
  CHECK(difference_after(100, manifest, muon) < 1e-6);
}
