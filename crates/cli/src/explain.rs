//! `wirespeed explain`: the meaning of the code of an error or warning.

use crate::Exit;
use crate::args::ExplainArguments;
use crate::explanations::PAGES;
use crate::terminal::say;

/// Shows the pages of the codes, or the list of all codes.
pub fn explain(arguments: &ExplainArguments) -> Result<Exit, Exit> {
    if arguments.codes.is_empty() {
        for (_, page) in PAGES {
            say!("{}", title(page));
        }
        return Ok(Exit::Success);
    }
    let mut exit = Exit::Success;
    for (position, wanted) in arguments.codes.iter().enumerate() {
        let found = PAGES.iter().find(|(code, _)| code.eq_ignore_ascii_case(wanted));
        match found {
            Some((_, page)) => {
                let gap = if position > 0 { "\n" } else { "" };
                say!("{gap}{}", page.trim_start_matches("# ").trim_end());
            }
            None => {
                eprintln!("error: there is no code `{wanted}`; `wirespeed explain` lists all");
                exit = Exit::Usage;
            }
        }
    }
    Ok(exit)
}

/// The first line of a page: the code and its title.
fn title(page: &str) -> &str {
    page.lines().next().unwrap_or("").trim_start_matches("# ")
}
