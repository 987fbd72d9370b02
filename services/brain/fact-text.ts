import { defineError } from '../lib/service-error.ts'

export const TextLength = defineError('ERR_INVALID_REQUEST', 'body.%s must have 1 to %d characters after trimming, not %d.')

/**
 * Normalises facts and keys for storage: trimmed, in Unicode's composed form (NFC), and without lone surrogates, which
 * model providers refuse. Throws TextLength (400) unless 1 to `limit` code points are left.
 */
export function normalise (field: string, text: string, limit: number): string {
  const normal = text.toWellFormed().normalize('NFC').trim()
  const length = [...normal].length
  if (length < 1 || length > limit) throw new TextLength(field, limit, length)
  return normal
}

/**
 * Whether two normalised texts are equal without case, by Unicode's simple case folding, which the flags `iu` apply.
 * Letters that only look alike are different: Turkish "sıkıldım" is not "sikildim", German "Maße" is not "Masse".
 */
export function sameButForCase (text: string): (other: string) => boolean {
  const pattern = new RegExp(`^${text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}$`, 'iu')
  return (other) => pattern.test(other)
}
