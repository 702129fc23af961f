// The only user of the matrix library: products of row-major matrices that may lie within larger ones.
#pragma once

namespace starling::models {

// Sets the number of threads that a product may use, in the whole process.
void set_matrix_threads(int threads);

// A view of rows × columns floats, `stride` apart from row to row.
struct Matrix {
  const float* data = nullptr;
  int rows = 0;
  int columns = 0;
  int stride = 0;
  bool is_transposed = false;  // stored as columns × rows

  [[nodiscard]] Matrix transposed() const { return {data, columns, rows, stride, !is_transposed}; }
};

// Whether a product takes the place of the values that stand there, or is added to them.
enum class Product { replaces, is_added };
// out = a · b, or out += a · b; `out` has a.rows rows of b.columns floats, `out_stride` apart.
void multiply(const Matrix& a, const Matrix& b, float* out, int out_stride, Product product = Product::replaces);

}  // namespace starling::models
