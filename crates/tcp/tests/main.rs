//! Tests of the endpoint: whole transfers over bad networks.

mod support;
mod transfers;
