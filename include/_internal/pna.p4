// The Portable NIC Architecture. The files of its variants include this one and say by a macro which they are:
//
//     pna.p4       version 0.5 with four blocks
//     dpdk/pna.p4  the same with what the DPDK target adds: __PNA_TARGET_DPDK__
//     tc/pna.p4    the working draft with three blocks, for Linux traffic control: __PNA_TARGET_TC__
//     bmv2/pna.p4  the working draft with three blocks: __PNA_TARGET_BMV2__

#ifndef __PNA_P4__
#define __PNA_P4__

#include <core.p4>

#if defined(__PNA_TARGET_TC__) || defined(__PNA_TARGET_BMV2__)
#define __PNA_THREE_BLOCKS__
#endif

// ---------------------------------------------------------------------------------------------------------- types

// The numbers below each type: they mix freely with other numbers of their width, values of the types do not.
typedef bit<32> PortIdUint_t;  // A port, of the network or of the host.
typedef bit<32> InterfaceIdUint_t;  // An interface.
typedef bit<32> MulticastGroupUint_t;  // A group of ports that get copies.
typedef bit<16> MirrorSessionIdUint_t;  // Where mirrored packets go.
typedef bit<8> MirrorSlotIdUint_t;  // Which of the mirror copies of a packet.
typedef bit<8> ClassOfServiceUint_t;  // How urgent a packet is.
typedef bit<16> PacketLengthUint_t;  // A number of bytes.
typedef bit<16> MulticastInstanceUint_t;  // Tells copies of one packet apart.
typedef bit<64> TimestampUint_t;  // A time of the device's clock.
typedef bit<32> FlowIdUint_t;  // What the device gives to a new flow.
typedef bit<8> ExpireTimeProfileIdUint_t;  // After what time an entry without hits goes.
typedef bit<3> PassNumberUint_t;  // How often the packet has come by.
typedef bit<32> SecurityAssocIdUint_t;  // Which security association encrypts or decrypts.

@p4runtime_translation("p4.org/pna/v1/PortId_t", 32)
type PortIdUint_t PortId_t;
@p4runtime_translation("p4.org/pna/v1/InterfaceId_t", 32)
type InterfaceIdUint_t InterfaceId_t;
@p4runtime_translation("p4.org/pna/v1/MulticastGroup_t", 32)
type MulticastGroupUint_t MulticastGroup_t;
@p4runtime_translation("p4.org/pna/v1/MirrorSessionId_t", 16)
type MirrorSessionIdUint_t MirrorSessionId_t;
@p4runtime_translation("p4.org/pna/v1/MirrorSlotId_t", 8)
type MirrorSlotIdUint_t MirrorSlotId_t;
@p4runtime_translation("p4.org/pna/v1/ClassOfService_t", 8)
type ClassOfServiceUint_t ClassOfService_t;
@p4runtime_translation("p4.org/pna/v1/PacketLength_t", 16)
type PacketLengthUint_t PacketLength_t;
@p4runtime_translation("p4.org/pna/v1/MulticastInstance_t", 16)
type MulticastInstanceUint_t MulticastInstance_t;
@p4runtime_translation("p4.org/pna/v1/Timestamp_t", 64)
type TimestampUint_t Timestamp_t;
@p4runtime_translation("p4.org/pna/v1/FlowId_t", 32)
type FlowIdUint_t FlowId_t;
@p4runtime_translation("p4.org/pna/v1/ExpireTimeProfileId_t", 8)
type ExpireTimeProfileIdUint_t ExpireTimeProfileId_t;
@p4runtime_translation("p4.org/pna/v1/PassNumber_t", 8)
type PassNumberUint_t PassNumber_t;
@p4runtime_translation("p4.org/pna/v1/SecurityAssocId_t", 64)
type SecurityAssocIdUint_t SecurityAssocId_t;

typedef error ParserError_t;

const InterfaceId_t PNA_PORT_CPU = (InterfaceId_t) 0xfffffffd;
const MirrorSessionId_t PNA_MIRROR_SESSION_TO_CPU = (MirrorSessionId_t) 0;

