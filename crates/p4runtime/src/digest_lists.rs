//! Groups digests into lists for controllers, and suppresses repetitions.
//!
//! What enters: values that the program sent, acknowledgements, the time. What leaves: lists to send. This module
//! does no input or output and reads no clock. A message waits until its list is full or its timeout has passed. A
//! message that equals one that waits, or one that was sent and not acknowledged within the acknowledgement timeout,
//! is suppressed. The worker gets marks of these ([`DigestFilter`]), so that most of them are suppressed there.

use crate::digest_filter::{DigestFilter, Mark};
use base::ordered::Entry;
use base::{Bits, OrderedMap};
use control::api::entity::DigestConfig;
use std::sync::Arc;

/// Messages of a list at most, whatever the configuration is.
const LIST_MAX: usize = 4096;

/// The most messages of a digest that are remembered as sent and not acknowledged.
const UNACKNOWLEDGED_MAX: usize = 65_536;

/// The values of a message in comparable form.
type Message = Vec<Bits>;

/// The order of messages.
fn key(message: &Message) -> Vec<Vec<u64>> {
    message.iter().map(|value| value.limbs().to_vec()).collect()
}

type Key = Vec<Vec<u64>>;

/// A list that is ready to be sent.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct List {
    /// The digest's id.
    pub digest: u32,
    /// The number that identifies it in acknowledgements.
    pub list: u64,
    /// The messages.
    pub messages: Vec<Message>,
}

/// The digests of a program.
#[derive(Debug, Default)]
pub(crate) struct DigestLists {
    digests: OrderedMap<u32, Digest>,
    last_list: u64,
    filter: Arc<DigestFilter>,
}

#[derive(Debug, Default)]
struct Digest {
    waiting: Vec<Message>,
    waiting_since_ns: u64,
    /// All messages that wait or were sent and not acknowledged, with their marks.
    known: OrderedMap<Key, Mark>,
    unacknowledged: OrderedMap<u64, Sent>,
    unacknowledged_messages: usize,
}

#[derive(Debug)]
struct Sent {
    at_ns: u64,
    keys: Vec<Key>,
}

impl DigestLists {
    /// The marks of these messages.
    pub fn filter(&self) -> Arc<DigestFilter> {
        Arc::clone(&self.filter)
    }

    /// Adds a message of the program, with its mark. Returns a list if that is now full.
    pub fn add(
        &mut self,
        digest: u32,
        config: DigestConfig,
        (message, mark): (Message, Mark),
        now_ns: u64,
    ) -> Option<List> {
        let state = self.digests.entry(digest).or_default();
        state.expire(config, now_ns, &self.filter);
        match state.known.entry(key(&message)) {
            // Another mark may have replaced it.
            Entry::Occupied(known) => {
                self.filter.add(*known.get());
                return None;
            }
            Entry::Vacant(unknown) => _ = unknown.insert(mark),
        }
        self.filter.add(mark);
        if state.waiting.is_empty() {
            state.waiting_since_ns = now_ns;
        }
        state.waiting.push(message);
        let full = match config.list_size_max {
            0 => LIST_MAX,
            size => (size as usize).min(LIST_MAX),
        };
        if state.waiting.len() < full && config.timeout_max_ns > 0 {
            return None;
        }
        self.send(digest, config, now_ns)
    }

    /// The lists whose timeout has passed, and how many waiting messages were dropped because their digest is no
    /// longer configured.
    pub fn due(&mut self, now_ns: u64, config_of: impl Fn(u32) -> Option<DigestConfig>) -> (Vec<List>, u64) {
        let (mut lists, mut forgotten) = (Vec::new(), 0);
        let digests: Vec<u32> = self.digests.keys().copied().collect();
        for digest in digests {
            let Some(config) = config_of(digest) else {
                let Some(state) = self.digests.remove(&digest) else { continue };
                state.known.values().for_each(|mark| self.filter.remove(*mark));
                forgotten += state.waiting.len() as u64;
                continue;
            };
            let Some(state) = self.digests.get_mut(&digest) else { continue };
            state.expire(config, now_ns, &self.filter);
            let due_ns = state.waiting_since_ns.saturating_add(config.timeout_max_ns);
            if !state.waiting.is_empty() && now_ns >= due_ns {
                lists.extend(self.send(digest, config, now_ns));
            }
        }
        (lists, forgotten)
    }

