// The loops that add records to tables, for a graphics processor: the bits of the compiled ones in core/sketches.
//
// Every product, sum and fused multiply-add of real numbers is asked for by name, rounded once, in the order of the
// compiled loop, so that no compiler may fuse or reorder one; all else is whole numbers, whose sums are the same in any
// order. A test compiles this file for the processor, where HOST gives these names the same meaning.

#ifndef HOST
#define KERNEL extern "C" __global__ void
#define INLINE static __device__ __forceinline__
#define ADD(place, value) atomicAdd(place, value)
#define LEAST(place, value) atomicMin(place, value)
extern __shared__ unsigned long long shared[];  // of a block of threads
#endif
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
#define NONE 0xFFFFFFFFFFFFFFFFull
#define MOST_CELLS 2147483648.0
#define TOGETHER 8     // records that a thread of add_waves takes at once; their number is padded to a multiple of it
#define APART (1 << 14)  // entries that keep both halves of a packed sum apart

INLINE double step(double a, double x, double sum, int fused) {
  return fused ? __fma_rn(a, x, sum) : __dadd_rn(sum, __dmul_rn(a, x));
}

// The cell of one record in one atomic hash. Coordinate j of the record is x[j * stride].
INLINE u32 cell_of(const double *x, i64 stride, i64 begin, i64 end, const int *coordinate, const double *coefficient,
                   double offset, i64 cells, int fused) {
  double value = offset;
  for (i64 t = begin; t < end; t++) value = step(coefficient[t], x[coordinate[t] * stride], value, fused);
  double top = (double)(cells - 1);
  if ((double)cells == MOST_CELLS)
    value = __dadd_rn(value, -__dmul_rn(floor(__dmul_rn(value, 1.0 / MOST_CELLS)), MOST_CELLS));
  value = value > 0.0 ? value : 0.0;
  return (u32)(value < top ? value : top);
}

// RACE: a thread takes records, and their columns in the rows of its block. Counters of these rows are the block's own
// where they fit there, and are added to the table's at the end.
KERNEL add_cells(const double *points, i64 stride, i64 n, int rows, int rows_of_a_block, u64 width,
                 const i64 *first_hash, const i64 *first_term, const int *coordinate, const double *coefficient,
                 const double *offset, const i64 *cells, const u64 *multiplier, const u64 *addend,
                 const unsigned char *rehashed, int fused, int own, int *counts) {
  int first = blockIdx.y * rows_of_a_block, last = first + rows_of_a_block < rows ? first + rows_of_a_block : rows;
  int size = (last - first) * (int)width;
  int *whole = counts + (i64)first * width, *to = own ? (int *)shared : whole;
  if (own) {
    for (int c = threadIdx.x; c < size; c += blockDim.x) to[c] = 0;
    __syncthreads();
  }
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x)
    for (int r = first; r < last; r++) {
      u64 key = addend[r];
      for (i64 h = first_hash[r]; h < first_hash[r + 1]; h++)
        key += multiplier[h] * cell_of(points + i, stride, first_term[h], first_term[h + 1], coordinate, coefficient,
                                       offset[h], cells[h], fused);
      if (rehashed[r]) key = ((key >> 32) * width) >> 32;
      ADD(to + (r - first) * (int)width + (int)key, 1);
    }
  if (own) {
    __syncthreads();
    for (int c = threadIdx.x; c < size; c += blockDim.x)
      if (to[c]) ADD(whole + c, to[c]);
  }
}

// Random features: a thread takes a row, and some records at once. `waves` are (d, rows), `packed` a table of entries.
KERNEL add_waves(const double *points, i64 stride, i64 n, int d, int rows, const double *waves, const double *phases,
                 const i64 *packed, int steps, int fused, u64 *sums) {
  for (int r = blockIdx.y * blockDim.x + threadIdx.x; r < rows; r += gridDim.y * blockDim.x) {
    i64 cosines = 0, sines = 0, both = 0;
    int held = 0;
    for (i64 i = (i64)blockIdx.x * TOGETHER; i < n; i += (i64)gridDim.x * TOGETHER) {
      double turns[TOGETHER];
      for (int k = 0; k < TOGETHER; k++) turns[k] = phases[r];
      for (int j = 0; j < d; j++) {
        double a = waves[(i64)j * rows + r];
        for (int k = 0; k < TOGETHER; k++) turns[k] = step(a, points[j * stride + i + k], turns[k], fused);
      }
      for (int k = 0; k < TOGETHER; k++)
        if (i + k < n) {
          double turn = __dadd_rn(turns[k], -floor(turns[k]));
          both += packed[(int)__dmul_rn(turn, (double)steps) & (steps - 1)];
        }
      held += TOGETHER;
      if (held + TOGETHER > APART || i + (i64)gridDim.x * TOGETHER >= n) {
        i64 cosine = (i64)(int)(u32)(both & 0xFFFFFFFF);
        cosines += cosine;
        sines += (both - cosine) >> 32;
        both = 0, held = 0;
      }
    }
    ADD(sums + 2 * (i64)r, (u64)cosines);
    ADD(sums + 2 * (i64)r + 1, (u64)sines);
  }
}

INLINE u64 mixed(u64 word) {
  word = (word ^ (word >> 33)) * 0xFF51AFD7ED558CCDull;
  word = (word ^ (word >> 33)) * 0xC4CEB9FE1A85EC53ull;
  return word ^ (word >> 33);
}

// The words of items in one group of rows, in two halves.
KERNEL mix_items(const u64 *elements, i64 n, u64 factor, u64 more, u64 *words) {
  for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += (i64)gridDim.x * blockDim.x)
    words[e] = mixed(elements[e] * factor + more);
}

// MinHash: a thread takes a row of a block of consecutive rows of one group, and sets one after the other.
KERNEL add_sets(const i64 *first, i64 sets, const u64 *words, u32 start, int rows, const u64 *multiplier,
                const u64 *addend, u64 width, int thrown, int *counts) {
  for (i64 s = blockIdx.x; s < sets; s += gridDim.x) {
    if (thrown) {
      __syncthreads();
      for (int t = threadIdx.x; t < rows; t += blockDim.x) shared[t] = NONE;
      __syncthreads();
      for (i64 e = first[s] + threadIdx.x; e < first[s + 1]; e += blockDim.x) {
        u64 turned = mixed(words[e] + (u64)(start + 1) * 0x9E3779B97F4A7C15ull);
        LEAST(shared + (((turned & 0xFFFFFFFF) * (u64)rows) >> 32), turned >> 32);
      }
      __syncthreads();
    }
    for (int t = threadIdx.x; t < rows; t += blockDim.x) {
      u32 least = 0xFFFFFFFF;
      if (thrown && shared[t] != NONE)
        least = (u32)shared[t];
      else
        for (i64 e = first[s]; e < first[s + 1]; e++) {
          u32 number = (u32)words[e] + (start + (u32)t) * (u32)(words[e] >> 32);
          least = number < least ? number : least;
        }
      u64 key = multiplier[t] * least + addend[t];
      ADD(counts + (i64)t * width + (((key >> 32) * width) >> 32), 1);
    }
  }
}
