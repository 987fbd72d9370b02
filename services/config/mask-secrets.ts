import { createRedactor } from '../lib/secrets.ts'

/** Keys whose values are secrets wherever they stand, and all that lies below them. */
const SECRET = /key|token|secret|passw|passphrase|credential|auth|cookie|header|bearer|signature/i
/** A command line's option, whose value may be the next argument. */
const OPTION = /^--?[\w-]+$/
/** `--api-key=x`, `TOKEN=x`, `Authorization: x`. */
const NAMED_VALUE = /^(-{0,2}[\w-]+)(=|:\s)/
/** The user part of an address. */
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i
/** No "?" in a name: a text of many would be looked through from each of them. */
const PARAMETER = /([?&])([^=&#?]*)=[^&#]*/g
const SIGNATURE = /sig/i
const MASK = '••••'

/** A copy of a configuration that may be shown: secrets are masked, every environment value, and `known` secrets wherever they stand. */
export function mask (value: unknown, known: string[] = []): unknown {
  return maskNamed(value, false, createRedactor(known, MASK).redact)
}

function maskNamed (value: unknown, isSecret: boolean, strike: (text: string) => string): unknown {
  const below = (each: unknown, hidden: boolean) => maskNamed(each, isSecret || hidden, strike)
  if (Array.isArray(value)) return value.map((each, at) => below(each, followsSecretOption(value[at - 1], each)))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [strike(name), below(each, name === 'env' || SECRET.test(name))]))
  }
  if (typeof value !== 'string') return value
  return isSecret ? MASK : strike(withoutCredentials(value))
}

function followsSecretOption (before: unknown, value: unknown) {
  return typeof before === 'string' && typeof value === 'string' && OPTION.test(before) && SECRET.test(before) && !value.startsWith('-')
}

function withoutCredentials (text: string) {
  const [head, name, sign] = NAMED_VALUE.exec(text) ?? []
  if (name !== undefined && SECRET.test(name)) return sign === '=' ? `${head}${MASK}` : `${name}: ${MASK}`
  return text.replace(USER_INFO, `$1${MASK}@`)
    .replace(PARAMETER, (whole, sign, name) => SECRET.test(name) || SIGNATURE.test(name) ? `${sign}${name}=${MASK}` : whole)
}
