// Runs every kernel, alone and in four threads at once, and compares the digests of the results with those in a file:
//
//     core_test golden.txt            compares
//     core_test golden.txt --write    writes the file
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>

#include "kernels.h"

using namespace glasswood;

namespace {

Digests run_all(const Inputs& in) {
    Digests out;
    run_ensemble(in, out);
    run_counting(in, out);
    run_bins(in, out);
    run_closed_forms(in, out);
    run_interactions(in, out);
    run_metrics(in, out);
    run_responses(in, out);
    run_vectors(in, out);
    run_derived(in, out);
    run_statistics(in, out);
    return out;
}

std::string hex(std::uint64_t digest) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest));
    return text;
}

// A line has a digest and a name.
std::map<std::string, std::string> read(const char* path) {
    std::ifstream file(path);
    std::map<std::string, std::string> golden;
    std::string digest, name;
    while (file >> digest >> std::ws && std::getline(file, name)) golden[name] = digest;
    return golden;
}

int n_differences(const Digests& found, const std::map<std::string, std::string>& golden, const char* where) {
    for (const std::string& what : found.broken) std::cout << where << ": it does not hold that " << what << '\n';
    int n = int(found.broken.size()) + (found.all.size() != golden.size());
    if (found.all.size() != golden.size()) std::cout << where << ": " << found.all.size() << " results, not " << golden.size() << '\n';
    for (const auto& [name, digest] : found.all) {
        const auto expected = golden.find(name);
        if (expected != golden.end() && expected->second == hex(digest)) continue;
        std::cout << where << ": " << name << " is " << hex(digest) << ", not "
                  << (expected == golden.end() ? "expected" : expected->second) << '\n';
        ++n;
    }
    return n;
}

}  // namespace

int main(int n_arguments, char** arguments) {
    if (n_arguments < 2) return std::cout << "usage: core_test golden.txt [--write]\n", 2;
    const Inputs in;
    const Digests alone = run_all(in);
    if (n_arguments > 2 && std::strcmp(arguments[2], "--write") == 0) {
        std::ofstream file(arguments[1]);
        for (const auto& [name, digest] : alone.all) file << hex(digest) << ' ' << name << '\n';
        return 0;
    }
    std::vector<Digests> together(4);
    std::vector<std::thread> threads;
    for (Digests& found : together) threads.emplace_back([&in, &found] { found = run_all(in); });
    for (std::thread& thread : threads) thread.join();

    const std::map<std::string, std::string> golden = read(arguments[1]);
    int n = n_differences(alone, golden, "alone");
    for (const Digests& found : together) n += n_differences(found, golden, "in a thread");
    std::cout << alone.all.size() << " results, " << together.size() + 1 << " times; " << n << " differences\n";
    return n != 0;
}
