import { createCipheriv, createDecipheriv } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { randomOnce } from '../lib/random-once.ts'
import { RecordDamaged } from './store-errors.ts'
import type { Keys } from './encryption-keys.ts'

// Format on disk: version (1 byte), key id (4), nonce (12), ciphertext of UTF-8 JSON, tag (16). AES-256-GCM. In version DEFLATED, the JSON
// is compressed by raw DEFLATE (RFC 1951) with DICTIONARY.
const PLAIN = 1
const DEFLATED = 2
const KID_AT = 1
const NONCE_AT = KID_AT + 4
const TEXT_AT = NONCE_AT + 12
const TAG_BYTES = 16
const NONCE_BYTES = TEXT_AT - NONCE_AT

/**
 * Texts shorter or longer than this, in characters, are stored uncompressed: short ones save too few bytes for the time, and long ones take
 * more than a millisecond.
 */
const [SHORTEST, LONGEST] = [300, 64 * 1024]
/** The fastest compression level. With the dictionary, a record of a run shrinks to a third in about 50 microseconds. */
const LEVEL = 1
/** Common parts of the records and events of runs. A change of this text changes the format of stored data. */
const DICTIONARY = Buffer.from(
  '{"type":"tool-input-start","toolCallId":"","toolName":""},{"type":"tool-input","input":{"path":""}},{"type":"tool-output","output":{"' +
  '{"runId":"","queuedAt":,"startedAt":,"steps":1,"segment":0,"asked":[],"activeMs":0,"toolCalls":[],"toolCount":0,"steering":[],' +
  '"chunks":1,"threadId":"","trigger":"message","status":"completed","attempts":1,"messageId":"","model":{"id":"","reach":"machine"},' +
  '"protocol":"documented","cwd":"/","maxSteps":100,"history":{"lead":0,"from":0},"usage":{"inputTokens":0,"cachedInputTokens":0,' +
  '"cacheWriteTokens":0,"outputTokens":0,"reasoningTokens":0,"costUsd":0},"answerAt":1,"answeredBy":{"model":""},"completedAt":,' +
  '"durationMs":,"output":"","facts":"0 calls: 0 read, 0 write, 0 command, 0 external; 0 failed, 0 denied, 0 unknown · files: 0 made, ' +
  '0 changed, 0 deleted · commands: 0 · external calls: 0","contexts":["[{"type":"start","messageId":"","threadId":"","runId":""},' +
  '{"type":"step-start","step":1},{"type":"context","context":{"own":{"at":,"cwd":"/"},"tools":"","rest":""}},{"type":"text-start",' +
  '"id":"text-1"},{"type":"text-delta","id":"text-1","delta":""},{"type":"text-end","id":"text-1"},{"type":"step-finish","step":1,' +
  '"finishReason":"stop","usage":{},{"type":"finish","finishReason":"stop","usage":{}}]'
)

/** Encrypts JSON text for the record `key`. The key is authenticated, so the envelope cannot be decrypted under another key. */
export function seal (keys: Keys, key: string, json: string): Buffer {
  const isDeflated = json.length >= SHORTEST && json.length <= LONGEST
  const text = isDeflated ? deflateRawSync(json, { level: LEVEL, dictionary: DICTIONARY }) : Buffer.from(json)
  const header = Buffer.concat([Buffer.of(isDeflated ? DEFLATED : PLAIN), keys.kid, randomOnce(NONCE_BYTES)])
  const cipher = createCipheriv('aes-256-gcm', keys.record, header.subarray(NONCE_AT), { authTagLength: TAG_BYTES })
  cipher.setAAD(boundTo(header, key))
  return Buffer.concat([header, cipher.update(text), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts an envelope made by `seal`. Throws ERR_RECORD_DAMAGED for anything else. */
export function unseal<T> (keys: Keys, key: string, envelope: Buffer): T {
  const header = envelope.subarray(0, TEXT_AT)
  const [version] = header
  const isKnown = version === PLAIN || version === DEFLATED
  if (envelope.length < TEXT_AT + TAG_BYTES || !isKnown || !header.subarray(KID_AT, NONCE_AT).equals(keys.kid)) {
    throw new RecordDamaged(key)
  }
  try {
    const decipher = createDecipheriv('aes-256-gcm', keys.record, header.subarray(NONCE_AT), { authTagLength: TAG_BYTES })
    decipher.setAAD(boundTo(header, key))
    decipher.setAuthTag(envelope.subarray(-TAG_BYTES))
    const text = decipher.update(envelope.subarray(TEXT_AT, -TAG_BYTES))
    decipher.final()
    return JSON.parse((version === DEFLATED ? inflateRawSync(text, { dictionary: DICTIONARY }) : text).toString())
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
