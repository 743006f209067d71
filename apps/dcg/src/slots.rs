//! Which server has which slot of a service.
//!
//! What enters: the servers of a service, and what each may get. What leaves: for each slot, a server.
//!
//! A hash of the flow picks the slot, so flows move only with their slot. Each server has the same slots as long as it
//! is up; those of one that is not are divided among the others, and it gets the same ones back.

/// What a server may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// New flows.
    Up,
    /// It is about to leave: flows that it has are reported.
    Draining,
    /// Nothing.
    Out,
}

/// The server of each slot, by its position among the servers, and whether it is draining. If no server is up, all get
/// flows: their probes may be wrong.
pub fn assign(states: &[ServerState], slots: usize) -> Vec<(usize, bool)> {
    let up: Vec<usize> = (0..states.len()).filter(|it| states[*it] == ServerState::Up).collect();
    let slot = |slot: usize| {
        let own = slot % states.len();
        match states[own] {
            ServerState::Draining => (own, true),
            ServerState::Out if !up.is_empty() => (up[(slot / states.len() + own) % up.len()], false),
            _ => (own, false),
        }
    };
    if states.is_empty() { Vec::new() } else { (0..slots).map(slot).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(states: &[ServerState]) -> Vec<usize> {
        assign(states, 12).into_iter().map(|(server, _)| server).collect()
    }

    #[test]
    fn only_the_slots_of_a_server_that_is_out_move() {
        let (up, out) = (ServerState::Up, ServerState::Out);
        assert_eq!(servers(&[up, up, up]), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(servers(&[up, out, up]), [0, 2, 2, 0, 0, 2, 0, 2, 2, 0, 0, 2]);
        assert_eq!(servers(&[out, out, up]), [2; 12]);
        assert_eq!(servers(&[out, out, out]), servers(&[up, up, up]));
        assert_eq!(assign(&[], 4), []);
    }

    #[test]
    fn a_draining_server_keeps_its_slots() {
        assert_eq!(assign(&[ServerState::Up, ServerState::Draining], 2), [(0, false), (1, true)]);
    }
}
