//! Runners of text tests, generators of programs and packets
