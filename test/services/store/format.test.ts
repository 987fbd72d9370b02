import fc from 'fast-check'
import t from 'tap'
import { decryptBackup, encryptBackup } from '../../../services/store/backup/backup-format.ts'

const CHEAP = { N: 10, r: 1, p: 1 }
const CHUNK = 64 * 1024 + 16
const HEADER = 44
const secret = 'correct horse battery'

async function made (lines: string[]): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of encryptBackup(lines, secret, CHEAP)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Reads it in pieces of odd sizes. */
async function read (bytes: Buffer, passphrase = secret, size = 7_919): Promise<string[]> {
  async function * pieces () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const lines: string[] = []
  for await (const line of decryptBackup(pieces(), passphrase)) lines.push(line)
  return lines
}

t.test('what was enciphered comes back, however it is cut into lines and pieces', async (t) => {
  const line = fc.oneof(
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' ')),
    fc.nat(200_000).map((length) => 'é'.repeat(length / 2))
  )
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.integer({ min: 1_000, max: 200_000 }), async (lines, size) => {
      const back = await read(await made(lines), secret, size)
      if (back.length !== lines.length || back.some((each, at) => each !== lines[at])) throw new Error('another text')
    }),
    { numRuns: 30 }
  )
  for (const length of [64 * 1024 - 2, 64 * 1024 - 1, 64 * 1024, 128 * 1024 - 1]) {
    t.same(await read(await made(['x'.repeat(length)])), ['x'.repeat(length)], `${length} at the edge of a chunk`)
  }
})

t.test('two of the same have nothing in common, and tell nothing', async (t) => {
  const [one, two] = [await made(['the same words']), await made(['the same words'])]
  t.notSame(one.subarray(HEADER), two.subarray(HEADER))
  t.notOk(one.includes('words'))
})

t.test('whatever is changed, cut, exchanged, doubled or added is found', async (t) => {
  const backup = await made(Array.from({ length: 50 }, (_, n) => `${n} ${'x'.repeat(5_000)}`))
  const chunk = (n: number) => backup.subarray(HEADER + n * CHUNK, HEADER + (n + 1) * CHUNK)
  const head = backup.subarray(0, HEADER)
  const damage: Record<string, Buffer> = {
    'cut between chunks': Buffer.concat([head, chunk(0), chunk(1)]),
    'cut behind its header': head,
    'cut in its header': head.subarray(0, 20),
    'chunks exchanged': Buffer.concat([head, chunk(1), chunk(0), backup.subarray(HEADER + 2 * CHUNK)]),
    'a chunk left out': Buffer.concat([head, chunk(0), backup.subarray(HEADER + 2 * CHUNK)]),
    'a chunk doubled': Buffer.concat([head, chunk(0), chunk(0), backup.subarray(HEADER + CHUNK)]),
    'something added': Buffer.concat([backup, Buffer.from('x')]),
    'twice the same': Buffer.concat([backup, backup]),
    'the chunks of another': Buffer.concat([(await made(['x'])).subarray(0, HEADER), backup.subarray(HEADER)])
  }
  for (const [name, bytes] of Object.entries(damage)) await t.rejects(read(bytes), { code: 'ERR_BACKUP_DAMAGED' }, name)
  await fc.assert(
    fc.asyncProperty(fc.nat(backup.length - 1), fc.nat(7), async (at, bit) => {
      const copy = Buffer.from(backup)
      copy[at] ^= 1 << bit
      await read(copy).then(() => {
        throw new Error(`a changed byte ${at} was not seen`)
      }, (error) => {
        if (!/^ERR_(?:NO_)?BACKUP/.test(error.code)) throw error
      })
    }),
    { numRuns: 60 }
  )
  await fc.assert(
    fc.asyncProperty(fc.nat(backup.length - 1), async (length) => {
      await read(backup.subarray(0, length)).then(() => {
        throw new Error(`cut to ${length} it was not seen`)
      }, (error) => {
        if (!/^ERR_(?:NO_)?BACKUP/.test(error.code)) throw error
      })
    }),
    { numRuns: 60 }
  )
})

t.test('a wrong passphrase, a newer format and a header that asks for too much work are told apart', async (t) => {
  const backup = await made(['x'])
  await t.rejects(read(backup, 'incorrect horse'), { code: 'ERR_BACKUP_PASSPHRASE' })
  const newer = Buffer.from(backup)
  newer[8] = 2
  await t.rejects(read(newer), { code: 'ERR_BACKUP_NEWER' })
  const costly = Buffer.from(backup)
  costly[9] = 30
  await t.rejects(read(costly), { code: 'ERR_BACKUP_DAMAGED' })
  await t.rejects(read(Buffer.from('{"facts":[]}')), { code: 'ERR_NO_BACKUP' })
})
