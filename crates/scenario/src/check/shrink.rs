//! Makes what fails smaller.

/// The smallest part of these numbers that is found with which something still fails: first halves are left out, then
/// quarters, and so on. `fails` is called for parts, not for all of them.
pub fn smallest(mut numbers: Vec<usize>, fails: &mut dyn FnMut(&[usize]) -> bool) -> Vec<usize> {
    if numbers.is_empty() || fails(&[]) {
        return Vec::new();
    }
    let mut size = numbers.len().div_ceil(2);
    loop {
        let mut start = 0;
        while start < numbers.len() && numbers.len() > 1 {
            let end = (start + size).min(numbers.len());
            let rest = [&numbers[..start], &numbers[end..]].concat();
            match !rest.is_empty() && fails(&rest) {
                true => numbers = rest,
                false => start = end,
            }
        }
        if size == 1 {
            return numbers;
        }
        size = size.div_ceil(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_left() {
        for needed in [vec![], vec![0], vec![99], vec![3, 50], vec![1, 2, 97]] {
            let mut calls = 0;
            let found = smallest((0..100).collect(), &mut |part| {
                calls += 1;
                needed.iter().all(|it| part.contains(it))
            });
            assert_eq!(found, needed);
            assert!(calls < 60, "{calls}");
        }
    }
}
