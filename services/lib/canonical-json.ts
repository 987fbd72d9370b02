/**
 * The one JSON text of a JSON value, keys sorted (RFC 8785). What that forbids but models and clients send all the same
 * has a text as well: halves of surrogate pairs are escaped, numbers beyond JSON are null, as they are when stored.
 */
export function canonicalJson (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, item]) => item !== undefined).sort(([a], [b]) => a < b ? -1 : 1)
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
}
