"""What tests share: oracles, brute force, rows made to hurt, clusters, and what other processes are asked to do."""
