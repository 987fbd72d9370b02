import { defineError } from '../../lib/service-error.ts'
import { describeDiskFailure } from '../../lib/disk-failure.ts'
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

const BadPassphrase = defineError(
  'ERR_BACKUP_PASSPHRASE',
  'The passphrase is not the one that this backup was made with, or its first bytes are damaged. Nothing was changed.'
)
export const BackupDamaged = defineError(
  'ERR_BACKUP_DAMAGED',
  'The backup is damaged or incomplete: %s. Nothing was changed; use another copy of it.'
)
export const NoBackup = defineError('ERR_NO_BACKUP', 'The body is not a backup made by GET /export.')
export const BackupNewer = defineError(
  'ERR_BACKUP_NEWER',
  'The backup was made by a newer version of the service (%s). Update the service, then import it. Nothing was changed.'
)
export const BackupOlder = defineError(
  'ERR_BACKUP_OLDER',
  'The backup was made by an earlier build of the service, from before its first release, and only such a build can import it. ' +
    'Nothing was changed.'
)
export const BackupTooLarge = defineError('ERR_BODY_TOO_LARGE', 'The backup is larger than the %d bytes that this route accepts.')
export const NoPassphrase = defineError(
  'ERR_INVALID_REQUEST',
  'Give the passphrase that encrypts the backup, 12 characters or more, in the header x-export-passphrase, or ask for format=json.'
)
export const BackupBusy = defineError('ERR_BACKUP_BUSY', '%s')
export const NotBytes = defineError('ERR_UNSUPPORTED_MEDIA_TYPE', 'Send the backup as Content-Type: application/octet-stream.')
const ImportFailed = defineError('ERR_IMPORT_FAILED', 'The backup could not be put in place: %s. Nothing was changed.')
const EraseFailed = defineError('ERR_IMPORT_FAILED', 'The data could not be erased whole: %s. The next start erases the rest.')

const EraseRefused = defineError('ERR_IMPORT_FAILED', 'The data could not be erased: %s. Nothing was changed.')

/** The reason for a failure of the disk, without paths. */
const reasonOf = (error: unknown) => describeDiskFailure(error) ?? (error as NodeJS.ErrnoException).code ?? 'see the log for the reason'

/** Creates the error for an erasure that was cut short by the disk, or by a program that has a file open. */
export const eraseFailed = (error: unknown): Error => new EraseFailed(reasonOf(error))

/** Creates the error for an erasure that could not begin. */
export const eraseRefused = (error: unknown): Error => new EraseRefused(reasonOf(error))

/** Creates the error for an import that failed on the disk. */
export function importFailed (error: unknown): Error {
  if (describeDiskFailure(error) === undefined) return new ImportFailed(reasonOf(error))
  return new ImportFailed(`${reasonOf(error)}. Free disk space for three times the size of the backup, then import it again`)
}

// magic (8 bytes) | version (1) | log2 N, r, p of scrypt (3) | salt (16) | check (16) | chunks
// A chunk is CHUNK bytes of text (fewer in the last one), encrypted with AES-256-GCM, and its tag. Its nonce holds its number
// and whether it is the last, so that omitted, repeated, moved and truncated chunks are detected (the STREAM construction of
// Hoang, Reyhanitabar, Rogaway and Vizár, https://eprint.iacr.org/2015/189). The salt makes the key unique to the file. `check`
// distinguishes a wrong passphrase from damage.

const MAGIC = Buffer.from('lagentbk')
const VERSION = 1
const CHECK_AT = MAGIC.length + 1 + 3 + 16
const HEADER_BYTES = CHECK_AT + 16
const CHUNK = 64 * 1024
const TAG = 16
/** OWASP's parameters for scrypt, N = 2^17. A file can require at most twice that cost, because it is untrusted input. */
const COST = { N: 17, r: 8, p: 1 }
const MEMORY = 512 * 1024 * 1024
/** Maximum line length. A line is one record, and no record is larger than a few times a request body. */
const LONGEST_LINE = 128 * 1024 * 1024

/** Encrypts lines of text into a backup. */
export async function * encryptBackup (
  lines: AsyncIterable<string> | Iterable<string>,
  passphrase: string,
  { N, r, p } = COST
): AsyncGenerator<Buffer> {
  const head = Buffer.concat([MAGIC, Buffer.of(VERSION, N, r, p), randomBytes(16)])
  const keys = await keysOf(passphrase, head)
  const header = Buffer.concat([head, keys.check])
  yield header
  let pending: Buffer[] = []
  let bytes = 0
  let number = 0
  for await (const line of lines) {
    const text = Buffer.from(`${line}\n`)
    pending.push(text)
    bytes += text.length
    // Keeps a full chunk back: it might be the last one.
    if (bytes <= CHUNK) continue
    const whole = Buffer.concat(pending)
    let at = 0
    for (; whole.length - at > CHUNK; at += CHUNK) yield seal(keys.key, header, number++, false, whole.subarray(at, at + CHUNK))
    pending = [whole.subarray(at)]
    bytes = whole.length - at
  }
  yield seal(keys.key, header, number, true, Buffer.concat(pending))
}

