/** A piece of a line. It is marked if the other line does not have it. */
export interface Piece {
  text: string
  isMarked: boolean
}

const WORDS = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu
/** A line with more words has one marked stretch, between the common beginning and the common end of both lines. */
const MOST_WORDS = 200

/**
 * Splits a removed line, and the added line that replaces it, into pieces, with the words marked that only one of them has. Returns
 * undefined if the lines have so little in common that almost all words would be marked.
 */
export function changedWords (removed: string, added: string): [Piece[], Piece[]] | undefined {
  const [old, now] = [removed, added].map((text) => text.match(WORDS) ?? [])
  const kept = old.length > MOST_WORDS || now.length > MOST_WORDS ? ends(old, now) : common(old, now)
  const same = old.filter((word, at) => kept.old.has(at) && word.trim() !== '').length
  if (same === 0 || same * 4 < Math.max(old.length, now.length) / 2) return undefined
  return [pieces(old, kept.old), pieces(now, kept.now)]
}

interface Kept {
  old: Set<number>
  now: Set<number>
}

/** Returns the positions of the words with which both lines begin and end. */
function ends (old: string[], now: string[]): Kept {
  const kept: Kept = { old: new Set(), now: new Set() }
  const shorter = Math.min(old.length, now.length)
  let lead = 0
  while (lead < shorter && old[lead] === now[lead]) {
    kept.old.add(lead)
    kept.now.add(lead++)
  }
  for (let tail = 1; tail <= shorter - lead && old.at(-tail) === now.at(-tail); tail++) {
    kept.old.add(old.length - tail)
    kept.now.add(now.length - tail)
  }
  return kept
}

/** Returns the positions of the longest common subsequence of words. */
function common (old: string[], now: string[]): Kept {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1))
  for (let at = old.length - 1; at >= 0; at--) {
    for (let nowAt = now.length - 1; nowAt >= 0; nowAt--) {
      lengths[at][nowAt] = old[at] === now[nowAt]
        ? lengths[at + 1][nowAt + 1] + 1
        : Math.max(lengths[at + 1][nowAt], lengths[at][nowAt + 1])
    }
  }
  const kept: Kept = { old: new Set(), now: new Set() }
  for (let at = 0, nowAt = 0; at < old.length && nowAt < now.length;) {
    if (old[at] === now[nowAt]) {
      kept.old.add(at++)
      kept.now.add(nowAt++)
    } else if (lengths[at + 1][nowAt] >= lengths[at][nowAt + 1]) at++
    else nowAt++
  }
  return kept
}

/** Joins the words of a line into pieces. */
function pieces (words: string[], kept: ReadonlySet<number>): Piece[] {
  const found: Piece[] = []
  for (const [at, text] of words.entries()) {
    const isMarked = !kept.has(at)
    const last = found.at(-1)
    if (last?.isMarked === isMarked) last.text += text
    else found.push({ text, isMarked })
  }
  return found
}