// The same types as they travel in headers between the device and its controller: whole bytes.
typedef bit<32> PortIdInHeaderUint_t;
typedef bit<32> InterfaceIdInHeaderUint_t;
typedef bit<32> MulticastGroupInHeaderUint_t;
typedef bit<16> MirrorSessionIdInHeaderUint_t;
typedef bit<8> MirrorSlotIdInHeaderUint_t;
typedef bit<8> ClassOfServiceInHeaderUint_t;
typedef bit<16> PacketLengthInHeaderUint_t;
typedef bit<16> MulticastInstanceInHeaderUint_t;
typedef bit<64> TimestampInHeaderUint_t;
typedef bit<32> FlowIdInHeaderUint_t;
typedef bit<8> ExpireTimeProfileIdInHeaderUint_t;
typedef bit<8> PassNumberInHeaderUint_t;
typedef bit<32> SecurityAssocIdInHeaderUint_t;

@p4runtime_translation("p4.org/pna/v1/PortIdInHeader_t", 32)
type PortIdInHeaderUint_t PortIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/InterfaceIdInHeader_t", 32)
type InterfaceIdInHeaderUint_t InterfaceIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/MulticastGroupInHeader_t", 32)
type MulticastGroupInHeaderUint_t MulticastGroupInHeader_t;
@p4runtime_translation("p4.org/pna/v1/MirrorSessionIdInHeader_t", 16)
type MirrorSessionIdInHeaderUint_t MirrorSessionIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/MirrorSlotIdInHeader_t", 8)
type MirrorSlotIdInHeaderUint_t MirrorSlotIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/ClassOfServiceInHeader_t", 8)
type ClassOfServiceInHeaderUint_t ClassOfServiceInHeader_t;
@p4runtime_translation("p4.org/pna/v1/PacketLengthInHeader_t", 16)
type PacketLengthInHeaderUint_t PacketLengthInHeader_t;
@p4runtime_translation("p4.org/pna/v1/MulticastInstanceInHeader_t", 16)
type MulticastInstanceInHeaderUint_t MulticastInstanceInHeader_t;
@p4runtime_translation("p4.org/pna/v1/TimestampInHeader_t", 64)
type TimestampInHeaderUint_t TimestampInHeader_t;
@p4runtime_translation("p4.org/pna/v1/FlowIdInHeader_t", 32)
type FlowIdInHeaderUint_t FlowIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/ExpireTimeProfileIdInHeader_t", 8)
type ExpireTimeProfileIdInHeaderUint_t ExpireTimeProfileIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/PassNumberInHeader_t", 8)
type PassNumberInHeaderUint_t PassNumberInHeader_t;
@p4runtime_translation("p4.org/pna/v1/SecurityAssocIdInHeader_t", 64)
type SecurityAssocIdInHeaderUint_t SecurityAssocIdInHeader_t;

// From the type in headers to the type of the pipeline, and back.
PortId_t pna_PortId_header_to_int(in PortIdInHeader_t x) {
    return (PortId_t) (PortIdUint_t) (PortIdInHeaderUint_t) x;
}
InterfaceId_t pna_InterfaceId_header_to_int(in InterfaceIdInHeader_t x) {
    return (InterfaceId_t) (InterfaceIdUint_t) (InterfaceIdInHeaderUint_t) x;
}
MulticastGroup_t pna_MulticastGroup_header_to_int(in MulticastGroupInHeader_t x) {
    return (MulticastGroup_t) (MulticastGroupUint_t) (MulticastGroupInHeaderUint_t) x;
}
MirrorSessionId_t pna_MirrorSessionId_header_to_int(in MirrorSessionIdInHeader_t x) {
    return (MirrorSessionId_t) (MirrorSessionIdUint_t) (MirrorSessionIdInHeaderUint_t) x;
}
MirrorSlotId_t pna_MirrorSlotId_header_to_int(in MirrorSlotIdInHeader_t x) {
    return (MirrorSlotId_t) (MirrorSlotIdUint_t) (MirrorSlotIdInHeaderUint_t) x;
}
ClassOfService_t pna_ClassOfService_header_to_int(in ClassOfServiceInHeader_t x) {
    return (ClassOfService_t) (ClassOfServiceUint_t) (ClassOfServiceInHeaderUint_t) x;
}
PacketLength_t pna_PacketLength_header_to_int(in PacketLengthInHeader_t x) {
    return (PacketLength_t) (PacketLengthUint_t) (PacketLengthInHeaderUint_t) x;
}
MulticastInstance_t pna_MulticastInstance_header_to_int(in MulticastInstanceInHeader_t x) {
    return (MulticastInstance_t) (MulticastInstanceUint_t) (MulticastInstanceInHeaderUint_t) x;
}
Timestamp_t pna_Timestamp_header_to_int(in TimestampInHeader_t x) {
    return (Timestamp_t) (TimestampUint_t) (TimestampInHeaderUint_t) x;
}
FlowId_t pna_FlowId_header_to_int(in FlowIdInHeader_t x) {
    return (FlowId_t) (FlowIdUint_t) (FlowIdInHeaderUint_t) x;
}
ExpireTimeProfileId_t pna_ExpireTimeProfileId_header_to_int(in ExpireTimeProfileIdInHeader_t x) {
    return (ExpireTimeProfileId_t) (ExpireTimeProfileIdUint_t) (ExpireTimeProfileIdInHeaderUint_t) x;
}
PassNumber_t pna_PassNumber_header_to_int(in PassNumberInHeader_t x) {
    return (PassNumber_t) (PassNumberUint_t) (PassNumberInHeaderUint_t) x;
}