    /// Forgets everything but the numbers of lists: a list of another program must not have the number of an earlier
    /// one, which may be acknowledged late. Returns how many messages waited.
    pub fn begin_anew(&mut self) -> u64 {
        self.filter.clear();
        std::mem::take(&mut self.digests).values().map(|state| state.waiting.len() as u64).sum()
    }

    /// When the next timeout of a list or an acknowledgement passes.
    pub fn next_due_ns(&self, config_of: impl Fn(u32) -> Option<DigestConfig>) -> Option<u64> {
        let due = |(digest, state): (&u32, &Digest)| {
            if state.known.is_empty() {
                return None;
            }
            let config = config_of(*digest)?;
            let list_ns = state.waiting_since_ns.saturating_add(config.timeout_max_ns);
            let list_ns = Some(list_ns).filter(|_| !state.waiting.is_empty());
            let sent = state.unacknowledged.first_key_value();
            let again_ns = sent.map(|(_, sent)| sent.at_ns.saturating_add(config.ack_timeout_ns));
            list_ns.into_iter().chain(again_ns).min()
        };
        self.digests.iter().filter_map(due).min()
    }

    /// A list was acknowledged. False if there is no such list.
    pub fn acknowledge(&mut self, digest: u32, list: u64) -> bool {
        self.digests.get_mut(&digest).is_some_and(|state| state.forget(list, &self.filter))
    }

    /// Forgets which messages were sent: there is another controller, which does not know them.
    pub fn forget_sent(&mut self) {
        for state in self.digests.values_mut() {
            while let Some((&list, _)) = state.unacknowledged.first_key_value() {
                state.forget(list, &self.filter);
            }
        }
    }

    fn send(&mut self, digest: u32, config: DigestConfig, now_ns: u64) -> Option<List> {
        let state = self.digests.get_mut(&digest)?;
        self.last_list += 1;
        let messages = std::mem::take(&mut state.waiting);
        let keys: Vec<Key> = messages.iter().map(key).collect();
        if config.ack_timeout_ns == 0 {
            keys.iter().for_each(|key| state.forget_key(key, &self.filter));
        } else {
            state.unacknowledged_messages += keys.len();
            state.unacknowledged.insert(self.last_list, Sent { at_ns: now_ns, keys });
            while state.unacknowledged_messages > UNACKNOWLEDGED_MAX
                && let Some((&oldest, _)) = state.unacknowledged.first_key_value()
            {
                state.forget(oldest, &self.filter);
            }
        }
        Some(List { digest, list: self.last_list, messages })
    }
}

impl Digest {
    fn expire(&mut self, config: DigestConfig, now_ns: u64, filter: &DigestFilter) {
        while let Some((&list, sent)) = self.unacknowledged.first_key_value()
            && now_ns.saturating_sub(sent.at_ns) >= config.ack_timeout_ns
        {
            self.forget(list, filter);
        }
    }

    fn forget(&mut self, list: u64, filter: &DigestFilter) -> bool {
        let Some(sent) = self.unacknowledged.remove(&list) else { return false };
        self.unacknowledged_messages -= sent.keys.len();
        sent.keys.iter().for_each(|key| self.forget_key(key, filter));
        true
    }

