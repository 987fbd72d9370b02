/** Keys whose values are secrets wherever they stand. */
const SECRET = /key|token|secret|password|authorization/i
const MASK = '••••'

/** A copy of a configuration that may be shown: secrets and every environment value are masked. */
export function mask (value: unknown, key = '', inEnv = false): unknown {
  if (Array.isArray(value)) return value.map((each) => mask(each, key, inEnv))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mask(each, name, inEnv || name === 'env')]))
  }
  return typeof value === 'string' && (inEnv || SECRET.test(key)) ? MASK : value
}
