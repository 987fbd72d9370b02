import { createHash } from 'node:crypto'
import { canonicalJson } from '../lib/canonical-json.ts'

/** Returns the SHA-256 of the canonical input, hexadecimal. Two calls of a tool with the same digest are the same call. */
export function inputDigest (input: unknown): string {
  return createHash('sha256').update(canonicalJson(input)).digest('hex')
}
