//! Values by code and codes by value: the dictionary of a graph, and that of one query over it.
//!
//! Entries are never removed or changed, so reading one takes no lock. What nobody uses any more is left out of a new
//! dictionary ([`Collection`]), in which its codes are free; a snapshot says which dictionary its codes are of.

mod collection;
mod computed;
mod entries;

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use parking_lot::{Mutex, RwLock};

use self::entries::Entries;
use super::codes::{Code, EMPTY, FALSE, INLINE_END, NULL, TRUE, inline_int};
use super::{Kind, Number, Value, ValueRef};

pub use self::collection::Collection;
pub(crate) use self::computed::{Computed, Learning};

const SHARED_START: Code = INLINE_END + 3;
const LOCAL_START: Code = 0xC000_0000;
const SHARDS: usize = 64;
/// An entry, its slot in the table, and what is small beside it.
const ENTRY_BYTES: usize = 64;
/// Values that are looked up at once.
const BLOCK: usize = 512;

/// No more distinct values fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than 2^30 distinct values in one dictionary")]
pub struct DictionaryFull;

/// Values by code and codes by value. Grows only.
pub struct Dictionary {
    number: u64,
    first: Code,
    end: Code,
    capacity: usize,
    entries: Entries,
    /// Bytes of texts and vectors.
    content_bytes: AtomicUsize,
    /// Bytes of values that were learnt for what is kept.
    computed: AtomicUsize,
    /// The same of what is not kept any more.
    left: AtomicUsize,
    shards: Box<[RwLock<HashTable<Slot>>]>,
    /// Held by whoever looks many values up here and elsewhere, and learns those that neither knows.
    encoding: Mutex<()>,
}

/// A code beside 32 bits of its value's hash, so that nobody has to read the entry to see that it is another one, or to
/// find a place for it in a larger table.
#[derive(Clone, Copy)]
struct Slot {
    code: Code,
    hash: u32,
}

impl Dictionary {
    /// The dictionary of a graph.
    pub fn shared() -> Dictionary {
        Dictionary::starting_at(SHARED_START, LOCAL_START)
    }

    /// The dictionary of one query.
    pub fn local() -> Dictionary {
        Dictionary::starting_at(LOCAL_START, EMPTY)
    }

    fn starting_at(first: Code, end: Code) -> Dictionary {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Dictionary {
            number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            first,
            end,
            // Each shard may be one entry over while others count.
            capacity: (end - first) as usize - SHARDS,
            entries: Entries::default(),
            content_bytes: AtomicUsize::new(0),
            computed: AtomicUsize::new(0),
            left: AtomicUsize::new(0),
            shards: (0..SHARDS).map(|_| RwLock::new(HashTable::new())).collect(),
            encoding: Mutex::default(),
        }
    }

    /// What tells it from every other one of this process.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was learnt yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An estimate of the bytes that hold the values of these codes, each of them once.
    pub(super) fn bytes_of(&self, mut codes: Vec<Code>) -> usize {
        codes.retain(|code| *code >= SHARED_START);
        codes.sort_unstable();
        codes.dedup();
        codes.iter().map(|code| self.entry_bytes(*code)).sum()
    }

    /// The bytes of the value of a code, about; none if the code stands for itself.
    pub fn entry_bytes(&self, code: Code) -> usize {
        let entry = if code < SHARED_START { None } else { self.entry(code) };
        entry.map_or(0, |value| ENTRY_BYTES + value.as_ref().content_bytes())
    }

    /// The bytes held, about.
    pub fn memory_bytes(&self) -> usize {
        self.len() * ENTRY_BYTES + self.content_bytes.load(Ordering::Relaxed)
    }

    fn find(&self, value: ValueRef<'_>, hash: u64) -> Option<Code> {
        self.find_in(&self.shards[shard_of(hash)].read(), value, slot_hash(hash))
    }

    fn find_in(&self, shard: &HashTable<Slot>, value: ValueRef<'_>, hash: u32) -> Option<Code> {
        let is_same =
            |slot: &Slot| slot.hash == hash && self.entry(slot.code).is_some_and(|entry| value.is(entry));
        shard.find(table_hash(hash), is_same).map(|slot| slot.code)
    }

