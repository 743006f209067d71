// Options of three kinds in any order: headers that follow each other in a circle are sent in the order in which the
// parser reaches them, behind what leads into the circle and before what leads out of it.

header_type base_t { fields { count : 8; } }
header_type option_t { fields { kind : 8; value : 8; } }
header_type tail_t { fields { t : 16; } }
header base_t base;
header option_t red;
header option_t green[2];
header option_t blue;
header tail_t tail;
header_type left_t { fields { options : 8; } }
metadata left_t left;

parser start {
    extract(base);
    set_metadata(left.options, latest.count);
    return options;
}
parser options {
    return select(left.options, current(0, 8)) {
        0x0000 mask 0xff00 : rest;
        0x0001 mask 0x00ff : take_red;
        0x0002 mask 0x00ff : take_green;
        0x0003 mask 0x00ff : take_blue;
        default : rest;
    }
}
parser take_red { extract(red); set_metadata(left.options, left.options - 1); return options; }
parser take_green { extract(green[next]); set_metadata(left.options, left.options - 1); return options; }
parser take_blue { extract(blue); set_metadata(left.options, left.options - 1); return options; }
parser rest { extract(tail); return ingress; }

control ingress { }
