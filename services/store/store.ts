import type { Store, StoredRecord, StoreOptions } from './contract.ts'
import { createEngine, type Engine } from './engine.ts'
import { privateDirectory } from './files.ts'
import { digestOf } from './keys.ts'
import { list } from './list.ts'
import { acquireLock, type Lock } from './lock.ts'
import { toRaw } from './migrate.ts'
import { assertKey, recordKey } from './names.ts'
import { openData, type Opened } from './open.ts'
import { createRecord } from './record.ts'
import { seal, unseal } from './seal.ts'

/**
 * Opens the encrypted store of a directory, making it when there is none. Throws a StoreStartError, whose `exitCode`
 * the process should end with, when the directory is in use, or its data is newer, damaged or of another key.
 */
export async function openStore (options: StoreOptions): Promise<Store> {
  privateDirectory(options.dir)
  const lock = await acquireLock(options.dir)
  try {
    const opened = await openData(options, lock)
    return createStore(createEngine({ ...opened, clock: options.clock, log: options.log }), opened, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

function createStore (engine: Engine, { keys, repaired }: Opened, lock: Lock): Store {
  const records = new Map<string, StoredRecord<any>>()
  let closed: Promise<void> | undefined

  async function read<T> (key: string): Promise<T | undefined> {
    const envelope = await engine.read((database) => database.get(key))
    return envelope && unseal<T>(keys, key, envelope)
  }

  return {
    async get (key) {
      assertKey(key)
      return await read(key)
    },
    list: (prefix, options = {}) => list(engine, keys, prefix, options),
    async transact (ops) {
      for (const { key } of ops) assertKey(key)
      if (ops.length > 0) await engine.write(ops.map((op) => toRaw(keys, op)))
    },
    record<T> (name: string, initial: () => T) {
      const known = records.get(name)
      if (known !== undefined) return known as StoredRecord<T>
      const write = (key: string, json: string) => engine.write([{ type: 'put', key, value: seal(keys, key, json) }])
      const made = createRecord<T>({ key: recordKey(name), initial, read, write, epoch: engine.epoch })
      records.set(name, made)
      return made
    },
    digest: (text) => digestOf(keys, text),
    status: () => ({ ...engine.status(), ...(repaired && { repaired }) }),
    close: () => {
      closed ??= engine.close().finally(lock.release)
      return closed
    }
  }
}
