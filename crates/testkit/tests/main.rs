//! The integration tests of `testkit`, one program so that they are linked once.

mod apps;
mod architecture;
mod bursts;
mod corpus;
mod differential;
mod followed_registers;
mod gateway;
mod hostile_packets;
mod low_ir;
mod model;
mod pna;
mod random_ir;
mod random_ir_forms;
mod random_p4;
mod random_p4_forms;
mod shards;
mod shared_tables;
mod specialised;
