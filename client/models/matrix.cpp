#include "client/models/matrix.h"

#include <cblas.h>

#include "shared/base/verify.h"

namespace starling::models {

void set_matrix_threads(int threads) { ::openblas_set_num_threads(threads); }

void multiply(const Matrix& a, const Matrix& b, float* out, int out_stride, Product product) {
  VERIFY(a.columns == b.rows);
  const auto order = [](const Matrix& matrix) { return matrix.is_transposed ? CblasTrans : CblasNoTrans; };
  cblas_sgemm(CblasRowMajor, order(a), order(b), a.rows, b.columns, a.columns, 1.0F, a.data, a.stride, b.data, b.stride,
              product == Product::is_added ? 1.0F : 0.0F, out, out_stride);
}

}  // namespace starling::models
