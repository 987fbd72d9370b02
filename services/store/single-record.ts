import type { StoredRecord } from './store-types.ts'
import { toJson } from './seal.ts'

interface Collaborators<T> {
  key: string
  initial: () => T
  read: (key: string) => Promise<T | undefined>
  /** Writes the text. Resolves when it is on disk. */
  write: (key: string, json: string) => Promise<void>
  /** See `Engine.epoch`: a cached value of an older epoch is read again. */
  epoch: () => number
}

/** Creates a single record whose value is cached in memory: parsed once, frozen, and replaced only after the new value is on disk. */
export function createRecord<T> ({ key, initial, read, write, epoch }: Collaborators<T>): StoredRecord<T> {
  let cached: { value: T, epoch: number } | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function load (): Promise<T> {
    const now = epoch()
    if (cached?.epoch === now) return cached.value
    const value = freeze(await read(key) ?? parse<T>(toJson(key, initial())))
    // Keeps the newer value of an update that ended during this read.
    if (cached?.epoch !== epoch()) cached = { value, epoch: now }
    return cached.value
  }

  async function put (changed: T): Promise<T> {
    const json = toJson(key, changed)
    await write(key, json)
    const value = freeze(parse<T>(json))
    cached = { value, epoch: epoch() }
    return value
  }

  /** Runs operations one after the other, in the order of the calls. */
  function enqueue (work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }

  return {
    get: load,
    update: (change) => enqueue(async () => put(await change(structuredClone(await load())))),
    replace: (value) => enqueue(() => put(value))
  }
}

const parse = <T>(json: string): T => JSON.parse(json)

function freeze<T> (value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) freeze(part)
    Object.freeze(value)
  }
  return value
}
