"""The benchmark's harness: see bench/README.md."""
