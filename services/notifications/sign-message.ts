import { createHmac } from 'node:crypto'

/** A secret as the Standard Webhooks write it: base64, after `whsec_` or alone. */
const SECRET = /^(?:whsec_)?([A-Za-z0-9+/_-]{24,}={0,2})$/

/** Returns the bytes of a secret; undefined for a text that is no base64 of at least 18 bytes. */
export function secretBytes (secret: string): Buffer | undefined {
  const [, encoded] = SECRET.exec(secret) ?? []
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
}

/**
 * Returns the headers that sign a message: HMAC-SHA256 over id, time and body, see
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md. `at` is in milliseconds.
 */
export function signedHeaders (secret: Buffer, { id, at, body }: { id: string, at: number, body: string }): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
