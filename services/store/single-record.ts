import { toJson } from './seal.ts'
import type { ItemIds, StoredRecord } from './store-types.ts'

/** Access to the database for one record. */
export interface RecordAccess {
  key: string
  read<T>(key: string): Promise<T | undefined>
  /** Yields the values under a prefix and skips damaged ones. */
  list<T>(prefix: string, damaged: (key: string) => void): AsyncIterable<[key: string, value: T]>
  /** Writes JSON texts by key, and deletes keys without one, all or none. Resolves when they are on disk. */
  write(texts: ReadonlyMap<string, string | undefined>): Promise<void>
}

/** How one record is stored. */
interface Layout<T> {
  /** Returns the stored value, or the initial one; frozen. */
  load(): Promise<T>
  /**
   * Writes a value. Resolves, when the value is on disk, to what `load` would return. `before` is the value that was loaded or saved last,
   * if the stored value could be read.
   */
  save(value: T, before: T | undefined): Promise<T>
  /** Returns the value that a change gets: a copy, or the frozen value itself. */
  copyForChange(value: T): T
}

/** Creates a single record whose value is cached in memory: parsed once, frozen, and replaced only after the new value is on disk. */
export function createRecord<T> (layout: Layout<T>, epoch: () => number): StoredRecord<T> {
  /** A cached value of an older epoch is read again: see `LatchedDatabase.epoch`. */
  let cached: { value: T, epoch: number } | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function load (): Promise<T> {
    const now = epoch()
    if (cached?.epoch === now) return cached.value
    const value = await layout.load()
    // Keeps the newer value of an update that ended during this read.
    if (cached?.epoch !== epoch()) cached = { value, epoch: now }
    return cached.value
  }

  async function put (changed: T, before: T | undefined): Promise<T> {
    const value = await layout.save(changed, before)
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
    update: (change) =>
      enqueue(async () => {
        const before = await load()
        return put(await change(layout.copyForChange(before)), before)
      }),
    replace: (value) => enqueue(() => put(value, undefined))
  }
}

/** Stores a value as one text. */
export function keepWhole<T> ({ key, read, write }: RecordAccess, initial: () => T): Layout<T> {
  return {
    load: async () => freeze(await read<T>(key) ?? parse<T>(toJson(key, initial()))),
    async save (value) {
      const json = toJson(key, value)
      await write(new Map([[key, json]]))
      return freeze(parse<T>(json))
    },
    copyForChange: (value) => structuredClone(value)
  }
}

/** An item as it is stored. Items are in the order of their numbers. */
interface StoredItem {
  order: number
  item: unknown
}

type Items = ReadonlyMap<string, StoredItem>
type Lists = Record<string, readonly unknown[] | undefined>
const itemsIn = (items: Items) => [...items.values()].map(({ item }) => item)

/** Stores each item of the lists as a text of its own, and the rest of the value as one text. */
export function keepItems<T> ({ key, read, list, write }: RecordAccess, initial: () => T, ids: ItemIds<T>): Layout<T> {
  const idsOf = Object.entries(ids) as Array<[name: string, idOf: (item: unknown) => string]>
  /** The stored items of each list of a value, by key. */
  const storedOf = new WeakMap<object, Map<string, Items>>()

  /** Reads the items of the lists. Damaged items are left out; with `withDamaged` they are returned without their values. */
  async function readLists (withDamaged = false): Promise<Map<string, Items>> {
    const lists = new Map<string, Items>()
    for (const [name] of idsOf) {
      const found: Array<[string, StoredItem]> = []
      const damaged = (itemKey: string) => withDamaged && found.push([itemKey, { order: 0, item: undefined }])
      for await (const each of list<StoredItem>(`${key}/${name}/`, damaged)) found.push(each)
      lists.set(name, new Map(found.sort(([, a], [, b]) => a.order - b.order)))
    }
    return lists
  }

  /** Returns the frozen value that the rest and the lists form. An empty list is left out, unless `had` contains that list. */
  function join (rest: object, lists: Map<string, Items>, had: Lists): T {
    const value: Record<string, unknown> = { ...rest }
    for (const [name, items] of lists) if (had[name] !== undefined || items.size > 0) value[name] = itemsIn(items)
    storedOf.set(value, lists)
    return freeze(value) as T
  }

  return {
    async load () {
      const rest = await read<object>(key)
      return join(parse(toJson(key, rest ?? initial())), await readLists(), initial() as Lists)
    },

    async save (value, before) {
      if (value === before) return value
      const stored = storedOf.get(before ?? {}) ?? await readLists(true)
      const texts = new Map<string, string | undefined>()
      const lists = new Map<string, Items>()
      for (const [name, idOf] of idsOf) {
        const items = (value as Lists)[name] ?? []
        lists.set(name, changeItems(stored.get(name) ?? new Map(), items.map((item) => [`${key}/${name}/${idOf(item)}`, item]), texts))
      }
      const json = toJson(key, { ...value, ...Object.fromEntries(idsOf.map(([name]) => [name, undefined])) })
      await write(texts.set(key, json))
      return join(parse(json), lists, value as Lists)
    },

    copyForChange: (value) => value
  }
}

/**
 * Returns the items of a list as they are stored from now on, and collects the changes to write. An item that is the same object as before,
 * at the same place, is not written.
 */
function changeItems (stored: Items, items: Array<[key: string, item: unknown]>, texts: Map<string, string | undefined>): Items {
  let highest = [...stored.values()].reduce((most, { order }) => Math.max(most, order), 0)
  let last = 0
  const changed = new Map<string, StoredItem>()
  for (const [itemKey, item] of items) {
    const known = stored.get(itemKey)
    const order = known !== undefined && known.order > last ? known.order : ++highest
    last = order
    if (known !== undefined && known.item === item && known.order === order) {
      changed.set(itemKey, known)
      continue
    }
    const json = toJson(itemKey, { order, item })
    texts.set(itemKey, json)
    changed.set(itemKey, parse<StoredItem>(json))
  }
  for (const itemKey of stored.keys()) if (!changed.has(itemKey)) texts.set(itemKey, undefined)
  return changed
}

const parse = <T>(json: string): T => JSON.parse(json)

function freeze<T> (value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const part of Object.values(value)) freeze(part)
    Object.freeze(value)
  }
  return value
}
