import { createCipheriv, createDecipheriv } from 'node:crypto'
import { randomOnce } from '../lib/random-once.ts'
import { RecordDamaged } from './store-errors.ts'
import type { Keys } from './encryption-keys.ts'

// Format on disk: version (1 byte), key id (4), nonce (12), ciphertext of UTF-8 JSON, tag (16). AES-256-GCM.
const VERSION = 1
const KID_AT = 1
const NONCE_AT = KID_AT + 4
const TEXT_AT = NONCE_AT + 12
const TAG_BYTES = 16
const NONCE_BYTES = TEXT_AT - NONCE_AT

/** Encrypts JSON text for the record `key`. The key is authenticated, so the envelope cannot be decrypted under another key. */
export function seal (keys: Keys, key: string, json: string): Buffer {
  const header = Buffer.concat([Buffer.of(VERSION), keys.kid, randomOnce(NONCE_BYTES)])
  const cipher = createCipheriv('aes-256-gcm', keys.record, header.subarray(NONCE_AT), { authTagLength: TAG_BYTES })
  cipher.setAAD(boundTo(header, key))
  return Buffer.concat([header, cipher.update(json, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts an envelope made by `seal`. Throws ERR_RECORD_DAMAGED for anything else. */
export function unseal<T> (keys: Keys, key: string, envelope: Buffer): T {
  const header = envelope.subarray(0, TEXT_AT)
  if (envelope.length < TEXT_AT + TAG_BYTES || header[0] !== VERSION || !header.subarray(KID_AT, NONCE_AT).equals(keys.kid)) {
    throw new RecordDamaged(key)
  }
  try {
    const decipher = createDecipheriv('aes-256-gcm', keys.record, header.subarray(NONCE_AT), { authTagLength: TAG_BYTES })
    decipher.setAAD(boundTo(header, key))
    decipher.setAuthTag(envelope.subarray(-TAG_BYTES))
    return JSON.parse(decipher.update(envelope.subarray(TEXT_AT, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8'))
  } catch {
    throw new RecordDamaged(key) // the cause is omitted, because a JSON error quotes the text
  }
}

const boundTo = (header: Buffer, key: string): Buffer => Buffer.concat([header.subarray(0, NONCE_AT), Buffer.from(key)])

/** Returns the JSON text of a value. Throws a TypeError for values that JSON cannot represent. */
export function toJson (key: string, value: unknown): string {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`the value of ${key} cannot be stored as JSON`)
  return json
}
