import { createSecretKey, hash, hkdfSync, randomBytes, scrypt, type KeyObject } from 'node:crypto'

/** Keys derived from the master key, one for each purpose. */
export interface Keys {
  /** Identifies the master key without revealing it; 4 bytes. */
  kid: Buffer
  record: KeyObject
  digest: KeyObject
  inventory: KeyObject
}

/** Parameters of scrypt as stored beside the data; salt in hex. */
export interface Kdf {
  salt: string
  N: number
  r: number
  p: number
}

export const MASTER_BYTES = 32
/** Allows N = 2^17, r = 8 (128 MiB) and a later increase. */
const SCRYPT_MEMORY = 512 * 1024 * 1024

/** Derives the keys by HKDF-SHA-256 (RFC 5869) with one `info` string for each purpose. */
export function deriveKeys (master: Buffer): Keys {
  const derive = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', master, '', `local-agent-service store ${purpose} v1`, bytes))
  return {
    kid: derive('key id', 4),
    record: createSecretKey(derive('record key', 32)),
    digest: createSecretKey(derive('digest key', 32)),
    inventory: createSecretKey(derive('inventory key', 32))
  }
}

/** Returns the keys with another digest key. Record keys are digests, so the digest key must not change when the master key does. */
export const withDigestKey = (keys: Keys, digest: Buffer): Keys => ({ ...keys, digest: createSecretKey(digest) })

/** Returns OWASP's parameters for scrypt (N = 2^17, r = 8, p = 1) and a new random salt. */
export const newKdf = (): Kdf => ({ salt: randomBytes(16).toString('hex'), N: 2 ** 17, r: 8, p: 1 })

/** Derives the master key from a passphrase by scrypt, in about 400 ms on another thread. */
export function deriveFromPassphrase (passphrase: string, { salt, ...cost }: Kdf): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(
      passphrase.normalize('NFC'),
      Buffer.from(salt, 'hex'),
      MASTER_BYTES,
      { ...cost, maxmem: SCRYPT_MEMORY },
      (error, master) => error ? reject(error) : resolve(master)
    )
  })
}

/** The characters of a digest: 128 bits. Most records have two digests in their keys, so a longer one costs much of the disk. */
const DIGEST_CHARACTERS = 32

/**
 * Returns the first 128 bits of the HMAC-SHA-256 in hex. Uses two plain hashes (RFC 2104) because an HMAC with a key object takes three
 * times as long and digests are computed often.
 */
export function digestOf ({ digest }: Keys, text: string): string {
  const { inner, outer } = padsOf(digest)
  const whole = hash('sha256', Buffer.concat([outer, hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer')]))
  return whole.slice(0, DIGEST_CHARACTERS)
}

/** The most digests that are remembered. A run needs the digest of its thread a dozen times. */
const REMEMBERED = 200
/** The longest text whose digest is remembered, in characters. Ids are shorter. */
const ID_CHARACTERS = 128

/** Returns a function that remembers the digests of the newest short texts. */
export function cachedDigest (digest: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    if (text.length > ID_CHARACTERS) return digest(text)
    let found = known.get(text)
    if (found === undefined) {
      found = digest(text)
      if (known.size === REMEMBERED) known.clear()
      known.set(text, found)
    }
    return found
  }
}

const BLOCK_BYTES = 64
const pads = new WeakMap<KeyObject, { inner: Buffer, outer: Buffer }>()

/** Returns the HMAC pads (RFC 2104) of a key that is at most one hash block long. Caches them for each key. */
function padsOf (key: KeyObject): { inner: Buffer, outer: Buffer } {
  let cached = pads.get(key)
  if (cached === undefined) {
    const block = Buffer.concat([key.export(), Buffer.alloc(BLOCK_BYTES - key.symmetricKeySize!)])
    cached = { inner: block.map((byte) => byte ^ 0x36) as Buffer, outer: block.map((byte) => byte ^ 0x5c) as Buffer }
    pads.set(key, cached)
  }
  return cached
}
