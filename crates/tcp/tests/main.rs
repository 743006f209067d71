//! Tests of the endpoint: scripts in the manner of packetdrill, and whole transfers over bad networks.

mod closing;
mod ecn;
mod handshake;
mod hostile;
mod linux;
mod path;
mod receiving;
mod recovery;
mod sending;
mod speed;
mod support;
mod theory;
mod transfers;