/** Yields the lines of a backup. Throws NoBackup, BackupNewer, BadPassphrase or BackupDamaged (400). */
export async function * decryptBackup (source: AsyncIterable<Buffer>, passphrase: string): AsyncGenerator<string> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    yield * linesOf(reader(iterator), passphrase)
  } finally {
    await iterator.return?.()
  }
}

async function * linesOf (readBytes: (count: number) => Promise<Buffer>, passphrase: string): AsyncGenerator<string> {
  const header = await readBytes(HEADER_BYTES)
  if (!header.subarray(0, MAGIC.length).equals(MAGIC.subarray(0, header.length)) || header.length < MAGIC.length) throw new NoBackup()
  if (header.length < HEADER_BYTES) throw new BackupDamaged('it ends within its header')
  if (header[MAGIC.length] > VERSION) throw new BackupNewer(`format ${header[MAGIC.length]}, this one knows ${VERSION}`)
  const keys = await keysOf(passphrase, header.subarray(0, CHECK_AT))
  if (!timingSafeEqual(keys.check, header.subarray(CHECK_AT))) throw new BadPassphrase()
  let pieces: Buffer[] = []
  let heldBytes = 0
  let nextChunk = await readBytes(CHUNK + TAG)
  for (let number = 0; ; number++) {
    const chunk = nextChunk
    nextChunk = chunk.length === CHUNK + TAG ? await readBytes(CHUNK + TAG) : Buffer.of()
    const isLast = nextChunk.length === 0
    const text = unseal(keys.key, header, number, isLast, chunk)
    let from = 0
    for (let end = text.indexOf(10); end !== -1; end = text.indexOf(10, from)) {
      yield Buffer.concat([...pieces, text.subarray(from, end)]).toString()
      pieces = []
      heldBytes = 0
      from = end + 1
    }
    pieces.push(text.subarray(from))
    heldBytes += text.length - from
    if (heldBytes > LONGEST_LINE) throw new BackupDamaged('one of its records is too large')
    if (isLast) break
  }
  if (heldBytes > 0) throw new BackupDamaged('it ends within a record')
}

/** Returns a function that reads exactly `count` bytes from the source, or fewer at its end. */
function reader (iterator: AsyncIterator<Buffer>): (count: number) => Promise<Buffer> {
  let rest: Buffer = Buffer.of()
  return async (count) => {
    const pieces = [rest]
    let bytes = rest.length
    while (bytes < count) {
      const { done, value } = await iterator.next()
      if (done) break
      pieces.push(value)
      bytes += value.length
    }
    const whole = pieces.length === 1 ? rest : Buffer.concat(pieces)
    rest = whole.subarray(count)
    return whole.subarray(0, count)
  }
}

function nonceOf (number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

function seal (key: Buffer, header: Buffer, number: number, isLast: boolean, text: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number, isLast), { authTagLength: TAG })
  cipher.setAAD(header)
  return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
}

function unseal (key: Buffer, header: Buffer, number: number, isLast: boolean, chunk: Buffer): Buffer {
  if (chunk.length < TAG) throw new BackupDamaged('it is cut off')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, isLast), { authTagLength: TAG })
    decipher.setAAD(header)
    decipher.setAuthTag(chunk.subarray(-TAG))
    return Buffer.concat([decipher.update(chunk.subarray(0, -TAG)), decipher.final()])
  } catch {
    throw new BackupDamaged(
      isLast ? `its end is missing, or chunk ${number + 1} was changed` : `chunk ${number + 1} was changed`
    )
  }
}

/** Derives the key of a file and its check value by scrypt, in about 400 ms on another thread. */
async function keysOf (passphrase: string, head: Buffer): Promise<{ key: Buffer, check: Buffer }> {
  const [log2, r, p] = head.subarray(MAGIC.length + 1)
  if (log2 < 10 || log2 > COST.N + 1 || r < 1 || r > COST.r || p !== COST.p) throw new BackupDamaged('its header holds invalid parameters')
  const master = await new Promise<Buffer>((resolve, reject) => {
    scrypt(
      passphrase.normalize('NFC'),
      head.subarray(-16),
      32,
      { N: 2 ** log2, r, p, maxmem: MEMORY },
      (error, key) => error ? reject(error) : resolve(key)
    )
  })
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', master, '', `local-agent-service backup ${purpose} v1`, 32))
  return { key: derive('key'), check: createHmac('sha256', derive('check')).update(head).digest().subarray(0, 16) }
}