    fn intern(&self, value: ValueRef<'_>, hash: u64) -> Result<Code, DictionaryFull> {
        match self.find(value, hash) {
            Some(code) => Ok(code),
            None => self.learn(&mut self.shards[shard_of(hash)].write(), value, slot_hash(hash)),
        }
    }

    /// The code of a value that was unknown a moment ago.
    fn learn(
        &self,
        shard: &mut HashTable<Slot>,
        value: ValueRef<'_>,
        hash: u32,
    ) -> Result<Code, DictionaryFull> {
        if let Some(code) = self.find_in(shard, value, hash) {
            return Ok(code);
        }
        if self.entries.is_full(self.capacity) {
            return Err(DictionaryFull);
        }
        let code = self.first + self.entries.push(value.to_value()) as Code;
        self.content_bytes.fetch_add(value.content_bytes(), Ordering::Relaxed);
        shard.insert_unique(table_hash(hash), Slot { code, hash }, |slot| table_hash(slot.hash));
        Ok(code)
    }

    #[inline]
    fn entry(&self, code: Code) -> Option<&Value> {
        self.entries.get((code - self.first) as usize)
    }
}

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dictionary").field("first", &self.first).field("len", &self.len()).finish()
    }
}

/// Translates between values and codes, over a graph's dictionary and one of a query's own.
///
/// Values that a query makes go to its own dictionary: what is read once makes no graph grow. Where rows are kept, the graph
/// learns their values afterwards.
#[derive(Debug, Clone)]
pub struct Codec {
    shared: Arc<Dictionary>,
    local: Arc<Dictionary>,
}

impl Codec {
    /// A codec with an empty dictionary of its own.
    pub fn over(shared: Arc<Dictionary>) -> Codec {
        Codec { shared, local: Arc::new(Dictionary::local()) }
    }

    /// The graph's dictionary.
    pub fn shared(&self) -> &Arc<Dictionary> {
        &self.shared
    }

    /// The code of a value; new values go to the query's own dictionary.
    pub fn encode(&self, value: ValueRef<'_>) -> Result<Code, DictionaryFull> {
        if let Some(code) = inline(value) {
            return Ok(code);
        }
        let hash = hash_of(value);
        // The query's own entry comes first: the graph may have learnt the value since it was made.
        if !self.local.is_empty()
            && let Some(code) = self.local.find(value, hash)
        {
            return Ok(code);
        }
        match self.shared.find(value, hash) {
            Some(code) => Ok(code),
            None => self.local.intern(value, hash),
        }
    }

