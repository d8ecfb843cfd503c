// Equations 1 and 2 for many layers at once, one sample after another: the twin of reference.py. Numbers in
// brackets are those of docs/algorithm.md.
//
// A thread has a neuron i; neurons j are read from shared memory. If K is at most 32, a warp has a layer, and
// S threads have the same neuron and divide the j among them. Otherwise a block has a layer.
//
// The difference of each pair is taken first, as in the core: a distance from products would lose the digits of
// neurons that are near each other, which then move apart in another direction.
//
// Constants of the compilation: REAL, K, D, EQUAL (all neurons of a layer have one width), LEARNS_WIDTHS.

typedef REAL Real;

constexpr int power_of_two(int least) {
    int found = 1;
    while (found < least) found *= 2;
    return found;
}

constexpr int P = K <= 32 ? power_of_two(K) : (K + 31) / 32 * 32;  // threads with different neurons
constexpr int S = P <= 32 ? 32 / P : 1;                            // threads with the same neuron
constexpr int THREADS = P * S;                                     // of a layer
constexpr int LAYERS = K <= 32 ? 4 : 1;                            // of a block
constexpr int V = 16 / sizeof(Real);                               // numbers in a vector of shared memory
constexpr int VECTORS = (D + V - 1) / V | 1;                       // of a row; odd, so rows differ in their banks
constexpr int ROWS = 32;  // samples that are read at a time

struct alignas(16) Vector {
    Real at[V];
};

struct Layer {  // in shared memory
    Vector centers[K * VECTORS];
    Vector samples[ROWS * VECTORS];
    Real sample_widths[ROWS];
    Real inverse[P], scale[P];  // 1 / sigma_j, -log2(e) / sigma_j
};

// exp(-d / sigma) [1], for scale = -log2(e) / sigma.
__device__ __forceinline__ float response(float distance, float scale) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(distance * scale));
    return result;
}
__device__ __forceinline__ double response(double distance, double scale) { return exp2(distance * scale); }

__device__ __forceinline__ void wait_for_layer() {
    if (LAYERS == 1)
        __syncthreads();
    else
        __syncwarp();
}

