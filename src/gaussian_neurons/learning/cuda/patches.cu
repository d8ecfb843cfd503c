// Random patches of images: the twin of native/patches.hpp, with the same bits.
//
// Constants of the compilation: REAL, PIXEL (unsigned char, scaled by 1/255, or float as it is), D.

typedef unsigned int Word;
typedef unsigned long long Long;

constexpr int SAMPLES = 64;  // of a block

// Philox4x32-10 of the counter (sample, 0, 0).
__device__ void philox(Long sample, Long seed, Word* word) {
    Word key_0 = Word(seed), key_1 = Word(seed >> 32);
    Word a = Word(sample), b = Word(sample >> 32), c = 0, d = 0;
    for (int round = 0; round < 10; ++round) {
        const Long first = Long(a) * 0xD2511F53u, third = Long(c) * 0xCD9E8D57u;
        a = Word(third >> 32) ^ b ^ key_0;
        b = Word(third);
        c = Word(first >> 32) ^ d ^ key_1;
        d = Word(first);
        key_0 += 0x9E3779B9u;
        key_1 += 0xBB67AE85u;
    }
    word[0] = a, word[1] = b, word[2] = c, word[3] = d;
}

__device__ REAL value_of(unsigned char pixel) { return REAL(pixel) / REAL(255); }
__device__ REAL value_of(float pixel) { return REAL(pixel); }

// out (streams, most, D): of each stream, samples [first, first + n). images (., height, width, channels). A
// stream draws from `count` images, whose numbers are in `chosen`, if that is not null.
extern "C" __global__ void draw(const PIXEL* images, Long height, Long width, Long channels, Long size,
                                const Long* seeds, const Long* firsts, const Long* ns, const Long* counts,
                                const long long* const* of_classes, Long most, REAL* out) {
    __shared__ const PIXEL* patches[SAMPLES];
    const Long count = counts[blockIdx.y];
    const long long* chosen = of_classes[blockIdx.y];
    const Long begin = Long(blockIdx.x) * SAMPLES, seed = seeds[blockIdx.y], first = firsts[blockIdx.y];
    const Long left = ns[blockIdx.y] > begin ? ns[blockIdx.y] - begin : 0;
    const int rows = left < SAMPLES ? int(left) : SAMPLES;
    out += (blockIdx.y * most + begin) * D;
    if (threadIdx.x < rows) {
        Word word[4];
        philox(first + begin + threadIdx.x, seed, word);
        Long image = (word[1] * count + (word[0] * count >> 32)) >> 32;
        const Long row = word[2] * (height - size + 1) >> 32, column = word[3] * (width - size + 1) >> 32;
        if (chosen) image = chosen[image];
        patches[threadIdx.x] = images + ((image * height + row) * width + column) * channels;
    }
    __syncthreads();
    const int length = size * channels;  // of a row of a patch
    for (int k = threadIdx.x; k < rows * D; k += blockDim.x) {
        const int d = k % D;
        out[k] = value_of(patches[k / D][d / length * width * channels + d % length]);
    }
}
