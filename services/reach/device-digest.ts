import { createHash } from 'node:crypto'

/** Returns the SHA-256 of a key or a secret, in hexadecimal. Keys and secrets are random and long, so no slow hash is needed. */
export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')