    fn forget_key(&mut self, key: &Key, filter: &DigestFilter) {
        if let Some(mark) = self.known.remove(key) {
            filter.remove(mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// A message of this value; it is also its mark.
    fn marked(value: u64) -> (Message, Mark) {
        (vec![Bits::from_u64(8, value)], value)
    }

    /// A script of `TIME add VALUE`, `TIME ack LIST` and `TIME` alone, and the resulting lists.
    fn check(config: DigestConfig, script: &str, expect: Expect) {
        let mut lists = DigestLists::default();
        let mut text = String::new();
        for line in script.split(';').map(str::trim) {
            let words: Vec<&str> = line.split(' ').collect();
            let now_ns: u64 = words[0].parse().unwrap();
            let mut ready = lists.due(now_ns, |_| Some(config)).0;
            match words.get(1) {
                Some(&"add") => {
                    ready.extend(lists.add(1, config, marked(words[2].parse().unwrap()), now_ns));
                }
                Some(_) => {
                    let is_known = lists.acknowledge(1, words[2].parse().unwrap());
                    text.push_str(if is_known { "" } else { "no such list\n" });
                }
                None => {}
            }
            for list in ready {
                let values: Vec<u64> = list.messages.iter().map(|message| message[0].low_u64()).collect();
                text.push_str(&format!("{now_ns}: list {} {values:?}\n", list.list));
            }
        }
        expect.assert_eq(&text);
    }

    fn config(timeout_max_ns: u64, list_size_max: u32, ack_timeout_ns: u64) -> DigestConfig {
        DigestConfig { timeout_max_ns, list_size_max, ack_timeout_ns }
    }

    #[test]
    fn a_list_is_sent_when_it_is_full_or_its_time_is_over() {
        check(
            config(100, 2, 0),
            "0 add 1; 10 add 2; 20 add 3; 119; 120",
            expect![[r#"
            10: list 1 [1, 2]
            120: list 2 [3]
        "#]],
        );
    }

    #[test]
    fn without_a_timeout_or_with_a_size_of_one_each_message_is_a_list() {
        check(
            config(0, 0, 0),
            "0 add 1; 1 add 1",
            expect![[r#"
            0: list 1 [1]
            1: list 2 [1]
        "#]],
        );
        check(
            config(100, 1, 0),
            "0 add 1; 1 add 1",
            expect![[r#"
            0: list 1 [1]
            1: list 2 [1]
        "#]],
        );
    }

    #[test]
    fn another_program_has_other_numbers() {
        let (mut lists, config) = (DigestLists::default(), config(100, 2, 1000));
        assert_eq!(lists.add(1, config, marked(1), 0), None);
        assert_eq!(lists.add(1, config, marked(2), 0).unwrap().list, 1);
        assert_eq!(lists.add(1, config, marked(3), 0), None);
        assert_eq!(lists.begin_anew(), 1, "the third waited");
        // What the controller knows of the previous program does not apply to this one.
        assert_eq!(lists.add(1, config, marked(1), 1), None);
        assert_eq!(lists.add(1, config, marked(4), 1).unwrap().list, 2);
        assert!(!lists.acknowledge(1, 1));
        assert_eq!(lists.due(2, |_| None), (Vec::new(), 0), "nothing waits");
    }

    #[test]
    fn what_is_known_is_not_sent_again() {
        check(
            config(100, 2, 1000),
            "0 add 1; 1 add 1; 2 add 2; 3 add 1; 4 ack 1; 5 add 1; 105",
            expect![[r#"
            2: list 1 [1, 2]
            105: list 2 [1]
        "#]],
        );
        check(
            config(100, 1, 1000),
            "0 add 1; 999 add 1; 1000 add 1; 1001 ack 7",
            expect![[r#"
            0: list 1 [1]
            1000: list 2 [1]
            no such list
        "#]],
        );
    }

    #[test]
    fn the_worker_learns_which_digests_are_not_needed() {
        let (mut lists, config) = (DigestLists::default(), config(100, 2, 1000));
        let filter = lists.filter();
        let known = || (1..=4).filter(|&mark| filter.has(mark)).collect::<Vec<_>>();
        let config_of = |_| Some(config);
        lists.add(1, config, marked(1), 0);
        assert_eq!((known(), lists.next_due_ns(config_of)), (vec![1], Some(100)), "it waits");
        lists.add(1, config, marked(2), 10);
        assert_eq!((known(), lists.next_due_ns(config_of)), (vec![1, 2], Some(1010)), "sent, not acknowledged");
        lists.acknowledge(1, 1);
        assert_eq!((known(), lists.next_due_ns(config_of)), (vec![], None), "acknowledged");
        lists.add(1, config, marked(3), 20);
        lists.add(1, config, marked(4), 20);
        lists.due(1020, config_of);
        assert_eq!(known(), Vec::<Mark>::new(), "the time of the acknowledgement is over");
        lists.add(1, config, marked(1), 1020);
        lists.due(1021, |_| None);
        assert_eq!(known(), Vec::<Mark>::new(), "no controller subscribes");
        lists.add(1, config, marked(2), 1022);
        lists.begin_anew();
        assert_eq!(known(), Vec::<Mark>::new(), "another program");
    }
}
