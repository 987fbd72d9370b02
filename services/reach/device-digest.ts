import { createHash } from 'node:crypto'

/** Returns the SHA-256 of a key or a secret, hexadecimal. Both are random and long, so that no slow digest is needed. */
export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')
