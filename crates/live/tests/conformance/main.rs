//! The conformance tests of all drivers, the same for each.
//!
//! A law is a function of a [`Bed`]: a driver, and a peer at its other end. Laws that need more than a bed has (an
//! interface to take down, a sender while the driver is open) skip the others. Beds on interfaces need root and
//! report if they are skipped.
#![allow(clippy::print_stdout, reason = "a test that fails shows how far it came")]

mod beds;
#[cfg(feature = "dpdk")]
mod dpdk;
mod laws;

use beds::{CaptureBed, GeneratorBed, InterfaceBed, Kind, MemoryBed, NullBed, TimerBed};
use live::xdp::{Attach, Copying};

const MTU: usize = 1500;
/// The longest frame where there is no interface; a tag more is what a port in memory takes.
const LONGEST: usize = 65_531;

/// Checks every law on beds of one kind, a fresh one for each.
fn check_interface(kind: Kind) {
    let Some(()) = with_bed(kind, MTU, |_| ()) else { return };
    for (name, law) in laws::ALL {
        println!("{kind:?}: {name}");
        with_bed(kind, MTU, |bed| law(bed, MTU + 14));
    }
    println!("{kind:?}: jumbo frames");
    with_bed(kind, 9000, |bed| laws::frames_of_every_size_pass_both_ways(bed, 9014));
}

fn with_bed<T>(kind: Kind, mtu: usize, body: impl FnOnce(&mut InterfaceBed) -> T) -> Option<T> {
    match InterfaceBed::new(kind, mtu) {
        Ok(mut bed) => Some(body(&mut bed)),
        Err(reason) => {
            testkit::skip(reason);
            None
        }
    }
}

#[test]
fn a_port_in_memory_conforms() {
    for (name, law) in laws::ALL {
        println!("{name}");
        law(&mut MemoryBed::default(), LONGEST);
    }
}

#[test]
fn captures_conform() {
    for ending in ["pcap", "pcapng"] {
        for (name, law) in laws::ALL {
            println!("{ending}: {name}");
            law(&mut CaptureBed::new(ending), LONGEST);
        }
    }
}

#[test]
fn a_timer_conforms() {
    for (name, law) in laws::ALL {
        println!("{name}");
        law(&mut TimerBed, LONGEST);
    }
}

#[test]
fn a_generator_conforms() {
    for (name, law) in laws::ALL {
        println!("{name}");
        law(&mut GeneratorBed, LONGEST);
    }
}

#[test]
fn a_port_with_nothing_behind_it_conforms() {
    for (name, law) in laws::ALL {
        println!("{name}");
        law(&mut NullBed, LONGEST);
    }
}

#[test]
fn packet_sockets_conform() {
    check_interface(Kind::AfPacket);
    check_interface(Kind::AfPacketWithoutRing);
}

#[test]
fn a_recorded_port_conforms() {
    check_interface(Kind::Recorded);
}

#[test]
fn af_xdp_in_the_interfaces_driver_conforms() {
    check_interface(Kind::Xdp(Attach::Native, Copying::Auto));
}

#[test]
fn af_xdp_in_the_kernel_conforms() {
    check_interface(Kind::Xdp(Attach::Generic, Copying::Copy));
}

#[test]
fn a_tap_interface_conforms() {
    check_interface(Kind::Tap);
}
