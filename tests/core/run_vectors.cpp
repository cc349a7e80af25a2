// Functions of vectors.h, which differ between levels: this is compiled for each of them.
#include <cmath>

#include "kernels.h"
#include "vectors.h"

namespace glasswood {

void run_vectors(const Inputs&, Digests& out) {
    std::vector<double> logarithms;
    for (int k = 0; k < 16000; ++k) logarithms.push_back(std::exp2((k - 8000) / 8.0) * (1.0 + k / 7919.0));
    for (int64_t i = 0; i < int64_t(logarithms.size()); i += DOUBLES) {
        const Doubles found = logarithm(load(logarithms.data() + i));
        for (int lane = 0; lane < DOUBLES; ++lane) {
            double of[DOUBLES];
            store(of, found);
            const double expected = std::log(logarithms[i + lane]);
            out.check(std::fabs(of[lane] - expected) <= 2.3e-16 * std::fabs(expected), "logarithms are right to about one unit in the last place");
        }
        store(logarithms.data() + i, found);
    }
    out.add("logarithms", logarithms);
    std::vector<double> powers{INFINITY, -INFINITY, NAN, 0.0, -0.0, 709.0, 710.0, -708.0, -745.0};
    for (int k = -7200; k < 7200; ++k) powers.push_back(k / 10.0);
    respond(Link::EXP, powers.data(), int64_t(powers.size()), 1.0, 0.0, powers.data());
    out.add("exponentials", powers);
}

}  // namespace glasswood
