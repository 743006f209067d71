//! Connections with certificates, right and wrong ones.
//!
//! `tls` holds certificates for 127.0.0.1: `server` and `client` are signed by `ca`, `stranger` by `other_ca`;
//! `expired` was signed by `ca` and has been of no use since 2020.

use crate::support;

use p4runtime::Tls;
use p4runtime_proto::p4::v1::CapabilitiesRequest;
use p4runtime_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use std::error::Error;
use std::time::Duration;
use support::{Device, ROUTER};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/tls/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn device(certificate: &str, client_ca: Option<&str>) -> Device {
    let (certificate, key) = (file(&format!("{certificate}.pem")), file(&format!("{certificate}.key")));
    let tls = Tls { certificate, key, client_ca: client_ca.map(|name| file(&format!("{name}.pem"))) };
    Device::start_with(Some(ROUTER), Some(tls), Duration::from_secs(60))
}

/// Requests the version of the interface: returns the error, with all its causes.
async fn outcome(device: &Device, scheme: &str, ca: Option<&str>, own: Option<&str>) -> String {
    let mut endpoint = Endpoint::from_shared(format!("{scheme}://{}", device.address())).unwrap();
    if let Some(ca) = ca {
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(file(&format!("{ca}.pem"))));
        if let Some(own) = own {
            tls = tls.identity(Identity::from_pem(file(&format!("{own}.pem")), file(&format!("{own}.key"))));
        }
        endpoint = endpoint.tls_config(tls).unwrap();
    }
    let asked = async {
        let mut client = P4RuntimeClient::connect(endpoint).await.map_err(|error| reasons(&error))?;
        let answer = client.capabilities(CapabilitiesRequest::default()).await.map_err(|error| reasons(&error))?;
        Ok(answer.into_inner().p4runtime_api_version)
    };
    let answered: Result<String, String> =
        tokio::time::timeout(Duration::from_secs(30), asked).await.expect("no answer");
    answered.unwrap_or_else(|error| error)
}

fn reasons(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text.push_str(&format!(": {error}"));
        next = error.source();
    }
    text
}

async fn refused(device: &Device, scheme: &str, ca: Option<&str>, own: Option<&str>, why: &str) {
    let text = outcome(device, scheme, ca, own).await;
    assert!(text.contains(why), "{why}? {text}");
}

#[tokio::test]
async fn a_server_with_a_certificate() {
    let device = device("server", None);
    assert_eq!(outcome(&device, "https", Some("ca"), None).await, "1.5.0");
    refused(&device, "https", Some("other_ca"), None, "UnknownIssuer").await;
    refused(&device, "http", None, None, "error").await;
    // The refused clients have done no harm.
    assert_eq!(outcome(&device, "https", Some("ca"), None).await, "1.5.0");
}

#[tokio::test]
async fn a_certificate_that_has_expired() {
    let device = device("expired", None);
    refused(&device, "https", Some("ca"), None, "certificate expired").await;
}

#[tokio::test]
async fn clients_with_certificates() {
    let device = device("server", Some("ca"));
    assert_eq!(outcome(&device, "https", Some("ca"), Some("client")).await, "1.5.0");
    refused(&device, "https", Some("ca"), None, "error").await;
    refused(&device, "https", Some("ca"), Some("stranger"), "error").await;
    refused(&device, "https", Some("ca"), Some("expired"), "error").await;
    assert_eq!(outcome(&device, "https", Some("ca"), Some("client")).await, "1.5.0");
}
