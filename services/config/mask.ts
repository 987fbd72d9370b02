import { struck } from '../secrets.ts'

/** Keys whose values are secrets wherever they stand, and all that lies below them. */
const SECRET = /key|token|secret|passw|passphrase|credential|auth|cookie|header|bearer|signature/i
/** A command line's options that carry one, `--api-key x` or `--api-key=x`. */
const SECRET_OPTION = /^(--?[\w-]*(?:key|token|secret|passw|passphrase|credential|authorization|cookie|header)[\w-]*)(=.*)?$/is
/** The user part of an address, and query parameters that carry a secret. */
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i
const SECRET_PARAMETER = /([?&][^=&#]*(?:key|token|secret|passw|sig|auth)[^=&#]*=)[^&#]*/gi
const MASK = '••••'

/** A copy of a configuration that may be shown: secrets are masked, every environment value, and `known` secrets wherever they stand. */
export function mask (value: unknown, known: string[] = []): unknown {
  return maskNamed(value, false, (text) => struck(text, known, MASK))
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
  return typeof before === 'string' && typeof value === 'string' && SECRET_OPTION.exec(before)?.[2] === undefined &&
    SECRET_OPTION.test(before) && !value.startsWith('-')
}

function withoutCredentials (text: string) {
  return text.replace(SECRET_OPTION, (whole, option, given) => given ? `${option}=${MASK}` : whole)
    .replace(USER_INFO, `$1${MASK}@`)
    .replace(SECRET_PARAMETER, `$1${MASK}`)
}
