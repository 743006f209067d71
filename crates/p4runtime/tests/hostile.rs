//! Clients that request too much, and the effect on others.

use crate::support;

use p4runtime_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4runtime_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4runtime_proto::p4::v1::{CapabilitiesRequest, ReadRequest};
use std::time::{Duration, Instant};
use support::{Controller, Device, ROUTER, entity, program, update};
use tokio_stream::wrappers::ReceiverStream;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

/// Sends bytes as they are.
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = ();
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        use prost::bytes::BufMut as _;
        buffer.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, _: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        Ok(Some(()))
    }
}

/// A write request with this many empty updates, which are two bytes each.
async fn write_nothing(device: &Device, updates: usize) -> Status {
    write_bytes(device, [&[0x08, 1, 0x1A, 2, 0x10, 1][..], &[0x22, 0].repeat(updates)].concat()).await
}

async fn client(device: &Device) -> tonic::client::Grpc<Channel> {
    let channel = Endpoint::from_shared(format!("http://{}", device.address())).unwrap().connect().await.unwrap();
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.unwrap();
    client
}

/// Why these bytes are not a write request that can be carried out.
async fn write_bytes(device: &Device, request: Vec<u8>) -> Status {
    refused(device, "/p4.v1.P4Runtime/Write", request).await
}

/// Why a request with these bytes is refused.
async fn refused(device: &Device, path: &'static str, request: Vec<u8>) -> Status {
    let path = PathAndQuery::from_static(path);
    client(device).await.unary(tonic::Request::new(request), path, Raw).await.unwrap_err()
}

#[tokio::test]
async fn services_and_methods_that_do_not_exist_are_refused() {
    let device = Device::start(Some(ROUTER));
    let of_service = refused(&device, "/grpc.health.v1.Health/Check", Vec::new()).await;
    assert_eq!(of_service.code(), Code::Unimplemented, "{of_service:?}");
    assert_eq!(of_service.message(), "the switch has no service 'grpc.health.v1.Health'");
    for path in ["/p4.v1.P4Runtime/Writes", "/wirespeed.v1.Commands/Writes", "/", "/p4.v1.P4Runtime"] {
        assert_eq!(refused(&device, path, Vec::new()).await.code(), Code::Unimplemented, "{path}");
    }
}

#[tokio::test]
async fn requests_that_grow_are_refused_before_they_do() {
    let device = Device::start(Some(ROUTER));
    let _controller = Controller::connect(&device, 1).await;
    let refused = write_nothing(&device, 20_000_000).await;
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().contains("when it is decoded"), "{}", refused.message());
    // Requests that fit are refused one by one.
    let refused = write_nothing(&device, 20_000).await;
    assert_eq!(refused.code(), Code::Unknown);
    assert!(refused.message().starts_with("20000 of 20000 updates failed"), "{}", refused.message());
    assert_eq!(device.update_counts(), (0, 20_000));
}

#[tokio::test]
async fn requests_that_are_too_long_are_refused_with_what_helps() {
    let device = Device::start(Some(ROUTER));
    let refused = write_bytes(&device, vec![0; (64 << 20) + 1]).await;
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused:?}");
    assert_eq!(refused.message(), "the request has 67108865 bytes: the maximum is 67108864; send it in several");
}

#[tokio::test]
async fn bytes_that_are_no_request_are_refused() {
    let device = Device::start(Some(ROUTER));
    let _controller = Controller::connect(&device, 1).await;
    for bytes in [&b"\xff\xff"[..], b"\x0a", b"\x08\x01\x22\x05abc", b"\x32\x01\xff"] {
        let refused = write_bytes(&device, bytes.to_vec()).await;
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        assert!(refused.message().starts_with("the bytes are not a p4.v1.WriteRequest: "), "{}", refused.message());
    }
}

#[tokio::test]
async fn a_program_that_takes_too_long_does_not_delay_another() {
    let device = Device::start_with(Some(ROUTER), None, Duration::from_millis(300));
    let mut controller = Controller::connect(&device, 1).await;
    let refused = controller.set_config(Action::VerifyAndCommit, Some("takes for ever")).await.unwrap_err();
    assert_eq!(refused.code(), Code::DeadlineExceeded);
    let mut outcome = Err(refused);
    // The work ends soon after its client got the error.
    for _ in 0..50 {
        outcome = controller.set_config(Action::Verify, Some(ROUTER)).await;
        if outcome.is_ok() {
            break;
        }
    }
    outcome.expect("the compiler is free again");
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_program_along() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let slow = controller.set_config(Action::Verify, Some("takes for ever"));
    let gone = tokio::time::timeout(Duration::from_millis(200), slow).await;
    assert!(gone.is_err(), "it takes for ever");
    let began = Instant::now();
    controller.set_config(Action::Verify, Some(ROUTER)).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// Many more than the limit, none of which sends anything.
#[tokio::test]
async fn silent_connections_give_way() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let mut silent = Vec::new();
    for _ in 0..700 {
        silent.push(tokio::net::TcpStream::connect(device.address()).await.unwrap());
    }
    let all = [entity(&program(ROUTER).info, "table_entry { }")];
    assert_eq!(controller.read(&all).await.unwrap(), [], "a controller with a stream stays");
    let mut another = Controller::connect(&device, 2).await;
    assert_eq!(another.read(&all).await.unwrap(), []);
}