    /// The codes of values, as [`Codec::encode`] has them. One thread at a time looks them up: between two of them, the graph may
    /// learn a value that the one has not found, and then a value would have two codes.
    pub fn encode_all<'v>(
        &self,
        values: impl ExactSizeIterator<Item = ValueRef<'v>>,
    ) -> Result<Vec<Code>, DictionaryFull> {
        let _alone = self.local.encoding.lock();
        self.local.by_blocks(values, |block, codes| {
            let mut known = [EMPTY; BLOCK];
            let known = &mut known[..codes.len()];
            self.shared.find_block(block, known);
            self.local.find_block(block, codes);
            for (code, known) in codes.iter_mut().zip(known).filter(|(code, _)| **code == EMPTY) {
                *code = *known;
            }
            self.local.learn_block(block, codes)
        })
    }

    /// The bytes of the values that the query has made, and of what finds them; nothing if there are none.
    pub(crate) fn own_bytes(&self) -> usize {
        let shards = SHARDS * size_of::<RwLock<HashTable<Slot>>>();
        if self.has_own() { self.local.memory_bytes() + shards } else { 0 }
    }

    /// Whether the query has made values.
    pub fn has_own(&self) -> bool {
        !self.local.is_empty()
    }

    /// Whether a code stands for a value that a query made.
    pub fn is_own(code: Code) -> bool {
        (LOCAL_START..EMPTY).contains(&code)
    }

    /// The value of a code.
    pub fn value(&self, code: Code) -> ValueRef<'_> {
        self.entry(code).map_or_else(|| uncode(code), Value::as_ref)
    }

    /// The value of a code that does not stand for itself. Whoever expects one kind compares with that kind alone, so many
    /// entries are waited for at once: where it goes on would depend on the entry after [`Codec::value`].
    #[inline]
    pub fn entry(&self, code: Code) -> Option<&Value> {
        if code < SHARED_START {
            None
        } else if code < LOCAL_START {
            self.shared.entry(code)
        } else {
            self.local.entry(code)
        }
    }

    /// The numeric value of a code, if it has one.
    #[inline]
    pub(crate) fn number(&self, code: Code) -> Option<Number> {
        match self.entry(code) {
            Some(Value::Int(n) | Value::Timestamp(n)) => Some(Number::Int(*n)),
            Some(Value::Float(x)) => Some(Number::Float(*x)),
            Some(_) => None,
            None => (code < INLINE_END).then(|| Number::Int(i64::from(code))),
        }
    }

    /// The same, but a point in time is none.
    #[inline]
    pub(crate) fn int_or_float(&self, code: Code) -> Option<Number> {
        match self.entry(code) {
            Some(Value::Timestamp(_)) => None,
            _ => self.number(code),
        }
    }

    /// The code under which a value may be stored in the graph: one of a query's own values is learnt by the graph.
    pub fn store(&self, code: Code) -> Result<Code, DictionaryFull> {
        if code < LOCAL_START { Ok(code) } else { self.shared.store(self.value(code)) }
    }

    /// The kind of a code's value.
    pub fn kind(&self, code: Code) -> Kind {
        match self.entry(code) {
            Some(value) => value.kind(),
            None => uncode(code).kind(),
        }
    }
}

impl Dictionary {
    /// The code of a value, learnt if it is new.
    pub fn store(&self, value: ValueRef<'_>) -> Result<Code, DictionaryFull> {
        match inline(value) {
            Some(code) => Ok(code),
            None => self.intern(value, hash_of(value)),
        }
    }

