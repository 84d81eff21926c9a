//! `Shadow`: a file under redb to which nothing is written. Whoever reads finds what was written in memory instead.

use std::collections::BTreeMap;
use std::io;

use parking_lot::Mutex;
use redb::StorageBackend;

use super::medium::DatabaseFile;

/// What is written is kept in blocks of so many bytes.
const BLOCK: u64 = 4 << 10;

/// A file, and what is to be thought in place of its bytes.
#[derive(Debug)]
pub(super) struct Shadow {
    file: DatabaseFile,
    written: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    len: u64,
    /// From here on nothing counts of what the file has.
    file_end: u64,
    blocks: BTreeMap<u64, Box<[u8]>>,
}

impl Shadow {
    /// Of this file, as it is.
    pub(super) fn of(file: DatabaseFile) -> io::Result<Shadow> {
        let len = file.len()?;
        Ok(Shadow { file, written: Mutex::new(Written { len, file_end: len, blocks: BTreeMap::new() }) })
    }

    fn read_from(&self, written: &Written, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let in_file = written.file_end.saturating_sub(offset).min(out.len() as u64) as usize;
        let (from_file, rest) = out.split_at_mut(in_file);
        rest.fill(0);
        if in_file > 0 {
            self.file.read(offset, from_file)?;
        }
        let end = offset + out.len() as u64;
        for (number, block) in written.blocks.range(offset / BLOCK..end.div_ceil(BLOCK)) {
            let start = number * BLOCK;
            let (first, last) = (start.max(offset), (start + BLOCK).min(end));
            let here = &block[(first - start) as usize..(last - start) as usize];
            out[(first - offset) as usize..(last - offset) as usize].copy_from_slice(here);
        }
        Ok(())
    }
}

impl StorageBackend for Shadow {
    fn len(&self) -> io::Result<u64> {
        Ok(self.written.lock().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let written = self.written.lock();
        if offset + out.len() as u64 > written.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read_from(&written, offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut written = self.written.lock();
        written.len = len;
        written.file_end = written.file_end.min(len);
        // What comes there again is zero.
        drop(written.blocks.split_off(&len.div_ceil(BLOCK)));
        if let Some(block) = written.blocks.get_mut(&(len / BLOCK)) {
            block[(len % BLOCK) as usize..].fill(0);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = self.written.lock();
        let end = offset + data.len() as u64;
        if end > written.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for number in offset / BLOCK..end.div_ceil(BLOCK) {
            let start = number * BLOCK;
            if !written.blocks.contains_key(&number) {
                let mut block = vec![0; BLOCK as usize];
                self.read_from(&written, start, &mut block)?;
                written.blocks.insert(number, block.into());
            }
            let Some(block) = written.blocks.get_mut(&number) else { continue };
            let (first, last) = (start.max(offset), (start + BLOCK).min(end));
            let here = &mut block[(first - start) as usize..(last - start) as usize];
            here.copy_from_slice(&data[(first - offset) as usize..(last - offset) as usize]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use redb::backends::InMemoryBackend;

    #[test]
    fn it_behaves_as_a_file_and_leaves_the_file_alone() {
        let original: Vec<u8> = (0..30_000_u32).map(|n| (n % 251) as u8).collect();
        let below = InMemoryBackend::new();
        below.set_len(original.len() as u64).unwrap();
        below.write(0, &original).unwrap();
        let shadow = Shadow::of(DatabaseFile::new(below)).unwrap();
        let mut model = original.clone();
        // A plain generator: the same steps each time.
        let mut seed = 7_u64;
        let mut below_number = |bound: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % bound
        };
        for _ in 0..2_000 {
            match below_number(10) {
                0 => {
                    let len = below_number(60_000);
                    shadow.set_len(len).unwrap();
                    model.resize(len as usize, 0);
                }
                _ if model.is_empty() => {}
                step => {
                    let start = below_number(model.len() as u64) as usize;
                    let end = start + below_number((model.len() - start) as u64 + 1) as usize;
                    if step < 5 {
                        let data = vec![step as u8; end - start];
                        shadow.write(start as u64, &data).unwrap();
                        model[start..end].copy_from_slice(&data);
                    }
                    let mut found = vec![0; end - start];
                    shadow.read(start as u64, &mut found).unwrap();
                    assert_eq!(found, model[start..end]);
                }
            }
            assert_eq!(shadow.len().unwrap(), model.len() as u64);
        }
        let mut left = vec![0; original.len()];
        shadow.file.read(0, &mut left).unwrap();
        assert_eq!(left, original);
    }
}
