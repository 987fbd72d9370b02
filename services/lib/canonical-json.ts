import { createHash } from 'node:crypto'

/**
 * Returns the canonical JSON text of a value, with sorted keys (RFC 8785). Also accepts values that RFC 8785 forbids but
 * models and clients send: lone surrogates are escaped, and numbers that JSON cannot represent become null, as when they are
 * stored.
 */
export function canonicalJson (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, item]) => item !== undefined).sort(([a], [b]) => a < b ? -1 : 1)
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
}

/** Returns the SHA-256 of the canonical input of a call, hexadecimal. Two calls of a tool with the same digest are the same call. */
export const inputDigest = (input: unknown): string => createHash('sha256').update(canonicalJson(input)).digest('hex')
