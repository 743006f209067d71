// The path that controllers set: each counts by polling what its switch has sent by each uplink to each leaf, and sets
// for each leaf the uplink that was used least since the poll before. So HULA is in the comparison of the paper of P4TE.

// What is to be done.
const bit<1> FIND_PORT = 0;
const bit<1> COUNT = 1;

control Polled(inout metadata_t meta, in bit<1> task, inout bit<9> port) {
    // By leaf and uplink, 32 for each leaf.
    counter(2048, CounterType.packets) sent_to;
    // By leaf.
    register<bit<9>>(64) polled_port;

    apply {
        if (task == FIND_PORT) {
            polled_port.read(port, (bit<32>) meta.leaf);
        } else if (meta.leaf != 0) {
            sent_to.count((bit<32>) (meta.leaf ++ 5w0) | (bit<32>) port);
        }
    }
}