PortIdInHeader_t pna_PortId_int_to_header(in PortId_t x) {
    return (PortIdInHeader_t) (PortIdInHeaderUint_t) (PortIdUint_t) x;
}
InterfaceIdInHeader_t pna_InterfaceId_int_to_header(in InterfaceId_t x) {
    return (InterfaceIdInHeader_t) (InterfaceIdInHeaderUint_t) (InterfaceIdUint_t) x;
}
MulticastGroupInHeader_t pna_MulticastGroup_int_to_header(in MulticastGroup_t x) {
    return (MulticastGroupInHeader_t) (MulticastGroupInHeaderUint_t) (MulticastGroupUint_t) x;
}
MirrorSessionIdInHeader_t pna_MirrorSessionId_int_to_header(in MirrorSessionId_t x) {
    return (MirrorSessionIdInHeader_t) (MirrorSessionIdInHeaderUint_t) (MirrorSessionIdUint_t) x;
}
MirrorSlotIdInHeader_t pna_MirrorSlotId_int_to_header(in MirrorSlotId_t x) {
    return (MirrorSlotIdInHeader_t) (MirrorSlotIdInHeaderUint_t) (MirrorSlotIdUint_t) x;
}
ClassOfServiceInHeader_t pna_ClassOfService_int_to_header(in ClassOfService_t x) {
    return (ClassOfServiceInHeader_t) (ClassOfServiceInHeaderUint_t) (ClassOfServiceUint_t) x;
}
PacketLengthInHeader_t pna_PacketLength_int_to_header(in PacketLength_t x) {
    return (PacketLengthInHeader_t) (PacketLengthInHeaderUint_t) (PacketLengthUint_t) x;
}
MulticastInstanceInHeader_t pna_MulticastInstance_int_to_header(in MulticastInstance_t x) {
    return (MulticastInstanceInHeader_t) (MulticastInstanceInHeaderUint_t) (MulticastInstanceUint_t) x;
}
TimestampInHeader_t pna_Timestamp_int_to_header(in Timestamp_t x) {
    return (TimestampInHeader_t) (TimestampInHeaderUint_t) (TimestampUint_t) x;
}
FlowIdInHeader_t pna_FlowId_int_to_header(in FlowId_t x) {
    return (FlowIdInHeader_t) (FlowIdInHeaderUint_t) (FlowIdUint_t) x;
}
ExpireTimeProfileIdInHeader_t pna_ExpireTimeProfileId_int_to_header(in ExpireTimeProfileId_t x) {
    return (ExpireTimeProfileIdInHeader_t) (ExpireTimeProfileIdInHeaderUint_t) (ExpireTimeProfileIdUint_t) x;
}
PassNumberInHeader_t pna_PassNumber_int_to_header(in PassNumber_t x) {
    return (PassNumberInHeader_t) (PassNumberInHeaderUint_t) (PassNumberUint_t) x;
}

// What becomes of entries that nothing hits: the property `pna_idle_timeout` of tables.
enum PNA_IdleTimeout_t {
    NO_TIMEOUT,
    NOTIFY_CONTROL,
    AUTO_DELETE
}

