import type { StoredRecord } from './store-types.ts'
import { toJson } from './seal.ts'

interface Collaborators<T> {
  key: string
  initial: () => T
  read: (key: string) => Promise<T | undefined>
  /** Resolves when the text is on disk. */
  write: (key: string, json: string) => Promise<void>
  /** See `Engine.epoch`: a cached value of an older epoch is read again. */
  epoch: () => number
}

/** A single record with its value in memory: parsed once, frozen, and replaced only by what is on disk. */
export function createRecord<T> ({ key, initial, read, write, epoch }: Collaborators<T>): StoredRecord<T> {
  let cached: { value: T, epoch: number } | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function load (): Promise<T> {
    const now = epoch()
    if (cached?.epoch === now) return cached.value
    const value = freeze(await read(key) ?? parse<T>(toJson(key, initial())))
    // An update that ended while this was being read knows better.
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

  /** One after the other, in the order they were asked for. */
  function next (work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }

  return {
    get: load,
    update: (change) => next(async () => put(await change(structuredClone(await load())))),
    replace: (value) => next(() => put(value))
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
