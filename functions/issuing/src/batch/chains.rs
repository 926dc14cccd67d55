//! Groups the receipts of a batch by dependency: the same key, the same number, or a note and the receipt that it
//! modifies.

use std::collections::HashMap;

use ecf::Node;
use ecf_api::ApiError;

use crate::request::IssueRequest;

/// A receipt of the batch, with its position in the list.
pub(super) struct Item {
    pub(super) place: usize,
    pub(super) request: Result<IssueRequest, ApiError>,
}

/// The receipts in chains. Within a chain they have the order of the list, and no receipt depends on another chain. The
/// chains are sorted by their first receipt.
pub(super) fn chains(requests: Vec<Result<IssueRequest, ApiError>>) -> Vec<Vec<Item>> {
    let names: Vec<Vec<String>> = requests
        .iter()
        .map(|request| request.as_ref().map(names).unwrap_or_default())
        .collect();
    let chain_of = joined(&names);
    let mut chains: Vec<Vec<Item>> = Vec::new();
    let mut begun: HashMap<usize, usize> = HashMap::new();
    for (place, request) in requests.into_iter().enumerate() {
        let index = *begun.entry(chain_of[place]).or_insert_with(|| {
            chains.push(Vec::new());
            chains.len() - 1
        });
        chains[index].push(Item { place, request });
    }
    chains
}

/// For each item, the first item of its chain. Two items are in one chain when they share a name, directly or through
/// other items.
fn joined(names: &[Vec<String>]) -> Vec<usize> {
    let mut chain_of: Vec<usize> = (0..names.len()).collect();
    let mut first_with: HashMap<&str, usize> = HashMap::new();
    for (place, names) in names.iter().enumerate() {
        for name in names {
            let other = chain_of[*first_with.entry(name).or_insert(place)];
            let own = chain_of[place];
            let (kept, left) = (own.min(other), own.max(other));
            for chain in chain_of.iter_mut().filter(|chain| **chain == left) {
                *chain = kept;
            }
        }
    }
    chain_of
}

/// The names that receipts of a batch may share: the key, the receipt's number, and the number that a note modifies.
fn names(request: &IssueRequest) -> Vec<String> {
    let payload = request.payload.get("ECF").unwrap_or(&request.payload);
    let scalar = |path: &[&str]| {
        let node = path.iter().try_fold(payload, |node: &Node, step| node.get(step))?;
        node.as_scalar().map(str::to_ascii_uppercase)
    };
    let number = scalar(&["Encabezado", "IdDoc", "eNCF"]);
    let modified = scalar(&["InformacionReferencia", "NCFModificado"]);
    let numbers = [number, modified]
        .into_iter()
        .flatten()
        .map(|number| format!("number {number}"));
    let key = format!("key {}", request.idempotency_key);
    numbers.chain([key]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a9_items_that_share_a_name_are_in_one_chain() {
        let table: [(&[&[&str]], &[usize]); 5] = [
            (&[&["a"], &["b"], &["c"]], &[0, 1, 2]),
            (&[&["a"], &["b"], &["a"]], &[0, 1, 0]),
            (&[&["a"], &["b"], &["b", "a"]], &[0, 0, 0]),
            (&[&["a", "x"], &["b", "y"], &["c", "y"], &["d", "x"]], &[0, 1, 1, 0]),
            (&[&[], &[], &["a"]], &[0, 1, 2]),
        ];
        for (names, expected) in table {
            let names: Vec<Vec<String>> = names
                .iter()
                .map(|names| names.iter().map(|&name| name.to_owned()).collect())
                .collect();
            assert_eq!(joined(&names), expected, "{names:?}");
        }
    }
}
