import { timingSafeEqual } from 'node:crypto'
import { readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { digestOf } from './device-digest.ts'
import { writeAtomically } from '../lib/file-system.ts'
import { isObject } from '../lib/json.ts'

// The command `local-agent reach` leaves the digest of a secret in the folder of the service, where only its user can write. So no
// operation of the main port can open the door to a device.

/** How long a secret can be used, milliseconds. */
export const PAIRING_MS = 10 * 60 * 1000

const fileIn = (home: string) => join(home, 'reach-pairing.json')

/** Lets one device pair with the secret, from now on; it takes the place of an earlier one. Durable before it resolves. */
export async function offerPairing (home: string, secret: string, now: number): Promise<void> {
  await writeAtomically(fileIn(home), `${JSON.stringify({ digest: digestOf(secret), until: now + PAIRING_MS })}\n`)
}

/**
 * Uses up a secret. Returns whether it was the one that is offered. Its file is gone before a device gets anything, so that no second
 * device can use it, whenever the service is killed.
 */
export async function takePairing (home: string, secret: string, now: number): Promise<boolean> {
  const file = fileIn(home)
  const offered = readOffer(await readFile(file, 'utf8').catch(() => ''))
  // A clock that was set back must not make it last longer.
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
