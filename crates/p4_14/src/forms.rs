//! What P4_14 writes instead of the methods and functions of P4_16, for error messages.

/// The form of `object.method(...)`.
pub(crate) fn of_method(object: &str, method: &str) -> Option<String> {
    Some(match method {
        "apply" => format!("apply({object});"),
        "isValid" => format!("valid({object})"),
        "setValid" => format!("add_header({object});"),
        "setInvalid" => format!("remove_header({object});"),
        "push_front" => format!("push({object}, count);"),
        "pop_front" => format!("pop({object}, count);"),
        "count" => format!("count({object}, index);"),
        "execute" | "execute_meter" => format!("execute_meter({object}, index, field);"),
        "read" => format!("register_read(field, {object}, index);"),
        "write" => format!("register_write({object}, index, value);"),
        _ => return None,
    })
}

/// The form of `function(...)`.
pub(crate) fn of_function(function: &str) -> Option<&'static str> {
    Some(match function {
        "NoAction" => "no_op();",
        "clone" | "clone3" | "clone_preserving_field_list" => "clone_ingress_pkt_to_egress(session, list);",
        "digest" => "generate_digest(receiver, list);",
        "hash" => "modify_field_with_hash_based_offset(field, base, calculation, size);",
        "mark_to_drop" => "drop();",
        "random" => "modify_field_rng_uniform(field, low, high);",
        "recirculate_preserving_field_list" => "recirculate(list);",
        "resubmit_preserving_field_list" => "resubmit(list);",
        _ => return None,
    })
}
