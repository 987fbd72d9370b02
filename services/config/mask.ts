import { createRedactor } from '../lib/secrets.ts'

/** Names of keys whose values, and everything nested below them, are secrets. */
const SECRET = /key|token|secret|passw|passphrase|credential|auth|cookie|header|bearer|signature/i
/** A command-line option, whose value may be the next argument. */
const OPTION = /^--?[\w-]+$/
/** `--api-key=x`, `TOKEN=x`, `Authorization: x`. */
const NAMED_VALUE = /^(-{0,2}[\w-]+)(=|:\s)/
/** The user information of a URL. */
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i
/** Query parameters. Names exclude "?", otherwise a text of many question marks would take quadratic time. */
const PARAMETER = /([?&])([^=&#?]*)=[^&#]*/g
const SIGNATURE = /sig/i
/** What stands for a secret. */
export const MASK = '••••'

/** Returns a copy of a configuration for display. Masks secrets, all environment values, and `known` secrets wherever they occur. */
export function mask (value: unknown, known: string[] = []): unknown {
  return maskNamed(value, false, createRedactor(known, MASK).redact)
}

function maskNamed (value: unknown, isSecret: boolean, redact: (text: string) => string): unknown {
  const maskChild = (each: unknown, hidden: boolean) => maskNamed(each, isSecret || hidden, redact)
  if (Array.isArray(value)) return value.map((each, at) => maskChild(each, followsSecretOption(value[at - 1], each)))
  if (typeof value === 'object' && value !== null) {
    const masked = Object.entries(value).map(([name, each]) => [redact(name), maskChild(each, name === 'env' || SECRET.test(name))])
    return Object.fromEntries(masked)
  }
  if (typeof value !== 'string') return value
  return isSecret ? MASK : redact(withoutCredentials(value))
}

function followsSecretOption (previous: unknown, value: unknown) {
  return typeof previous === 'string' && typeof value === 'string' && OPTION.test(previous) && SECRET.test(previous) &&
    !value.startsWith('-')
}

function withoutCredentials (text: string) {
  const [head, name, separator] = NAMED_VALUE.exec(text) ?? []
  if (name !== undefined && SECRET.test(name)) return separator === '=' ? `${head}${MASK}` : `${name}: ${MASK}`
  return text.replace(USER_INFO, `$1${MASK}@`)
    .replace(PARAMETER, (match, separator, name) => SECRET.test(name) || SIGNATURE.test(name) ? `${separator}${name}=${MASK}` : match)
}
