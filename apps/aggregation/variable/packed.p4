// Several small packets in one column of the ring buffer, which the paper leaves as future work (section 8): a part of the
// ingress control of variable.p4, in place of what stands there for a column each.
//
// The words of a small packet go where those of the packet before it end, as long as that column has room and no worker
// has taken it, else to the next column. Beside each column stands what is in it. A worker takes a column at once,
// whatever is in it: it goes round less often, and messages that share a column keep their order.

    // Of each column: a bit for each word that begins a message (18 to 8), messages (7 to 4), words (3 to 0).
    register<bit<19>>(COLUMNS) pool_content;

    // Table 0 to table 10, pushing (9), from this word of the column on.
    action push(bit<8> first) {
        bit<8> behind = first + hdr.len.words;
        bit<19> content = 0;
        if (first != 0) { pool_content.read(content, column); }
        content[18:8] = content[18:8] | (11w1 << first);
        content[7:4] = content[7:4] + 1;
        content[3:0] = (bit<4>)behind;
        pool_content.write(column, content);
        if (first == 0) { pool_0.write(column, hdr.msg[0].data); }
        if (first <= 1 && behind > 1) { pool_1.write(column, hdr.msg[1 - first].data); }
        if (first <= 2 && behind > 2) { pool_2.write(column, hdr.msg[2 - first].data); }
        if (first <= 3 && behind > 3) { pool_3.write(column, hdr.msg[3 - first].data); }
        if (first <= 4 && behind > 4) { pool_4.write(column, hdr.msg[4 - first].data); }
        if (first <= 5 && behind > 5) { pool_5.write(column, hdr.msg[5 - first].data); }
        if (first <= 6 && behind > 6) { pool_6.write(column, hdr.msg[6 - first].data); }
        if (first <= 7 && behind > 7) { pool_7.write(column, hdr.msg[7 - first].data); }
        if (first <= 8 && behind > 8) { pool_8.write(column, hdr.msg[8 - first].data); }
        if (first <= 9 && behind > 9) { pool_9.write(column, hdr.msg[9 - first].data); }
        if (first <= 10 && behind > 10) { pool_10.write(column, hdr.msg[10 - first].data); }
    }

    // Table 0 to table 10, popping (17 to 19): all messages of the column.
    action pop() {
        bit<19> content;
        bit<8> run = 0;
        pool_content.read(content, column);
        // From the last word to the first: as many words as have passed since the last that began a message.
        if (content[3:0] > 10) {
            hdr.msg[10].setValid();
            pool_10.read(hdr.msg[10].data, column);
            run = run + 1;
            if (content[18:18] == 1) {
                hdr.more_len[9].setValid();
                hdr.more_len[9].words = run;
                taken.count(0);
                run = 0;
            }
        }
        if (content[3:0] > 9) {
            hdr.msg[9].setValid();
            pool_9.read(hdr.msg[9].data, column);
            run = run + 1;
            if (content[17:17] == 1) {
                hdr.more_len[8].setValid();
                hdr.more_len[8].words = run;
                taken.count(0);
                run = 0;
            }
        }
        if (content[3:0] > 8) {
            hdr.msg[8].setValid();
            pool_8.read(hdr.msg[8].data, column);
            run = run + 1;
            if (content[16:16] == 1) {
                hdr.more_len[7].setValid();
                hdr.more_len[7].words = run;
                taken.count(0);
                run = 0;
            }
        }
        if (content[3:0] > 7) {
            hdr.msg[7].setValid();
            pool_7.read(hdr.msg[7].data, column);
            run = run + 1;
            if (content[15:15] == 1) {
                hdr.more_len[6].setValid();
                hdr.more_len[6].words = run;
                taken.count(0);
                run = 0;
            }
        }
        if (content[3:0] > 6) {
            hdr.msg[6].setValid();
            pool_6.read(hdr.msg[6].data, column);
            run = run + 1;
            if (content[14:14] == 1) {
                hdr.more_len[5].setValid();
                hdr.more_len[5].words = run;
                taken.count(0);
                run = 0;
            }
        }
        if (content[3:0] > 5) {
            hdr.msg[5].setValid();
            pool_5.read(hdr.msg[5].data, column);
            run = run + 1;
            if (content[13:13] == 1) {
                hdr.more_len[4].setValid();
                hdr.more_len[4].words = run;
                taken.count(0);
                run = 0;
            }
        }
        if (content[3:0] > 4) {
            hdr.msg[4].setValid();
            pool_4.read(hdr.msg[4].data, column);
            run = run + 1;
            if (content[12:12] == 1) {
                hdr.more_len[3].setValid();
                hdr.more_len[3].words = run;
                taken.count(0);
                run = 0;
            }
        }
        if (content[3:0] > 3) {
            hdr.msg[3].setValid();
            pool_3.read(hdr.msg[3].data, column);
            run = run + 1;
            if (content[11:11] == 1) {
                hdr.more_len[2].setValid();
                hdr.more_len[2].words = run;
                taken.count(0);
                run = 0;
            }
        }
        if (content[3:0] > 2) {
            hdr.msg[2].setValid();
            pool_2.read(hdr.msg[2].data, column);
            run = run + 1;
            if (content[10:10] == 1) {
                hdr.more_len[1].setValid();
                hdr.more_len[1].words = run;
                taken.count(0);
                run = 0;
            }
        }
        if (content[3:0] > 1) {
            hdr.msg[1].setValid();
            pool_1.read(hdr.msg[1].data, column);
            run = run + 1;
            if (content[9:9] == 1) {
                hdr.more_len[0].setValid();
                hdr.more_len[0].words = run;
                taken.count(0);
                run = 0;
            }
        }
        hdr.msg[0].setValid();
        pool_0.read(hdr.msg[0].data, column);
        hdr.len.setValid();
        hdr.len.words = run + 1;
        taken.count(0);
        meta.message_bytes = (bit<16>)content[7:4] + ((bit<16>)content[3:0] << 2);
        hdr.aggregation.num = hdr.aggregation.num + (bit<16>)content[7:4];
    }

    // A small packet is stored (3 to 12).
    action store() {
        bit<32> used_in = 0;
        bit<8> first = 0;
        bit<32> waiting;
        bit<32> workers;
        if (meta.tries != 0) {
            come_again();
        } else {
            enqueue_pointer.read(column, 0);
            used_words.read(first, 0);
            if (first + hdr.len.words > 11) {
                column = (column + 1) & (COLUMNS - 1);
                first = 0;
                enqueue_pointer.write(0, column);
            }
            used_words.write(0, first + hdr.len.words);
        }
        if (first == 0) { bitmap.read(used_in, column); }
        if (used_in != start) {
            bitmap.write(column, start);
            push(first);
            stored.count(0);
            byte_counter.read(waiting, 0);
            waiting = waiting + (bit<32>)meta.message_bytes;
            byte_counter.write(0, waiting);
            worker_counter.read(workers, 0);
            if (waiting > AGGREGATE_BYTES_MAX && workers < workers_max) {
                start_aggregation(workers);
            } else {
                end();
            }
        } else {
            // The next packet continues with another column.
            if (meta.tries == 0) { used_words.write(0, 11); }
            wait_for_column();
        }
    }

    // A worker takes a column (13 to 21).
    action work() {
        bit<32> used_in;
        bit<32> waiting;
        bit<32> filled;
        byte_counter.read(waiting, 0);
        if (waiting == 0) {
            stop_aggregation();
        } else {
            if (standard_metadata.instance_type == RESUBMITTED) {
                column = meta.column;
            } else {
                dequeue_pointer.read(column, 0);
                dequeue_pointer.write(0, (column + 1) & (COLUMNS - 1));
            }
            bitmap.read(used_in, column);
            if (used_in == start) {
                bitmap.write(column, 0);
                // What comes next must not go behind the worker's back.
                enqueue_pointer.read(filled, 0);
                if (filled == column) { used_words.write(0, 11); }
                pop();
                byte_counter.write(0, waiting - (bit<32>)meta.message_bytes);
                if (waiting == (bit<32>)meta.message_bytes) { meet(); }
                hdr.aggregation.length_bytes = hdr.aggregation.length_bytes + meta.message_bytes;
                if (hdr.aggregation.length_bytes < ENOUGH_BYTES) {
                    meta.goes_round = true;
                } else {
                    stop_aggregation();
                }
            } else if (meta.tries < WORKER_TRIES_MAX) {
                resubmit_for(1);
            } else {
                skip_column();
            }
        }
    }
