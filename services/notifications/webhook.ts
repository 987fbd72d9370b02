import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { Delivery } from './notification-record.ts'
import type { Config } from '../../schemas/config.ts'
import { expandVariables, type Variables } from '../config/index.ts'

/** How long a receiver may take to answer, milliseconds. */
const ANSWER_MS = 10_000
/** Milliseconds before each further delivery of a message: after the last of them the receiver has had a day. */
export const RETRY_AFTER_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000, 28_800_000]

/** The webhook of the configuration, with its secret resolved. */
export interface WebhookSettings {
  url: string
  /** Undefined when the secret is missing; `problem` then says why. */
  secret?: string
  problem?: string
  /** Whether words of tasks and models may leave. */
  text: boolean
}

/**
 * Returns a function that delivers a message to a webhook once, signed by the rules of Standard Webhooks. Resolves to the outcome. Only the
 * status of the answer is read.
 */
export function createWebhook ({ clock, post }: {
  clock: Clock
  /** Posts a message and follows no redirect. Resolves when the headers of the answer have arrived. Throws an Error with the reason. */
  post: (url: URL, message: { headers: Record<string, string>, body: string, signal: AbortSignal }) => Promise<IncomingMessage>
}) {
  return async function deliver (
    { url, secret, problem }: WebhookSettings,
    { id, body }: { id: string, body: string },
    signal: AbortSignal
  ): Promise<Delivery> {
    const at = clock.now()
    const bytes = secret === undefined ? undefined : secretBytes(secret)
    if (bytes === undefined) return { at, ok: false, error: problem ?? 'its secret is not base64 of at least 18 bytes' }
    try {
      const status = await withDeadline({ clock, ms: ANSWER_MS, signal, message: 'it does not answer' }, async (deadline) => {
        const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity', ...signedHeaders(bytes, { id, at, body }) }
        const response = await post(new URL(url), { headers, body, signal: deadline })
        response.destroy()
        return response.statusCode!
      })
      if (status >= 200 && status < 300) return { at, ok: true, status }
      const isElsewhere = status >= 300 && status < 400
      return { at, ok: false, status, error: isElsewhere ? 'it answers with a redirect, which is not followed' : `it answers ${status}` }
    } catch (error) {
      return { at, ok: false, error: error instanceof Error ? error.message : String(error) }
    }
  }
}

/** A secret as the Standard Webhooks write it: base64, after `whsec_` or alone. */
const SECRET = /^(?:whsec_)?([A-Za-z0-9+/_-]{24,}={0,2})$/

/** Returns the bytes of a secret; undefined for a text that is no base64 of at least 18 bytes. */
function secretBytes (secret: string): Buffer | undefined {
  const [, encoded] = SECRET.exec(secret) ?? []
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
}

/**
 * Returns the headers that sign a message: HMAC-SHA256 over id, time and body, see
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md. `at` is in milliseconds.
 */
function signedHeaders (secret: Buffer, { id, at, body }: { id: string, at: number, body: string }): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** The text in config.json that represents the secret in the store. */
export const STORED_SECRET = 'secret:notify/webhook'

type WebhookConfig = NonNullable<NonNullable<Config['notify']>['webhook']>

/** True if the secret is written out in config.json, instead of a reference or a variable. */
export const isWrittenOut = (secret: string): boolean => secret !== STORED_SECRET && !/\$\{\w+\}/.test(secret)

/** Returns the webhook with its secret: from the store, from a variable of the environment, or as it is written. */
export function resolveWebhook (
  config: WebhookConfig | undefined,
  stored: string | undefined,
  variables: Variables
): WebhookSettings | undefined {
  if (config === undefined) return undefined
  const { url, secret, text = false } = config
  if (secret === STORED_SECRET) {
    return stored === undefined
      ? { url, text, problem: 'no secret is stored for it; write one into config.json' }
      : { url, text, secret: stored }
  }
  const { value, missing } = expandVariables(secret, variables)
  return missing.length > 0 || value === undefined
    ? { url, text, problem: `its secret is to come from the environment variable ${missing.join(', ')}, which is not set` }
    : { url, text, secret: value }
}
