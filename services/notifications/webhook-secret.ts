import type { Config } from '../../schemas/config.ts'
import { expandVariables, type Variables } from '../config/index.ts'
import type { WebhookSettings } from './webhook.ts'

/** Stands in config.json for the secret that the store holds. */
export const STORED_SECRET = 'secret:notify/webhook'

type WebhookConfig = NonNullable<NonNullable<Config['notify']>['webhook']>

/** Whether a secret is written out in config.json, instead of a reference or a variable. */
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
