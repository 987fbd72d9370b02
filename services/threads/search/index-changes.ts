import { type Op, type Store } from '../../store/index.ts'
import { changeShard, type PlaceChanges, placeOf, shardOf } from './shards.ts'

/** A transaction is committed when its values have this many characters. */
const WRITE_CHARACTERS = 4_000_000

/** A block of a thread in the index: the key of its record, and the words under which the index has the block. */
interface IndexedBlock {
  key: string
  words: Set<string>
}

const recordOf = ({ key, words }: IndexedBlock): Op =>
  words.size > 0 ? { type: 'put', key, value: [...words].join(' ') } : { type: 'del', key }

/**
 * Collects changes of many blocks, so that a shard is written only once for all of them. Each transaction changes shards together with the
 * records of their blocks. So even if the process is killed between transactions, a record lists the words under which its block can be
 * found. A transaction is committed after `writeOps` operations.
 */
export function createIndexChanges (store: Pick<Store, 'list' | 'digest' | 'transact'>, writeOps = 1_000) {
  const shards = new Map<string, Map<string, PlaceChanges>>()
  const blocks = new Map<string, IndexedBlock>()
  let count = 0

  function add (place: string, word: string, kind: keyof PlaceChanges) {
    const shard = shardOf(store, word)
    const words = shards.get(shard) ?? new Map<string, PlaceChanges>()
    const places = words.get(word) ?? { added: [], removed: [] }
    places[kind].push(place)
    shards.set(shard, words.set(word, places))
    count++
  }

  return {
    /** The number of changed places. A place is an entry of a word: a block of a thread that contains the word. */
    size: () => count,

    /** Adds the changes for a block that has the words `words` now and had the words `had` before. */
    change ({ thread, block, key }: { thread: string, block: number, key: string }, words: Set<string>, had: Set<string>) {
      const place = placeOf(thread, block)
      blocks.set(place, { key, words: had })
      for (const word of words) if (!had.has(word)) add(place, word, 'added')
      for (const word of had) if (!words.has(word)) add(place, word, 'removed')
    },

    /** Writes the changes in as many transactions as needed. The operations `last` are in the last transaction. */
    async write (last: Op[]): Promise<void> {
      let ops: Op[] = []
      let characters = 0
      const touched = new Set<IndexedBlock>()
      const touch = (place: string) => {
        const block = blocks.get(place)!
        touched.add(block)
        return block.words
      }
      for (const [shard, changes] of shards) {
        for (const op of await changeShard(store, shard, changes)) {
          ops.push(op)
          if (op.type === 'put') characters += String(op.value).length
        }
        for (const [word, { added, removed }] of changes) {
          for (const place of added) touch(place).add(word)
          for (const place of removed) touch(place).delete(word)
        }
        if (ops.length < writeOps && characters < WRITE_CHARACTERS) continue
        await store.transact([...ops, ...[...touched].map(recordOf)])
        touched.clear()
        ops = []
        characters = 0
      }
      await store.transact([...ops, ...[...touched].map(recordOf), ...last])
    }
  }
}