#[tokio::test]
async fn long_messages_end_a_stream() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    controller.packet_out(b"\x01", &vec![0; 200_000]).await;
    let end = controller.next().await;
    assert_eq!(end, "ResourceExhausted: a message of the stream has 200022 bytes: the maximum is 131072\n");
}

#[tokio::test]
async fn bytes_that_are_no_message_end_a_stream() {
    let device = Device::start(Some(ROUTER));
    for bytes in [&b"\xff\xff"[..], b"\x0a", b"\x0a\x03abc"] {
        let (sender, outgoing) = tokio::sync::mpsc::channel(1);
        sender.send(bytes.to_vec()).await.unwrap();
        let path = PathAndQuery::from_static("/p4.v1.P4Runtime/StreamChannel");
        let outgoing = tonic::Request::new(ReceiverStream::new(outgoing));
        let mut incoming = client(&device).await.streaming(outgoing, path, Raw).await.unwrap().into_inner();
        let refused = tokio::time::timeout(Duration::from_secs(60), incoming.message()).await.unwrap().unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        assert!(refused.message().starts_with("the bytes are not a p4.v1.StreamMessageRequest: "), "{refused:?}");
    }
}

/// More clients that request much and read nothing of it than may read at once: another one is answered at once, and
/// so is the primary.
#[tokio::test]
async fn clients_that_do_not_read_do_not_keep_others_waiting() {
    let text = ROUTER
        .replace("register<bit<32>>(8) last;", "register<bit<1024>>(6000) last;")
        .replace("last.write(0, (bit<32>)", "last.write(0, (bit<1024>)");
    let device = Device::start(Some(&text));
    let mut primary = Controller::connect(&device, 2).await;
    let mut backup = Controller::connect(&device, 1).await;
    let info = program(&text).info;
    let value = "\\377".repeat(128);
    let all =
        format!("type: MODIFY entity {{ register_entry {{ register_id: $last data {{ bitstring: \"{value}\" }} }} }}");
    primary.write(vec![update(&info, &all)]).await.unwrap();
    let mut unread = Vec::new();
    for _ in 0..5 {
        // The client library itself buffers little.
        let endpoint = Endpoint::from_shared(format!("http://{}", device.address())).unwrap();
        let endpoint = endpoint.initial_stream_window_size(1 << 16).initial_connection_window_size(1 << 16);
        let mut client = P4RuntimeClient::new(endpoint.connect().await.unwrap());
        for _ in 0..5 {
            let entities = vec![entity(&info, "register_entry { register_id: $last }")];
            let request = ReadRequest { device_id: 1, entities, ..Default::default() };
            let mut client = client.clone();
            // The messages of the answer are not requested.
            unread.push(tokio::spawn(async move { client.read(request).await }));
        }
        // They have arrived before this is answered.
        client.capabilities(CapabilitiesRequest { device_id: 1 }).await.unwrap();
    }
    let small = [entity(&info, "register_entry { register_id: $last index { index: 3 } }")];
    for controller in [&mut primary, &mut backup] {
        assert_eq!(controller.read(&small).await.unwrap().len(), 1);
    }
}

/// More than the limit, each with a request that never ends: they are disconnected, and controllers with streams are
/// not.
#[tokio::test]
async fn connections_whose_requests_do_not_end_give_way() {
    let device = Device::start(Some(ROUTER));
    let mut controller = Controller::connect(&device, 1).await;
    let mut endless = Vec::new();
    for _ in 0..600 {
        let mut client = client(&device).await;
        let path = PathAndQuery::from_static("/p4.v1.P4Runtime/Write");
        let request = tonic::Request::new(tokio_stream::pending::<Vec<u8>>());
        endless.push(tokio::spawn(async move { client.client_streaming(request, path, Raw).await }));
        tokio::task::yield_now().await;
    }
    let all = [entity(&program(ROUTER).info, "table_entry { }")];
    assert_eq!(controller.read(&all).await.unwrap(), []);
    let mut another = Controller::connect(&device, 2).await;
    assert_eq!(another.read(&all).await.unwrap(), []);
}

#[tokio::test]
async fn many_controllers_do_not_keep_the_next_primary_out() {
    let device = Device::start(Some(ROUTER));
    let mut crowd = Vec::new();
    for number in 0..64 {
        crowd.push(Controller::connect(&device, 100 + number).await);
    }
    let next = Controller::connect(&device, 1000).await;
    assert!(next.first_message.contains("you are the primary controller"), "{}", next.first_message);
    // The one with the lowest election id has been notified of the others, and then that it has lost its place.
    let mut last = crowd[0].next().await;
    while last.starts_with("arbitration") {
        last = crowd[0].next().await;
    }
    assert!(last.contains("a new one has taken the place of this one"), "{last}");
    // Another backup has to wait for a place, and a read needs none.
    let refused = Controller::connect(&device, 1).await.first_message;
    assert!(refused.contains("there are 64 controllers already"), "{refused}");
    let mut reader = Controller::silent(&device, 0).await;
    let config = reader.client.get_forwarding_pipeline_config(reader.config_request()).await;
    assert!(config.is_ok(), "{config:?}");
}