// The sum over the threads that have the same neuron.
__device__ __forceinline__ Real over_same(Real sum) {
#pragma unroll
    for (int step = P; step < THREADS; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    return sum;
}

// difference = row - mu, and its square.
__device__ __forceinline__ Real measured(const Vector* row, const Real (&mu)[D], Real (&difference)[D]) {
    Real part[4] = {0, 0, 0, 0};
#pragma unroll
    for (int v = 0; v < (D + V - 1) / V; ++v) {
        const Vector values = row[v];
#pragma unroll
        for (int e = 0; e < V; ++e) {
            const int d = v * V + e;
            if (d < D) {
                difference[d] = values.at[e] - mu[d];
                part[d % 4] += difference[d] * difference[d];
            }
        }
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}

// centers (layers, K, D) and widths (layers, K) are changed. Layer l learns counts[l] rows from streams[l] and, if
// widths are learned, own_widths[l]. rules (layers, 4): eta_mu, lambda, eta_sigma, r. seen: samples before.
// A width that is no longer positive becomes NaN, which then spreads: the layer is invalid from there on.
extern "C" __global__ void __launch_bounds__(THREADS* LAYERS)
    learn(Real* centers, Real* widths, const Real* const* streams, const Real* const* own_widths,
          const long long* seen, const long long* counts, const double* rules, int layers) {
    extern __shared__ Vector memory[];
    const int number = blockIdx.x * LAYERS + threadIdx.x / THREADS;
    if (number >= layers) return;  // a whole warp or block
    Layer& layer = reinterpret_cast<Layer*>(memory)[threadIdx.x / THREADS];
    const int thread = threadIdx.x % THREADS, i = thread % P, first = thread / P;
    const int mine = i < K ? i : K - 1;
    const bool writes = i < K && first == 0;

    const Real* stream = streams[number];
    const long long n = counts[number];
    const Real rate = rules[4 * number], inhibition = rules[4 * number + 1], width_rate = rules[4 * number + 2];
    const int every = rules[4 * number + 3];
    int until_repulsion = every - int(seen[number] % every);

    Real mu[D], difference[D], push[D];
    for (int d = 0; d < D; ++d) mu[d] = centers[((long long)number * K + mine) * D + d];
    Real width = widths[(long long)number * K + mine];
    const Real minus_log2_e = Real(-1.4426950408889634);

    auto publish_center = [&] {
        if (!writes) return;
#pragma unroll
        for (int v = 0; v < (D + V - 1) / V; ++v) {
            Vector values = {};
#pragma unroll
            for (int e = 0; e < V; ++e)
                if (v * V + e < D) values.at[e] = mu[v * V + e];
            layer.centers[i * VECTORS + v] = values;
        }
    };
    auto publish_width = [&] {
        if (!writes) return;
        layer.inverse[i] = 1 / width;
        layer.scale[i] = minus_log2_e / width;
    };
    publish_center();
    publish_width();

    for (long long begin = 0; begin < n; begin += ROWS) {
        const int rows = n - begin < ROWS ? int(n - begin) : ROWS;
        for (int k = thread; k < rows * D; k += THREADS)
            layer.samples[k / D * VECTORS + k % D / V].at[k % D % V] = stream[begin * D + k];
        if (LEARNS_WIDTHS)
            for (int k = thread; k < rows; k += THREADS) layer.sample_widths[k] = own_widths[number][begin + k];
        wait_for_layer();
        for (int row = 0; row < rows; ++row) {
            const Vector* x = layer.samples + row * VECTORS;
            Real scale = minus_log2_e / width, inverse = 1 / width;

            // Equation 1 [4]: push = sum_j (f_i(mu_j) / sigma_i + f_j(mu_i) / sigma_j) (mu_j - mu_i)
#pragma unroll
            for (int d = 0; d < D; ++d) push[d] = 0;
            const bool repels = --until_repulsion == 0;
            if (repels) {
                until_repulsion = every;
#pragma unroll UNROLLED
                for (int step = 0; step < (K + S - 1) / S; ++step) {
                    const int j = step * S + first, row_of = K % S == 0 || j < K ? j : K - 1;
                    const Real distance = measured(layer.centers + row_of * VECTORS, mu, difference);
                    Real weight = response(distance, scale) * inverse;
                    if (EQUAL)
                        weight += weight;
                    else
                        weight += response(distance, layer.scale[row_of]) * layer.inverse[row_of];
                    if (K % S != 0 && j >= K) weight = 0;
#pragma unroll
                    for (int d = 0; d < D; ++d) push[d] += weight * difference[d];
                }
#pragma unroll
                for (int d = 0; d < D; ++d) push[d] = over_same(push[d]);
            }
            const Real distance = measured(x, mu, difference);
            const Real pull = rate * (response(distance, scale) * inverse), against = rate * inhibition * every;
#pragma unroll
            for (int d = 0; d < D; ++d) mu[d] += pull * difference[d] - against * push[d];
            wait_for_layer();  // all have read the old centers
            publish_center();
            wait_for_layer();

            if (LEARNS_WIDTHS) {  // Equation 2 [6], with the new centers and the old widths
                const Real own = layer.sample_widths[row];
                Real others = 0;
                for (int j = first; j < K; j += S)
                    if (j != i)
                        others += response(measured(layer.centers + j * VECTORS, mu, difference), layer.scale[j]);
                others = over_same(others);
                const Real apart = measured(x, mu, difference);
                Real free = 0;
                if (own > 0) free = response(apart / own, minus_log2_e) - 2 * inhibition * others;
                if (free > 0) width += width_rate * free * response(apart, scale) * (own - width);
                if (!(width > 0)) width = Real(0) / Real(0);
                wait_for_layer();  // all have read the old widths
                publish_width();
                wait_for_layer();
            }
        }
        wait_for_layer();  // all have read the samples
    }
    if (writes) {
        for (int d = 0; d < D; ++d) centers[((long long)number * K + i) * D + d] = mu[d];
        widths[(long long)number * K + i] = width;
    }
}

extern "C" __global__ void sizes(int* found) {
    found[0] = THREADS * LAYERS;
    found[1] = LAYERS;
    found[2] = sizeof(Layer);
}