    /// The codes of values. New ones are learnt in their order.
    pub fn store_all<'v>(
        &self,
        values: impl ExactSizeIterator<Item = ValueRef<'v>>,
    ) -> Result<Vec<Code>, DictionaryFull> {
        self.by_blocks(values, |block, codes| {
            self.find_block(block, codes);
            self.learn_block(block, codes)
        })
    }

    /// The codes of those values that are known; [`EMPTY`] for all others.
    pub fn find_all<'v>(&self, values: impl ExactSizeIterator<Item = ValueRef<'v>>) -> Vec<Code> {
        let found = self.by_blocks(values, |block, codes| {
            self.find_block(block, codes);
            Ok(())
        });
        // What learns nothing fills nothing.
        found.unwrap_or_default()
    }

    /// The codes of values whose codes may be [`EMPTY`] in `found`. New ones are learnt in their order.
    pub fn store_rest<'v>(
        &self,
        values: impl ExactSizeIterator<Item = ValueRef<'v>>,
        found: &[Code],
    ) -> Result<Vec<Code>, DictionaryFull> {
        let mut found = found.chunks(BLOCK);
        self.by_blocks(values, |block, codes| {
            codes.copy_from_slice(found.next().unwrap_or_default());
            self.learn_block(block, codes)
        })
    }

    /// Values and their hashes, a block at a time, with room for their codes.
    fn by_blocks<'v>(
        &self,
        values: impl ExactSizeIterator<Item = ValueRef<'v>>,
        mut work: impl FnMut(&[(ValueRef<'v>, u64)], &mut [Code]) -> Result<(), DictionaryFull>,
    ) -> Result<Vec<Code>, DictionaryFull> {
        let mut codes = vec![EMPTY; values.len()];
        let mut values = values.map(|value| (value, hash_of(value)));
        let mut block = Vec::with_capacity(BLOCK);
        for codes in codes.chunks_mut(BLOCK) {
            block.clear();
            block.extend(values.by_ref().take(BLOCK));
            work(&block, codes)?;
        }
        Ok(codes)
    }

    /// All shards are locked, in their order, for a block at once: to lock one between two values would keep the processor
    /// from going on with the next while memory is waited for.
    fn find_block(&self, block: &[(ValueRef<'_>, u64)], codes: &mut [Code]) {
        let shards: Vec<_> = self.shards.iter().map(RwLock::read).collect();
        for (code, (value, hash)) in codes.iter_mut().zip(block) {
            let find = || self.find_in(&shards[shard_of(*hash)], *value, slot_hash(*hash));
            *code = inline(*value).or_else(find).unwrap_or(EMPTY);
        }
    }

    fn learn_block(&self, block: &[(ValueRef<'_>, u64)], codes: &mut [Code]) -> Result<(), DictionaryFull> {
        if codes.contains(&EMPTY) {
            let mut shards: Vec<_> = self.shards.iter().map(RwLock::write).collect();
            for (code, (value, hash)) in codes.iter_mut().zip(block).filter(|(code, _)| **code == EMPTY) {
                *code = self.learn(&mut shards[shard_of(*hash)], *value, slot_hash(*hash))?;
            }
        }
        Ok(())
    }
}

fn inline(value: ValueRef<'_>) -> Option<Code> {
    match value {
        ValueRef::Null => Some(NULL),
        ValueRef::Bool(false) => Some(FALSE),
        ValueRef::Bool(true) => Some(TRUE),
        ValueRef::Int(n) => inline_int(n),
        ValueRef::Float(_)
        | ValueRef::Timestamp(_)
        | ValueRef::Text(_)
        | ValueRef::Vector(_)
        | ValueRef::VectorInt8(_)
        | ValueRef::List(_) => None,
    }
}

fn uncode(code: Code) -> ValueRef<'static> {
    match code {
        NULL => ValueRef::Null,
        FALSE => ValueRef::Bool(false),
        TRUE => ValueRef::Bool(true),
        n => ValueRef::Int(i64::from(n)),
    }
}

fn shard_of(hash: u64) -> usize {
    (hash >> 51) as usize % SHARDS
}

/// Bits that do not choose the shard.
fn slot_hash(hash: u64) -> u32 {
    hash as u32
}

/// What a table finds a slot by: its lowest bits are the place, its highest seven a mark.
fn table_hash(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// Other keys in every process: nobody can choose values that all come to lie in one place.
static HASHES: LazyLock<RandomState> = LazyLock::new(RandomState::default);

fn hash_of(value: ValueRef<'_>) -> u64 {
    let mut hasher = HASHES.build_hasher();
    match value {
        ValueRef::Null | ValueRef::Bool(_) => {}
        ValueRef::Int(n) => n.hash(&mut hasher),
        ValueRef::Float(x) => (1_u8, x.to_bits()).hash(&mut hasher),
        ValueRef::Timestamp(t) => (2_u8, t).hash(&mut hasher),
        ValueRef::Text(text) => hasher.write(text.as_bytes()),
        ValueRef::Vector(elements) => elements.iter().for_each(|x| hasher.write_u32(x.to_bits())),
        ValueRef::VectorInt8(elements) => elements.iter().for_each(|x| hasher.write_i8(*x)),
        ValueRef::List(elements) => elements.hash(&mut hasher),
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(value: &Value) {
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let stored = codec.shared().store(value.as_ref()).unwrap();
        assert_eq!(codec.value(stored).to_value(), *value);
        assert_eq!(codec.encode(value.as_ref()), Ok(stored));
        assert_eq!(codec.kind(stored), value.kind());
    }

    #[test]
    fn every_kind_comes_back_as_it_went_in() {
        for n in [0, 1, -1, i64::from(INLINE_END) - 1, i64::from(INLINE_END), i64::MIN, i64::MAX] {
            round_trip(&Value::Int(n));
            round_trip(&Value::Timestamp(n));
        }
        for x in [0.0, -0.0, 1.0, -1.5, f64::MAX, f64::MIN_POSITIVE] {
            round_trip(&Value::Float(x));
        }
        round_trip(&Value::Null);
        round_trip(&Value::Bool(true));
        round_trip(&Value::Bool(false));
        round_trip(&Value::text(""));
        round_trip(&Value::text("żółw"));
        round_trip(&Value::Vector([].into()));
        round_trip(&Value::Vector([1.0, -2.5].into()));
        round_trip(&Value::VectorInt8([-128, 127].into()));
        round_trip(&Value::List([Value::Int(1), Value::Null, Value::List([].into())].into()));
    }

    #[test]
    fn values_of_different_kinds_have_different_codes() {
        let dictionary = Dictionary::shared();
        let values = [
            Value::Int(1),
            Value::Float(1.0),
            Value::Timestamp(1),
            Value::text("1"),
            Value::Bool(true),
            Value::Null,
        ];
        let codes: Vec<Code> = values.iter().map(|v| dictionary.store(v.as_ref()).unwrap()).collect();
        let distinct: std::collections::BTreeSet<_> = codes.iter().collect();
        assert_eq!(distinct.len(), codes.len());
    }

    #[test]
    fn what_a_query_makes_stays_with_the_query() {
        let shared = Arc::new(Dictionary::shared());
        let codec = Codec::over(Arc::clone(&shared));
        let made = codec.encode(ValueRef::Text("made")).unwrap();
        assert_eq!(shared.len(), 0);
        assert_eq!(codec.encode(ValueRef::Text("made")), Ok(made));
        // The graph learns the same value meanwhile: the query keeps its own code.
        let learnt = shared.store(ValueRef::Text("made")).unwrap();
        assert_ne!(learnt, made);
        assert_eq!(codec.encode(ValueRef::Text("made")), Ok(made));
        assert_eq!(codec.store(made), Ok(learnt));
    }

    #[test]
    fn many_values_have_the_codes_of_a_query() {
        let shared = Arc::new(Dictionary::shared());
        let known = shared.store(ValueRef::Text("known")).unwrap();
        let codec = Codec::over(Arc::clone(&shared));
        let own = codec.encode(ValueRef::Text("own")).unwrap();
        shared.store(ValueRef::Text("own")).unwrap();
        let text = ValueRef::Text;
        let values = [text("known"), text("own"), text("new"), text("new"), ValueRef::Int(7), ValueRef::Null];
        let codes = codec.encode_all(values.into_iter()).unwrap();
        assert_eq!(codes[..2], [known, own]);
        assert!(Codec::is_own(codes[2]) && codes[2] == codes[3] && codes[2] != own);
        assert_eq!(codes[4..], [7, NULL]);
        assert_eq!(codec.encode(ValueRef::Text("new")), Ok(codes[2]));
        assert_eq!(shared.len(), 2);
    }

    #[test]
    fn many_values_have_the_codes_of_one_after_the_other() {
        let values: Vec<Value> = (0..5 * BLOCK as i64)
            .map(|n| match n % 5 {
                0 => Value::Null,
                1 => Value::Int(n % 7),
                2 => Value::text(format!("{}", n % 300)),
                3 => Value::Int(-(n * 7_919 % 1_000)),
                _ => Value::Float((n % 2) as f64),
            })
            .collect();
        let (together, alone) = (Dictionary::shared(), Dictionary::shared());
        for _ in 0..2 {
            let codes = together.store_all(values.iter().map(Value::as_ref)).unwrap();
            let expected: Vec<Code> = values.iter().map(|v| alone.store(v.as_ref()).unwrap()).collect();
            assert_eq!(codes, expected);
        }
        assert_eq!(together.len(), alone.len());
    }

    #[test]
    fn threads_that_learn_the_same_values_agree() {
        let dictionary = Dictionary::shared();
        let learn = |step: i64| {
            let values: Vec<i64> = (0..4_000).map(|n| -1 - n * step % 4_001).collect();
            let codes = dictionary.store_all(values.iter().map(|n| ValueRef::Int(*n))).unwrap();
            values.into_iter().zip(codes).collect::<std::collections::BTreeMap<i64, Code>>()
        };
        let found: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = [1, 2, 3, 4_000].map(|step| scope.spawn(move || learn(step))).into();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (value, code) in found.iter().flatten() {
            assert_eq!(dictionary.store(ValueRef::Int(*value)), Ok(*code));
        }
    }
}
