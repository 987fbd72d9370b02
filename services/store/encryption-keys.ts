import { createSecretKey, hash, hkdfSync, randomBytes, scrypt, type KeyObject } from 'node:crypto'

/** What is derived from the master key, each for its one purpose. */
export interface Keys {
  /** Names the master key without telling anything about it; 4 bytes. */
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
/** Enough for N = 2^17, r = 8 (128 MiB), and for a later step up. */
const SCRYPT_MEMORY = 512 * 1024 * 1024

/** HKDF-SHA-256 (RFC 5869) with one `info` a purpose. */
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

/** The same keys with another one for digests: the keys of records stay what they are when the master key changes. */
export const withDigestKey = (keys: Keys, digest: Buffer): Keys => ({ ...keys, digest: createSecretKey(digest) })

/** OWASP's parameters for scrypt (N = 2^17, r = 8, p = 1) and a salt of its own. */
export const newKdf = (): Kdf => ({ salt: randomBytes(16).toString('hex'), N: 2 ** 17, r: 8, p: 1 })

/** The master key that belongs to a passphrase; some 400 ms of another thread. */
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

/** HMAC-SHA-256 in hex. By two plain hashes (RFC 2104): with a key object it takes three times as long, and there are many. */
export function digestOf ({ digest }: Keys, text: string): string {
  const { inner, outer } = padsOf(digest)
  return hash('sha256', Buffer.concat([outer, hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer')]))
}

const BLOCK_BYTES = 64
const pads = new WeakMap<KeyObject, { inner: Buffer, outer: Buffer }>()

/** The key, no longer than a block of the hash, as it goes before what is hashed. */
function padsOf (key: KeyObject): { inner: Buffer, outer: Buffer } {
  let known = pads.get(key)
  if (known === undefined) {
    const block = Buffer.concat([key.export(), Buffer.alloc(BLOCK_BYTES - key.symmetricKeySize!)])
    known = { inner: block.map((byte) => byte ^ 0x36) as Buffer, outer: block.map((byte) => byte ^ 0x5c) as Buffer }
    pads.set(key, known)
  }
  return known
}
