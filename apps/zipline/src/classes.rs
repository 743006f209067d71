//! Programs in which each class of traffic has its own transform: their compile options and their tables.
//!
//! What enters: a transform for each class, numbered from 0. What leaves: options and commands. The settings and
//! tables of class 0 have no number in their names, those of the other classes have the class number.

use crate::entries::{self, Class, Tables};
use crate::transform::Transform;
use base::Bits;
use std::fmt;

/// The transform of each class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Classes {
    transforms: Vec<Transform>,
}

/// Why no program can have these transforms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// There are more than [`Classes::COUNT_MAX`].
    Many(usize),
    /// If packets have several chunks, the chunks of all classes must have one length; these are two different ones.
    Lengths(usize, usize),
}

impl fmt::Display for Unfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Many(count) => {
                write!(
                    out,
                    "{count} classes are too many: at most {} have a transform of their own",
                    Classes::COUNT_MAX
                )
            }
            Unfit::Lengths(one, other) => write!(
                out,
                "where packets have several chunks, those of all classes have one length, but here some have {one} \
                 bytes and others {other}"
            ),
        }
    }
}

impl std::error::Error for Unfit {}

impl Classes {
    /// The most transforms that a program can have.
    pub const COUNT_MAX: usize = 8;

    /// The order of classes that the programs require: those with the longest chunks first.
    pub fn order(transforms: &[&Transform]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..transforms.len()).collect();
        order.sort_by_key(|place| std::cmp::Reverse(transforms[*place].chunk_bytes()));
        order
    }

    /// Classes with these transforms, whose chunks begin at the same places.
    ///
    /// # Panics
    /// If the transforms are not in the required order.
    pub fn new(transforms: Vec<Transform>) -> Result<Classes, Unfit> {
        if transforms.is_empty() || transforms.len() > Classes::COUNT_MAX {
            return Err(Unfit::Many(transforms.len()));
        }
        assert!(
            transforms.is_sorted_by_key(|it| std::cmp::Reverse(it.chunk_bytes())),
            "classes with the longest chunks must come first"
        );
        let (longest, shortest) = (transforms[0].chunk_bytes(), transforms[transforms.len() - 1].chunk_bytes());
        if transforms[0].layout().count > 1 && longest != shortest {
            return Err(Unfit::Lengths(longest, shortest));
        }
        Ok(Classes { transforms })
    }

    /// The compile options of both programs.
    pub fn options(&self, id_bits: u32) -> String {
        let first = &self.transforms[0];
        let mut options = first.options(id_bits);
        if self.transforms.len() > 1 {
            options += &format!(" -D CLASSES={}", self.transforms.len());
        }
        for (transform, class) in self.transforms.iter().zip(0..).skip(1) {
            let chunk = Some(transform.chunk_bytes()).filter(|bytes| *bytes != first.chunk_bytes());
            options += &format!(" {}", transform.settings(&format!("_{class}"), chunk));
        }
        options
    }

    /// The transform of a class and its tables. A class without a transform of its own has that of class 0.
    fn of(&self, class: u32) -> (&Transform, Tables) {
        match self.transforms.get(class as usize) {
            Some(transform) => (transform, Tables::of_class(class)),
            None => (&self.transforms[0], Tables::FIRST),
        }
    }

    fn has_mask(&self) -> bool {
        self.transforms.iter().any(|transform| transform.mask().is_some())
    }

    /// The packets of a class, for the encoder.
    pub fn encode(&self, class: &Class) -> String {
        let (transform, _) = self.of(class.number);
        if self.has_mask() { entries::encode_masked(class, transform) } else { entries::encode(class, transform) }
    }

    /// The packets of a class, for the decoder.
    pub fn restore(&self, class: &Class) -> String {
        let (transform, _) = self.of(class.number);
        if self.has_mask() { entries::restore_masked(class, transform) } else { entries::restore(class, transform) }
    }

    /// The error bits of each syndrome, for all transforms.
    pub fn masks(&self) -> String {
        self.transforms.iter().zip(0..).map(|(transform, class)| Tables::of_class(class).masks(transform)).collect()
    }

    /// The identifier of each basis of a class, for the encoder, numbered from `first`.
    pub fn identifiers(&self, class: u32, first: u32, bases: &[Bits]) -> String {
        self.of(class).1.identifiers(first, bases)
    }

    /// The basis of each identifier of a class, for the decoder.
    pub fn bases(&self, class: u32, first: u32, bases: &[Bits]) -> String {
        self.of(class).1.bases(first, bases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::entries::Header;
    use crate::transform::Layout;

    fn masked(bytes: u32, mask: u64) -> Transform {
        Transform::masked(Bits::from_u64(8 * bytes, mask), None)
    }

    fn classes(transforms: &[Transform]) -> Classes {
        Classes::new(transforms.to_vec()).unwrap()
    }

    #[test]
    fn settings_of_classes_have_their_numbers() {
        let hamming = Transform::of_code(Code::new(6).unwrap());
        let bch = Transform::masked(Bits::from_u64(64, 1 << 63 | 1), None);
        let options = |transforms: &[Transform]| classes(transforms).options(15);
        assert_eq!(options(std::slice::from_ref(&hamming)), "-D CODE=6");
        let expected = "-D CODE=6 -D CLASSES=3 -D CODE_1=0 -D ASIDE_1=2 -D CODE_2=0 -D CHUNK_2=4 -D ASIDE_2=8";
        assert_eq!(options(&[hamming.clone(), bch, masked(4, 0xff)]), expected);
        let of_two = Transform::of_code(Code::of_two(5).unwrap());
        let expected = "-D CODE=0 -D CHUNK=8 -D ASIDE=8 -D CLASSES=2 -D CODE_1=5 -D ERRORS_1=2 -D CHUNK_1=4";
        assert_eq!(options(&[masked(8, 0xff), of_two]), expected);
        let (short, long) = (masked(4, 1), masked(8, 1));
        assert_eq!(Classes::order(&[&short, &hamming, &short, &long]), [1, 3, 0, 2]);
    }

    #[test]
    fn tables_of_classes_have_their_numbers() {
        let both = classes(&[Transform::of_code(Code::new(5).unwrap()), masked(2, 0xff)]);
        let class = |number| Class { number, ethertype: 0x0800, port: 1, header: Header::default() };
        let bases = [Bits::from_u64(8, 0xab)];
        let lines = [
            both.encode(&class(0)),
            both.encode(&class(1)),
            both.restore(&class(2)),
            both.identifiers(1, 7, &bases),
            both.bases(1, 7, &bases),
            both.bases(2, 7, &bases),
        ];
        let expected = "\
            table_add classes encode 1 0x0800 => 0 0x80000000\n\
            table_add classes encode 1 0x0800 => 1 0x00ff\n\
            table_add classes restore 2 => 0x0800 0x80000000\n\
            table_add bases_1 compress 0xab => 7\n\
            table_add bases_1 expand 7 => 0xab\n\
            table_add bases expand 7 => 0xab\n";
        assert_eq!(lines.concat(), expected);
        let codes = [3, 5].map(|m| Transform::of_code(Code::new(m).unwrap()));
        let codes = classes(&[codes[1].clone(), codes[0].clone()]);
        assert_eq!(codes.encode(&class(1)), "table_add classes encode 1 0x0800 => 1\n");
        let lines = |start: &str| codes.masks().lines().filter(|line| line.starts_with(start)).count();
        assert_eq!([lines("table_add masks flip "), lines("table_add masks_1 flip ")], [31, 7]);
    }

    #[test]
    fn unfit_transforms_are_refused() {
        let error_of = |transforms: Vec<Transform>| Classes::new(transforms).unwrap_err().to_string();
        assert_eq!(error_of(vec![masked(4, 1); 9]), "9 classes are too many: at most 8 have a transform of their own");
        let several = |transform: Transform| transform.with_layout(Layout { offset: 0, count: 2 });
        assert_eq!(
            error_of(vec![several(masked(8, 1)), several(masked(4, 1))]),
            "where packets have several chunks, those of all classes have one length, but here some have 8 bytes and \
             others 4"
        );
    }
}
