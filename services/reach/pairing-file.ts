import { timingSafeEqual } from 'node:crypto'
import { readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { digestOf } from './device-digest.ts'
import { writeAtomically } from '../lib/file-system.ts'
import { isObject } from '../lib/json.ts'

// The command `local-agent reach` writes the digest of a secret to the folder of the service, where only its
// user can write. So no request to the main port can allow a device to pair.

/** How long a secret can be used; milliseconds. */
export const PAIRING_MS = 10 * 60 * 1000

const fileIn = (home: string) => join(home, 'reach-pairing.json')

/** From now on, lets one device pair with the secret, which replaces an earlier secret. Resolves when the offer is on disk. */
export async function offerPairing (home: string, secret: string, now: number): Promise<void> {
  await writeAtomically(fileIn(home), `${JSON.stringify({ digest: digestOf(secret), until: now + PAIRING_MS })}\n`)
}

/**
 * Uses up a secret. Resolves to true if it is the offered secret and still in time; to false for any other secret, and if the file of the
 * offer cannot be read or removed. The file is removed before a device gets an answer, so that no second device can use the secret, even if
 * the service is killed.
 */
export async function takePairing (home: string, secret: string, now: number): Promise<boolean> {
  const file = fileIn(home)
  const offered = readOffer(await readFile(file, 'utf8').catch(() => ''))
  // A clock that was set back must not make the secret last longer.
  const isInTime = offered !== undefined && offered.until > now && offered.until <= now + PAIRING_MS
  if (!isInTime || !timingSafeEqual(Buffer.from(offered.digest), Buffer.from(digestOf(secret)))) return false
  return unlink(file).then(() => true, () => false)
}

function readOffer (text: string): { digest: string, until: number } | undefined {
  try {
    const offered: unknown = JSON.parse(text)
    if (!isObject(offered)) return undefined
    const { digest, until } = offered
    return typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) && typeof until === 'number' ? { digest, until } : undefined
  } catch {
    return undefined
  }
}
