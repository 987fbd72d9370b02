import { readJson } from '../../lib/json.ts'
import type { Log } from '../../lib/log.ts'
import { isUnanswered, type AppCallItem, type Owner } from '../../contracts/approval-record.ts'
import { type AttachmentContents, countStored, createCounter, withContents, withFiles } from './backup-records.ts'
import { approvalKey, taskApprovalKey, isLocal, IMPORTED } from '../keys.ts'
import type { StoreContents, Store } from '../store-types.ts'
import { isRecord } from '../record-names.ts'
import { readSchema, type SchemaVersion, ageOf, schemaName } from '../meta-record.ts'
import { VERSION } from '../../lib/version.ts'
import {
  BackupDamaged,
  BackupBusy,
  NoPassphrase,
  BackupNewer,
  BackupOlder,
  BackupTooLarge,
  eraseFailed,
  eraseRefused,
  importFailed,
  NoBackup,
  NotBytes,
  decryptBackup,
  encryptBackup
} from './backup-format.ts'
import { open, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { CheckedBackup, ComparedConfig, ErasedView, ImportedView, ImportProgress } from '../../../schemas/backup.ts'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { ServiceError } from '../../lib/service-error.ts'
import { newestOf, migrations } from '../migrations.ts'
import { commitErasure, eraseFiles, type LogFileOf, STAYS } from '../erasure/erase.ts'
import { commitReplacement, LEFTOVERS, NEXT_CONFIG, UPLOAD } from '../replacement/replace.ts'

type AppCall = Owner & AppCallItem
type StoredRecord = [key: string, value: unknown]

/**
 * Returns a record of a backup as an import stores it. Since the backup, the application might have executed a call that is open in the
 * backup, and no person confirms an open call again before its execution. So the call is stored as one whose claim was not renewed: its
 * outcome is unknown, and it is never handed out again. Approvals and questions stay open, because a person decides them anew.
 */
function importedRecord ([key, value]: StoredRecord): StoredRecord {
  if (!isCall(key, value) || !isUnanswered(value)) return [key, value]
  return [key, { ...value, state: 'claimed', claim: { instance: value.claim?.instance ?? 'unknown', until: 0 } } satisfies AppCall]
}

function isCall (key: string, value: unknown): value is AppCall {
  const { kind, approvalId } = value as Partial<AppCall>
  return kind === 'app' && approvalId !== undefined && [approvalKey(approvalId), taskApprovalKey(approvalId)].includes(key)
}

// A backup is a sequence of JSON lines: head, configuration, [key, value] of each record, number of records.

interface Head {
  backup: 1
  schema: SchemaVersion
  version: string
  createdAt: number
  digestKey: string
}

interface ReadBackup {
  head: Head
  config: Record<string, unknown>
  records: AsyncGenerator<StoredRecord>
}

/** Yields the lines of a backup. */
export async function * linesOf ({ schema, digestKey, records }: StoreContents, config: object, createdAt: number): AsyncGenerator<string> {
  yield JSON.stringify({ backup: 1, schema, version: VERSION, createdAt, digestKey: digestKey.toString('base64') } satisfies Head)
  yield JSON.stringify({ config })
  let end = 0
  for await (const record of records) {
    if (isLocal(record[0])) continue
    end++
    yield JSON.stringify(record)
  }
  yield JSON.stringify({ end })
}

/** Reads the lines of a backup: head and configuration first, then the records. Throws BackupDamaged (400). */
export async function readLines (lines: AsyncGenerator<string>): Promise<ReadBackup> {
  const next = async (): Promise<any> => {
    const { done, value } = await lines.next()
    if (done) return undefined
    const read = readJson(value)
    if (read === undefined) throw new BackupDamaged('one of its lines cannot be read')
    return read
  }
  const written: Head | undefined = await next()
  const schema = readSchema(written?.schema)
  if (written?.backup !== 1 || schema === undefined || typeof written.digestKey !== 'string') {
    throw new BackupDamaged('its first line is not the head of a backup')
  }
  const config = (await next())?.config
  if (typeof config !== 'object' || config === null || Array.isArray(config)) throw new BackupDamaged('its configuration is missing')
  return { head: { ...written, schema }, config, records: records() }

  async function * records (): AsyncGenerator<StoredRecord> {
    for (let count = 0; ; count++) {
      const entry = await next()
      if (entry?.end === count && (await lines.next()).done) return
      const isValid = Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string' && isRecord(entry[0])
      if (!isValid) throw new BackupDamaged(`record ${count + 1} cannot be read`)
      if (!isLocal(entry[0])) yield entry as StoredRecord
    }
  }
}

/** Maximum size of an imported backup in bytes. */
const LARGEST = 16 * 1024 ** 3
/** An export ends when its reader takes nothing for this long, because a snapshot of the store stays open for it. Milliseconds. */
const STALL_MS = 60_000
/** The free space that an import needs beside its file, in multiples of the file's size. */
const ROOM = 2
/** Size of a batch of imported records. */
const TOGETHER_BYTES = 1024 * 1024

export type Backup = ReturnType<typeof createBackup>

/** Creates the service that exports all data as one encrypted file, and imports such a file. */
export function createBackup (
  { dir, store, attachments, clock, config, busy, refuseRequests, endChildren, replaced, logFile, log }: {
    dir: string
    store: Store
    /** The contents of attachments. */
    attachments: AttachmentContents
    clock: Clock
    config: { readonly raw: object, compareImport: (next: Record<string, unknown>) => Promise<ComparedConfig> }
    /** Returns a sentence about running work that an import would lose; undefined when there is none. */
    busy: () => string | undefined
    /** Makes the service refuse further requests. */
    refuseRequests: () => void
    /** Ends the children that might have files of the database open. */
    endChildren: () => Promise<void>
    logFile: LogFileOf
    /** Called when all data was replaced or the store was closed: the service must restart. */
    replaced: () => void
    log: Log
  }
) {
  let exporting = false
  let importing = false
  const NOTHING: ImportProgress = { step: 'none', bytes: 0 }
  let progress = NOTHING

  /** Restarts the service once the client has the response. */
  function restartAfter (gone: AbortSignal): void {
    if (gone.aborted) setImmediate(replaced)
    else gone.addEventListener('abort', () => replaced(), { once: true })
  }

  function assertIdle () {
    const reason = busy()
    if (reason !== undefined) throw new BackupBusy(`${reason} Wait for it to end, or stop it, then import again.`)
  }

  /** Stores the uploaded file on disk first, so that slow processing does not hold up the upload. Returns its path. */
  async function receive (body: Readable): Promise<string> {
    const path = join(dir, UPLOAD)
    const file = await open(path, 'w', 0o600)
    let bytes = 0
    try {
      // Destroying an unread body would break the next request on its connection.
      for await (const chunk of body.iterator({ destroyOnReturn: false })) {
        if ((bytes += chunk.length) > LARGEST) throw new BackupTooLarge(LARGEST)
        progress = { step: 'receiving', bytes }
        await file.writeFile(chunk)
      }
    } finally {
      body.resume()
      await file.close()
    }
    return path
  }

  /** Reads a backup with `work`; its records are checked while they are read. Throws the errors of an invalid one (400). */
  async function read<T> (
    path: string,
    { passphrase, step }: { passphrase: string, step: 'reading' | 'writing' },
    work: (backup: ReadBackup, bytes: number) => Promise<T>
  ): Promise<T> {
    const file = await open(path)
    try {
      const { size: total } = await file.stat()
      progress = { step, bytes: 0, total }
      async function * pieces (): AsyncGenerator<Buffer> {
        for await (const piece of file.createReadStream()) {
          progress = { ...progress, bytes: progress.bytes + piece.length }
          yield piece
        }
      }
      const lines = decryptBackup(pieces(), passphrase)
      try {
        const backup = await readLines(lines)
        assertReadable(backup.head.schema)
        return await work(backup, total)
      } finally {
        // A backup that is refused is not read to its end.
        await lines.return(undefined)
      }
    } finally {
      await file.close()
    }
  }

  /** Builds a staged database from a backup. Changes no current data. */
  async function stage ({ head, config: next, records }: ReadBackup): Promise<Omit<ImportedView, 'status'>> {
    const staged = await store.stage({ schema: head.schema, digestKey: Buffer.from(head.digestKey, 'base64') })
    let count = 0
    try {
      let batch: StoredRecord[] = []
      let bytes = 0
      for await (const record of withFiles(records, attachments)) {
        batch.push(importedRecord(record))
        count++
        bytes += JSON.stringify(record[1]).length
        if (bytes < TOGETHER_BYTES) continue
        await staged.put(batch)
        batch = []
        bytes = 0
      }
      await staged.put([...batch, [IMPORTED, { at: clock.now() }]])
      await staged.finish()
      const { config: left, kept } = await config.compareImport(next)
      await writeFile(join(dir, NEXT_CONFIG), JSON.stringify(left, null, 2) + '\n', { mode: 0o600, flush: true })
      return { records: count, createdAt: head.createdAt, kept }
    } catch (error) {
      await staged.discard()
      throw error
    }
  }

  /** Reads all of a backup and counts what is in it. */
  async function inspect ({ head: { createdAt, version }, config: next, records }: ReadBackup, bytes: number): Promise<CheckedBackup> {
    const { counts, add } = createCounter()
    let count = 0
    for await (const record of withFiles(records, { ...attachments, write: async () => ({ file: '', key: '' }) })) {
      add(record)
      count++
    }
    const reason = busy()
    // The uploaded file is removed after this check, and an import writes it again.
    const room = await statfs(dir).then(({ bavail, bsize }) => bavail * bsize, () => Infinity)
    const missing = ROOM * bytes - room
    const { settings, kept } = await config.compareImport(next)
    return {
      status: 'checked',
      createdAt,
      version: String(version),
      records: count,
      bytes,
      holds: counts,
      replaces: await countStored(store),
      settings,
      kept,
      ...(reason !== undefined && { busy: reason }),
      ...(missing > 0 && { missingBytes: Math.ceil(missing) })
    }
  }

  /** Receives a backup and works on it. Removes all its files when that fails. */
  async function prepare<T> (body: Readable, gone: AbortSignal, work: (path: string) => Promise<T>): Promise<T> {
    try {
      return await work(await receive(body))
    } catch (error: any) {
      for (const name of LEFTOVERS) await rm(join(dir, name), { recursive: true, force: true }).catch(() => {})
      if (error instanceof ServiceError || gone.aborted) throw error
      log.error({ err: error }, 'a backup could not be imported')
      throw importFailed(error)
    }
  }

  /** Runs work on the body of a request, one at a time, and removes what was received. */
  async function alone<T> (body: unknown, work: (file: Readable) => Promise<T>): Promise<T> {
    if (body === undefined) throw new NoBackup()
    if (!(body instanceof Readable)) throw new NotBytes()
    if (importing) throw new BackupBusy('Another import is under way. Wait for it to end.')
    importing = true
    try {
      return await work(body)
    } finally {
      importing = false
      progress = NOTHING
      await rm(join(dir, UPLOAD), { force: true })
    }
  }

  return {
    /**
     * Returns a backup of a snapshot of all data as a stream. An abort of `gone` ends the stream, with the reason of the abort if that is a
     * ServiceError. Throws NoPassphrase (400), BackupBusy (409).
     */
    async export (given: string | undefined, gone: AbortSignal): Promise<Readable> {
      if (given === undefined) throw new NoPassphrase()
      const passphrase = given
      if (exporting) throw new BackupBusy('Another export is under way. Wait for it to end.')
      exporting = true
      const ended = new AbortController()
      const signal = AbortSignal.any([gone, ended.signal])
      const stall = startDeadline({ clock, ms: STALL_MS }, () => stream.destroy())
      async function * chunks () {
        const damaged = (key: string) => log.warn({ key }, 'a record cannot be read and is left out of the backup')
        const { records, ...head } = store.contents(signal, damaged)
        const contents = { ...head, records: withContents(records, attachments, damaged) }
        for await (const chunk of encryptBackup(linesOf(contents, config.raw, clock.now()), passphrase)) {
          stall.renew()
          yield chunk
        }
      }
      const stream = Readable.from(chunks(), { objectMode: false })
      // `close` is also emitted for a stream that was never read.
      stream.once('close', () => {
        exporting = false
        ended.abort()
        stall.stop()
      })
      // There might be no reader yet.
      stream.on('error', () => {})
      if (gone.aborted) stream.destroy()
      gone.addEventListener('abort', () => stream.destroy(gone.reason instanceof ServiceError ? gone.reason : undefined))
      return stream
    },

    /**
     * Erases all data but config.json. Once the marker is on disk, the erasure is finished whatever happens. `gone` aborts when the client
     * has the response; the service then restarts, empty.
     */
    async erase (gone: AbortSignal): Promise<ErasedView> {
      if (importing) throw new BackupBusy('An import is under way. Wait for it to end.')
      importing = true
      await commitErasure(dir).catch((error) => {
        importing = false
        log.error({ err: error }, 'an erasure could not begin')
        throw eraseRefused(error)
      })
      refuseRequests()
      restartAfter(gone)
      await endChildren()
      await store.closeFor(() => eraseFiles(dir, logFile)).catch((error) => {
        log.error({ err: error }, 'the data could not be erased now; the next start finishes it')
        throw eraseFailed(error)
      })
      log.info({}, 'all data was erased at the request of the user; the service restarts')
      return { status: 'erased', stays: STAYS }
    },

    /**
     * Replaces all data and the configuration by a backup. The whole backup is read, verified and on disk before anything is
     * replaced. `gone` aborts when the client has the response; the service then restarts. Throws BackupBusy (409), the errors
     * of an invalid backup (400, 413, 415), and ImportFailed (503) on a disk failure.
     */
    async import (body: unknown, passphrase: string, gone: AbortSignal): Promise<ImportedView> {
      assertIdle()
      return alone(body, async (file) => {
        const staged = await prepare(file, gone, async (path) => {
          const result = await read(path, { passphrase, step: 'writing' }, stage)
          assertIdle()
          return result
        })
        refuseRequests()
        restartAfter(gone)
        await endChildren()
        await store.closeFor(() => commitReplacement(dir, { key: 'keep', copies: false })).catch((error) => {
          log.error({ err: error }, 'an import could not replace the data')
          throw importFailed(error)
        })
        log.info({ records: staged.records }, 'a backup was imported; the service restarts with it')
        return { status: 'imported', ...staged }
      })
    },

    /**
     * Reads a backup as an import would. Returns what it holds and what it would replace. Changes nothing. Throws BackupBusy (409), the
     * errors of an invalid backup (400, 413, 415), and ImportFailed (503) on a disk failure.
     */
    check: (body: unknown, passphrase: string, gone: AbortSignal): Promise<CheckedBackup> =>
      alone(body, (file) => prepare(file, gone, (path) => read(path, { passphrase, step: 'reading' }, inspect))),

    /** Returns how far an import or a check is. */
    progress: (): ImportProgress => progress
  }
}

/** Throws BackupOlder or BackupNewer (400) unless data of the schema `found` can be imported. */
function assertReadable (found: SchemaVersion): void {
  const newest = newestOf(migrations)
  switch (ageOf(found, newest)) {
    case 'older':
      throw new BackupOlder()
    case 'newer':
      throw new BackupNewer(`schema ${schemaName(found)}, this one knows ${schemaName(newest)}`)
    case 'readable':
  }
}
