import { createReadStream } from 'node:fs'
import { open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { ImportedView } from '../../schemas/backup.ts'
import type { Clock } from '../lib/clock.ts'
import type { Store } from '../store/store-types.ts'
import { newestOf, migrations } from '../store/migrations.ts'
import { IMPORTED } from '../store/record-names.ts'
import { commitReplacement } from '../store/replacement/replace.ts'
import { LEFTOVERS, NEXT_CONFIG, UPLOAD } from '../store/replacement/pending.ts'
import { linesOf, readLines } from './backup-contents.ts'
import { BackupBusy, BackupNewer, BackupTooLarge, importFailed, NoBackup, NotBytes } from './backup-errors.ts'
import { decipher, encipher } from './backup-format.ts'

export interface BackupParts {
  dir: string
  store: Store
  clock: Clock
  config: () => object
  /** What is under way that an import would lose, as a sentence; undefined when nothing is. */
  busy: () => string | undefined
  /** Lets no further request in. */
  shut: () => void
  /** Everything was replaced, or the store was let go of: the service must begin anew. */
  replaced: () => void
  log: {
    info(details: object, message: string): void,
    warn(details: object, message: string): void,
    error(details: object, message: string): void
  }
}

/** Bytes of a backup that are taken. */
const LARGEST = 16 * 1024 ** 3
/** A reader that takes nothing for so long loses the rest: what it holds back the store keeps for it. Milliseconds. */
const STALL_MS = 60_000
/** Records that are written together. */
const TOGETHER_BYTES = 1024 * 1024

export type Backup = ReturnType<typeof createBackup>

/** All that the service remembers as one enciphered file, and the way back. */
export function createBackup ({ dir, store, clock, config, busy, shut, replaced, log }: BackupParts) {
  let exporting = false
  let importing = false

  function assertIdle () {
    const why = busy()
    if (why !== undefined) throw new BackupBusy(`${why} Wait for it to end, or stop it, then import again.`)
  }

  /** What was sent, on disk: it is read as often as need be, and no slow writing keeps its sender waiting. */
  async function receive (body: Readable): Promise<string> {
    const path = join(dir, UPLOAD)
    const file = await open(path, 'w', 0o600)
    let bytes = 0
    try {
      // Destroyed, a body that is not read to its end would stop whatever comes next on its connection.
      for await (const chunk of body.iterator({ destroyOnReturn: false })) {
        if ((bytes += chunk.length) > LARGEST) throw new BackupTooLarge(LARGEST)
        await file.writeFile(chunk)
      }
    } finally {
      body.resume()
      await file.close()
    }
    return path
  }

  /** Makes the new data of a backup beside the old ones, whole. Nothing is changed until then. */
  async function stage (path: string, passphrase: string): Promise<{ records: number, createdAt: number }> {
    const { head, config, records } = await readLines(decipher(createReadStream(path), passphrase))
    if (head.schema > newestOf(migrations)) throw new BackupNewer(`schema ${head.schema}, this one knows ${newestOf(migrations)}`)
    const next = await store.stage({ schema: head.schema, digestKey: Buffer.from(head.digestKey, 'base64') })
    let count = 0
    try {
      let some: Array<[string, unknown]> = []
      let bytes = 0
      for await (const record of records) {
        some.push(record)
        count++
        bytes += JSON.stringify(record[1]).length
        if (bytes < TOGETHER_BYTES) continue
        await next.put(some)
        some = []
        bytes = 0
      }
      await next.put([...some, [IMPORTED, { at: clock.now() }]])
      await next.finish()
      await writeFile(join(dir, NEXT_CONFIG), JSON.stringify(config, null, 2) + '\n', { mode: 0o600, flush: true })
    } catch (error) {
      await next.discard()
      throw error
    }
    return { records: count, createdAt: head.createdAt }
  }

  /** Takes in a backup as far as it goes without a change; leaves nothing when that fails. */
  async function prepare (body: Readable, passphrase: string, gone: AbortSignal) {
    try {
      const staged = await stage(await receive(body), passphrase)
      assertIdle()
      return staged
    } catch (error: any) {
      for (const name of LEFTOVERS) await rm(join(dir, name), { recursive: true, force: true }).catch(() => {})
      if (error.statusCode !== undefined || gone.aborted) throw error
      log.error({ err: error }, 'a backup could not be taken in')
      throw importFailed(error)
    }
  }

  return {
    /** The backup as a stream, of all as it is now. `gone` ends it. Throws BackupBusy (409). */
    async export (passphrase: string, gone: AbortSignal): Promise<Readable> {
      if (exporting) throw new BackupBusy('Another export is under way. Wait for it to end.')
      exporting = true
      const over = new AbortController()
      const signal = AbortSignal.any([gone, over.signal])
      let tookAt = clock.awake()
      const watch = async () => {
        while (clock.awake() - tookAt < STALL_MS) await clock.timeout(STALL_MS, signal)
        stream.destroy()
      }
      async function * chunks () {
        const damaged = (key: string) => log.warn({ key }, 'a record cannot be read and is not in the backup')
        for await (const chunk of encipher(linesOf(store.contents(signal, damaged), config(), clock.now()), passphrase)) {
          tookAt = clock.awake()
          yield chunk
        }
      }
      const stream = Readable.from(chunks(), { objectMode: false })
      // Also of one that nobody began to read.
      stream.once('close', () => {
        exporting = false
        over.abort()
      })
      if (gone.aborted) stream.destroy()
      gone.addEventListener('abort', () => stream.destroy())
      watch().catch(() => {})
      return stream
    },

    /**
     * Puts a backup in the place of all data and of the configuration. All of it is read, checked and on disk before
     * anything is replaced. `gone` aborts when whoever sent it has the answer: then the service begins anew. Throws
     * BackupBusy (409), whatever is wrong with the backup (400, 413, 415), and ImportFailed (503) when the disk refuses.
     */
    async import (body: unknown, passphrase: string, gone: AbortSignal): Promise<ImportedView> {
      if (body === undefined) throw new NoBackup()
      if (!(body instanceof Readable)) throw new NotBytes()
      if (importing) throw new BackupBusy('Another import is under way. Wait for it to end.')
      assertIdle()
      importing = true
      try {
        const staged = await prepare(body, passphrase, gone)
        shut()
        const begin = () => replaced()
        if (gone.aborted) setImmediate(begin)
        else gone.addEventListener('abort', begin, { once: true })
        await store.closeFor(() => commitReplacement(dir, { key: 'keep', copies: false })).catch((error) => {
          log.error({ err: error }, 'an import could not be put in place')
          throw importFailed(error)
        })
        log.info({ records: staged.records }, 'a backup was imported; the service begins anew with it')
        return { status: 'imported', ...staged }
      } finally {
        importing = false
        await rm(join(dir, UPLOAD), { force: true })
      }
    }
  }
}