match_kind {
    range,     // The key lies between two bounds, both included.
    selector,  // The key takes part in the choice of a member of a group.
    optional   // The key is equal, or the entry does not care.
}

// -------------------------------------------------------------------------------------------------------- externs

enum PNA_HashAlgorithm_t {
    IDENTITY,
    CRC32,
    CRC32_CUSTOM,
    CRC16,
    CRC16_CUSTOM,
    ONES_COMPLEMENT16,  // The sum that IPv4, TCP and UDP use.
    TOEPLITZ,
    TARGET_DEFAULT
}

// A hash of data, or one taken modulo `max` and added to `base`.
extern Hash<O> {
    Hash(PNA_HashAlgorithm_t algo);
    O get_hash<D>(in D data);
    O get_hash<T, D>(in T base, in D data, in T max);
}

// A checksum of all data added since `clear`. It starts clear for each packet.
extern Checksum<W> {
    Checksum(PNA_HashAlgorithm_t hash);
    void clear();
    void update<T>(in T data);
    W get();
}

// The one's complement checksum, which can also be changed by what is taken away (RFC 1624).
extern InternetChecksum {
    InternetChecksum();
    void clear();
    void add<T>(in T data);
    void subtract<T>(in T data);
    bit<16> get();
    bit<16> get_state();
    void set_state(in bit<16> checksum_state);
}

enum PNA_CounterType_t {
    PACKETS,
    BYTES,
    PACKETS_AND_BYTES
}

// Counters by index. Where the target cannot know the packet's length, the program gives it.
@noWarn("unused")
extern Counter<W, S> {
    Counter(bit<32> n_counters, PNA_CounterType_t type);
    void count(in S index);
    void count(in S index, in bit<32> increment);
}

// A counter for each entry of a table.
@noWarn("unused")
extern DirectCounter<W> {
    DirectCounter(PNA_CounterType_t type);
    void count();
    void count(in bit<32> increment);
}

enum PNA_MeterType_t {
    PACKETS,
    BYTES
}

enum PNA_MeterColor_t {
    RED,
    GREEN,
    YELLOW
}

// Meters by index (RFC 2698), which may take into account what color the packet has already.
extern Meter<S> {
    Meter(bit<32> n_meters, PNA_MeterType_t type);
    PNA_MeterColor_t execute(in S index, in PNA_MeterColor_t color);
    PNA_MeterColor_t execute(in S index);
#ifdef __PNA_TARGET_DPDK__
    PNA_MeterColor_t dpdk_execute(in S index, in PNA_MeterColor_t color, in bit<32> pkt_len);
    PNA_MeterColor_t dpdk_execute(in S index, in bit<32> pkt_len);
#endif
}

// A meter for each entry of a table.
extern DirectMeter {
    DirectMeter(PNA_MeterType_t type);
#if defined(__PNA_TARGET_DPDK__)
    PNA_MeterColor_t execute(in PNA_MeterColor_t color);
    PNA_MeterColor_t execute();
    PNA_MeterColor_t dpdk_execute(in PNA_MeterColor_t color, in bit<32> pkt_len);
    PNA_MeterColor_t dpdk_execute(in bit<32> pkt_len);
#elif defined(__PNA_THREE_BLOCKS__)
    PNA_MeterColor_t execute(in PNA_MeterColor_t color);
    PNA_MeterColor_t execute();
#else
    PNA_MeterColor_t execute(in PNA_MeterColor_t color, @optional in bit<32> pkt_len);
    PNA_MeterColor_t execute(@optional in bit<32> pkt_len);
#endif
}

// Values that stay from packet to packet.
extern Register<T, S> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    T read(in S index);
    void write(in S index, in T value);
}

// Random numbers between two bounds, both included.
extern Random<T> {
    Random(T min, T max);
    T read();
}

// Actions that several entries of a table share.
extern ActionProfile {
    ActionProfile(bit<32> size);
}

// The same in groups, of which a hash of the table's selector keys chooses a member.
extern ActionSelector {
    ActionSelector(PNA_HashAlgorithm_t algo, bit<32> size, bit<32> outputWidth);
}

// Messages to the controller.
extern Digest<T> {
    Digest();
    void pack(in T data);
}

