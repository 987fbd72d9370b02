import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { Delivery } from './notification-record.ts'
import type { Config } from '../../schemas/config.ts'
import { expandVariables, type Variables } from '../config/index.ts'

/** How long a receiver may take to answer; milliseconds. */
const ANSWER_MS = 10_000
/** The delays before each retry of a delivery, in milliseconds. Together they give the receiver about a day. */
export const RETRY_AFTER_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000, 28_800_000]

/** The webhook of the configuration, with its secret resolved. */
export interface WebhookSettings {
  url: string
  /** The secret; undefined if it is missing. `problem` then says why. */
  secret?: string
  problem?: string
  /** Whether messages are allowed to contain texts of tasks and models. */
  text: boolean
}

/**
 * Creates the function that sends one delivery of a message to a webhook, signed according to Standard Webhooks.
 * It never retries, reads only the status of the answer, and resolves to the outcome.
 */
export function createWebhook ({ clock, post }: {
  clock: Clock
  /** Posts a message without following redirects. Resolves when the headers of the answer have arrived. Throws an Error with the reason. */
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

/** Matches a secret in the form of Standard Webhooks: base64, with or without the prefix `whsec_`. */
const SECRET = /^(?:whsec_)?([A-Za-z0-9+/_-]{24,}={0,2})$/

/** Decodes a secret; undefined if it is not the base64 of at least 18 bytes. */
function secretBytes (secret: string): Buffer | undefined {
  const [, encoded] = SECRET.exec(secret) ?? []
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
}

/**
 * Returns the headers that sign a message: HMAC-SHA256 over id, time and body, see
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md. `at`: milliseconds since the Unix epoch.
 */
function signedHeaders (secret: Buffer, { id, at, body }: { id: string, at: number, body: string }): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** The text in config.json that stands for the secret in the secret store. */
export const STORED_SECRET = 'secret:notify/webhook'

type WebhookConfig = NonNullable<NonNullable<Config['notify']>['webhook']>

/** True if config.json contains the secret itself, instead of a reference or a variable. */
export const isWrittenOut = (secret: string): boolean => secret !== STORED_SECRET && !/\$\{\w+\}/.test(secret)

/**
 * Returns the configured webhook with its secret, which comes from the secret store (`stored`), from environment
 * variables, or from config.json itself.
 */
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
