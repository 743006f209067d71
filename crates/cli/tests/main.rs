//! The integration tests of the command, one program so that they are linked once.

mod aggregation;
mod aggregation_of_papers;
mod bench;
mod cache;
mod command;
mod controllers;
mod ctl;
mod diagnostics;
mod documents;
mod dump;
mod illegal;
mod large_programs;
mod links;
mod look;
mod net;
mod network;
mod p4info;
mod packet_tests;
mod plan;
mod plug_ins;
mod sim;
mod sim_checks;
mod support;
mod terminal;
mod zipline;
mod zipline_learning;
