import type { StoredRecord } from './contract.ts'
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

  async function replace (change: (value: T) => T | Promise<T>): Promise<T> {
    const json = toJson(key, await change(structuredClone(await load())))
    await write(key, json)
    const value = freeze(parse<T>(json))
    cached = { value, epoch: epoch() }
    return value
  }

  return {
    get: load,
    update (change) {
      const result = last.then(() => replace(change))
      last = result.catch(() => {})
      return result
    }
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