#ifdef __PNA_TARGET_DPDK__
enum ipsec_status {
    IPSEC_SUCCESS,
    IPSEC_ERROR
}

// Encrypts or decrypts the packet after the deparser, as its security association says.
extern ipsec_accelerator {
    ipsec_accelerator();
    void set_sa_index<T>(in T sa_index);
    void set_ip_header_offset<T>(in T offset);
    void enable();
    void disable();

    // Whether the packet comes back from it.
    bool from_ipsec(out ipsec_status status);
}
#endif

#ifdef __PNA_TARGET_TC__
// What a controller sees of the externs' state.
struct tc_ControlPath_Counter<W, S> {
    @tc_key S index;
    @tc_data W pkts;
    @tc_data W bytes;
}

struct tc_ControlPath_DirectCounter<W> {
    @tc_key bit<32> index;
    @tc_data W pkts;
    @tc_data W bytes;
}

struct tc_ControlPath_Meter<S> {
    @tc_key S index;
    @tc_data bit<64> cir;
    @tc_data bit<64> cbs;
    @tc_data bit<64> pir;
    @tc_data bit<64> pbs;
}

struct tc_ControlPath_DirectMeter {
    @tc_key bit<32> index;
    @tc_data bit<64> cir;
    @tc_data bit<64> cbs;
    @tc_data bit<64> pir;
    @tc_data bit<64> pbs;
}

struct tc_ControlPath_Register<T> {
    @tc_key bit<32> index;
    @tc_data T a_value;
}

struct tc_ControlPath_Digest<T> {
    @tc_key bit<32> index;
    @tc_data T data;
}

// Fields of the kernel's packet buffer.
extern void skb_get_meta();
extern bit<64> skb_get_tstamp();
extern bit<32> skb_get_mark();
extern bit<16> skb_get_tc_classid();
extern bit<16> skb_get_tc_index();
extern bit<16> skb_get_queue_mapping();
extern bit<16> skb_get_protocol();
extern bit<1> skb_get_tc_at_ingress();
extern bit<1> skb_get_from_ingress();
extern void skb_set_tstamp(in bit<64> dummy);
extern void skb_set_mark(in bit<32> dummy);
extern void skb_set_tc_classid(in bit<16> dummy);
extern void skb_set_tc_index(in bit<16> dummy);
extern void skb_set_queue_mapping(in bit<16> dummy);
extern void skb_set_protocol(in bit<16> dummy);
extern void skb_set_meta();
#endif

// Whether a port is one of the host's, or one of the network's.
extern bool is_host_port(in PortId_t p);
extern bool is_net_port(in PortId_t p);

// ------------------------------------------------------------------------------------------------------- metadata

#ifdef __PNA_THREE_BLOCKS__
enum PNA_Source_t {
    FROM_HOST,
    FROM_NET
}

struct pna_main_parser_input_metadata_t {
    bool recirculated;
    PortId_t input_port;
}

struct pna_main_input_metadata_t {
    bool recirculated;
#ifdef __PNA_TARGET_TC__
    bool recirculate;
#endif
    Timestamp_t timestamp;
    ParserError_t parser_error;
    ClassOfService_t class_of_service;
    PortId_t input_port;
}
#else
enum PNA_Direction_t {
    NET_TO_HOST,
    HOST_TO_NET
}

enum PNA_PacketPath_t {
    FROM_NET_PORT,
    FROM_NET_LOOPEDBACK,
    FROM_NET_RECIRCULATED,
    FROM_HOST,
    FROM_HOST_LOOPEDBACK,
    FROM_HOST_RECIRCULATED
}

struct pna_pre_input_metadata_t {
    PortId_t input_port;
    ParserError_t parser_error;
    PNA_Direction_t direction;
    PassNumber_t pass;
    bool loopedback;
}

struct pna_pre_output_metadata_t {
    bool decrypt;
    SecurityAssocId_t said;
    bit<16> decrypt_start_offset;
}

struct pna_main_parser_input_metadata_t {
    PNA_Direction_t direction;
    PassNumber_t pass;
    bool loopedback;
    PortId_t input_port;
}

