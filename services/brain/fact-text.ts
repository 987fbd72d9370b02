import { createError } from '@fastify/error'

export const TextLength = createError('ERR_INVALID_REQUEST', 'body.%s must have 1 to %d characters after trimming, not %d.', 400)

/**
 * Facts and keys as they are stored: trimmed, in Unicode's composed form (NFC), without halves of surrogate pairs, which
 * model providers refuse. Throws TextLength (400) unless 1 to `most` code points are left.
 */
export function normalise (field: string, text: string, most: number): string {
  const normal = text.toWellFormed().normalize('NFC').trim()
  const length = [...normal].length
  if (length < 1 || length > most) throw new TextLength(field, most, length)
  return normal
}

/**
 * Whether two normalised texts differ in case at most, by Unicode's simple case folding, which is what the flags `iu` do.
 * Letters that only look alike stay apart: Turkish "sıkıldım" is not "sikildim", German "Maße" is not "Masse".
 */
export function sameButForCase (text: string): (other: string) => boolean {
  const pattern = new RegExp(`^${text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}$`, 'iu')
  return (other) => pattern.test(other)
}
