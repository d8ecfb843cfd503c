// Equation 1 for one large layer, one sample after another; matrix products do the work between these kernels.
//
// With m_i = mu_i - x, the squared distance of a pair is |m_i|^2 + |m_j|^2 - 2 m_i m_j, and the push on neuron i
// is sum_j w_ij m_j - m_i sum_j w_ij: distances from the sample, so that data far from the origin loses nothing.
//
// If SPLIT, a float32 number is a sum high + low of two numbers that tensor cores multiply exactly, TF32 with 11
// bits each, and products leave out low * low. `parts` (3 K, PITCH) has the m_i in high parts, in low parts and in
// high parts, `weights` (K, 3 K) the weights in low, high and high parts: one product adds up all three. Column D
// of the high parts is 1, so that it also gives the sums of the weights. Otherwise there is one part of each.
//
// Constants of the compilation: REAL, K (padded to a multiple of 32), NEURONS (without padding), D, PITCH, SPLIT.

typedef REAL Real;

constexpr int THREADS = 256;
constexpr int TILE = 32, TILE_ROWS = 8;

__device__ __forceinline__ float exp_of(float x) { return exp2f(x * 1.4426950408889634f); }
__device__ __forceinline__ double exp_of(double x) { return exp(x); }

__device__ __forceinline__ Real high_part(Real value) {
#if SPLIT
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return __uint_as_float(bits);
#else
    return value;
#endif
}

// The sum over the threads of a block, for its first thread.
__device__ Real over_block(Real sum) {
    __shared__ Real sums[THREADS / 32];
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    Real all = 0;
    for (int k = 0; k < THREADS / 32; ++k) all += sums[k];
    return all;
}

// One block for each neuron. If `moves`, the step of Equation 1 for the sample that `parts` are relative to
// [4]; if `repels`, `pushed` (K, PITCH) has its sums, and `against` is eta lambda r. Then the parts relative to
// the next sample x, their squares in `norms`, and the pulls eta f_i(x) / sigma_i.
extern "C" __global__ void step(Real* centers, const Real* x, Real* parts, const Real* pushed, Real* norms,
                                Real* pulls, const Real* widths, Real rate, Real against, int moves,
                                int repels) {
    const long long i = blockIdx.x;
    Real* high = parts + i * PITCH;
    Real *low = high + K * PITCH, *again = low + K * PITCH;  // if SPLIT
    const Real* push = pushed + i * PITCH;
    const Real pull = moves ? pulls[i] : Real(0), pushes = repels ? push[D] : Real(0);
    Real sum = 0;
    for (int d = threadIdx.x; d < D; d += THREADS) {
        Real center = centers[i * D + d];
        if (moves) {
            Real from = high[d];
#if SPLIT
            from += low[d];
#endif
            center += -pull * from;
            if (repels) center -= against * (push[d] - pushes * from);
            centers[i * D + d] = center;
        }
        const Real from = center - x[d], rounded = high_part(from);
        high[d] = rounded;
#if SPLIT
        low[d] = from - rounded;
        again[d] = rounded;
#endif
        sum += from * from;
    }
    const Real square = over_block(sum);
    if (threadIdx.x == 0) {
        norms[i] = square;
        pulls[i] = rate * exp_of(-square / widths[i]) / widths[i];
    }
}

// w_ij = f_i(mu_j) / sigma_i + f_j(mu_i) / sigma_j of all pairs, from the products of m_i with high parts and, if
// SPLIT, with low parts (K, 2 K).
extern "C" __global__ void weigh(const Real* products, const Real* norms, const Real* widths, Real* weights) {
    constexpr long long ROW = SPLIT ? 2 * K : K;  // of products
    __shared__ Real across[TILE][TILE + 1];
    const long long i0 = blockIdx.y * TILE, j = blockIdx.x * TILE + threadIdx.x;
#if SPLIT
    for (int r = threadIdx.y; r < TILE; r += TILE_ROWS)
        across[r][threadIdx.x] = products[(blockIdx.x * TILE + r) * ROW + K + i0 + threadIdx.x];
    __syncthreads();
#endif
    for (int r = threadIdx.y; r < TILE; r += TILE_ROWS) {
        const long long i = i0 + r;
        Real weight = 0;
        if (i < NEURONS && j < NEURONS && i != j) {
            Real product = products[i * ROW + j];
#if SPLIT
            product += products[i * ROW + K + j] + across[threadIdx.x][r];
#endif
            Real distance = norms[i] + norms[j] - 2 * product;
            if (distance < 0) distance = 0;
            weight = exp_of(-distance / widths[i]) / widths[i] + exp_of(-distance / widths[j]) / widths[j];
        }
        const Real rounded = high_part(weight);
#if SPLIT
        Real* to = weights + i * 3 * K + j;
        to[0] = weight - rounded;
        to[K] = to[2 * K] = rounded;
#else
        weights[i * K + j] = weight;
#endif
    }
}