struct pna_main_input_metadata_t {
    PNA_Direction_t direction;
    PassNumber_t pass;
    bool loopedback;
    Timestamp_t timestamp;
    ParserError_t parser_error;
    ClassOfService_t class_of_service;
    PortId_t input_port;
}
#endif

struct pna_main_output_metadata_t {
    ClassOfService_t class_of_service;
}

// ------------------------------------------------------------------------------------------------------ functions

// Where the packet goes: the last of the calls counts.
extern void drop_packet();
extern void send_to_port(in PortId_t dest_port);

// A copy of the packet for the session.
extern void mirror_packet(in MirrorSlotId_t mirror_slot_id, in MirrorSessionId_t mirror_session_id);

// Adds an entry with the key that was just not found, the named action, and its data.
#ifdef __PNA_THREE_BLOCKS__
typedef bit<1> AddEntryErrorStatus_t;

const AddEntryErrorStatus_t ADD_ENTRY_SUCCESS = 0;
const AddEntryErrorStatus_t ADD_ENTRY_NOT_DONE = 1;

extern AddEntryErrorStatus_t add_entry<T>(
    string action_name,
    in T action_params,
    in ExpireTimeProfileId_t expire_time_profile_id);

// The same if the condition holds.
extern AddEntryErrorStatus_t add_entry_if<T>(
    in bool do_add_entry,
    string action_name,
    in T action_params,
    in ExpireTimeProfileId_t expire_time_profile_id);
#else
extern void recirculate();

extern bool add_entry<T>(string action_name, in T action_params);
extern bool add_entry<T>(
    string action_name,
    in T action_params,
    in ExpireTimeProfileId_t expire_time_profile_id);

// The same if the condition holds.
extern bool add_entry_if<T>(
    in bool do_add_entry,
    string action_name,
    in T action_params,
    in ExpireTimeProfileId_t expire_time_profile_id);
#endif

extern FlowId_t allocate_flow_id();

// When the entry that matched goes if nothing hits it, and the start of that time.
extern void set_entry_expire_time(in ExpireTimeProfileId_t expire_time_profile_id);
extern void restart_expire_timer();

// The same under a condition: the first sets the time, the second also starts it anew where it does not set it.
extern void set_entry_expire_time_if(in bool condition, in ExpireTimeProfileId_t expire_time_profile_id);
extern void update_expire_info(
    in bool update_aging_info,
    in bool update_expire_time,
    in ExpireTimeProfileId_t expire_time_profile_id);

#ifdef __PNA_THREE_BLOCKS__
// The first value for packets from the network, the second for others.
@pure
extern T SelectByDirection<T>(in bool is_network_port, in T from_net_value, in T from_host_value);
#else
@pure
extern T SelectByDirection<T>(in PNA_Direction_t direction, in T n2h_value, in T h2n_value);
#endif

// --------------------------------------------------------------------------------------------------------- blocks

parser MainParserT<MH, MM>(
    packet_in pkt,
    out MH main_hdr,
    inout MM main_user_meta,
    in pna_main_parser_input_metadata_t istd);

control MainControlT<MH, MM>(
    inout MH main_hdr,
    inout MM main_user_meta,
    in pna_main_input_metadata_t istd,
    inout pna_main_output_metadata_t ostd);

#ifdef __PNA_THREE_BLOCKS__
control MainDeparserT<MH, MM>(
    packet_out pkt,
    inout MH main_hdr,
    in MM main_user_meta,
    in pna_main_output_metadata_t ostd);

package PNA_NIC<MH, MM>(
    MainParserT<MH, MM> main_parser,
    MainControlT<MH, MM> main_control,
    MainDeparserT<MH, MM> main_deparser);
#else
control PreControlT<PH, PM>(
    in PH pre_hdr,
    inout PM pre_user_meta,
    in pna_pre_input_metadata_t istd,
    inout pna_pre_output_metadata_t ostd);

control MainDeparserT<MH, MM>(
    packet_out pkt,
    in MH main_hdr,
    in MM main_user_meta,
    in pna_main_output_metadata_t ostd);

package PNA_NIC<PH, PM, MH, MM>(
    MainParserT<MH, MM> main_parser,
    PreControlT<PH, PM> pre_control,
    MainControlT<MH, MM> main_control,
    MainDeparserT<MH, MM> main_deparser);
#endif

#endif  // __PNA_P4__
