import { createHash, timingSafeEqual } from 'node:crypto'
import { defineError } from '../lib/service-error.ts'

export const Unauthorized = defineError(
  'ERR_UNAUTHORIZED',
  'This service needs a token: send one header Authorization: Bearer <LOCAL_AGENT_TOKEN>.'
)

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Returns a function that checks the `authorization` headers of a request and throws Unauthorized (401). Compares in constant time. */
export function createTokenCheck (token: string): (authorization: string[]) => void {
  const expected = digest(token)
  return (authorization) => {
    // RFC 6750; the scheme's case is free (RFC 9110, 11.1). Headers arrive as Latin-1, the token is UTF-8.
    const token = authorization.length === 1 ? /^bearer +(\S.*)$/i.exec(authorization[0])?.[1] : undefined
    if (token === undefined || !timingSafeEqual(digest(Buffer.from(token, 'latin1').toString()), expected)) throw new Unauthorized()
  }
}
