import type { Brain } from '../../schemas/brain.ts'

/** 4,000 tokens, estimated at 4 characters (UTF-16 code units) each. */
export const PREVIEW_LIMIT = 16_000
/** Characters reserved for the headings and the line about omissions. */
const FRAME = 200
const MAX_LINES_LENGTH = PREVIEW_LIMIT - FRAME

/** Every line break of Unicode. A fact must not look like several facts or like a heading. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g

/**
 * The brain as text for models: facts, then preferences, one on each line; '' when there are none. Beyond PREVIEW_LIMIT
 * the oldest entries are left out, and a last line says how many. Preferences then keep at least half of the space, if
 * they need it.
 */
export function contextPreview ({ facts, preferences }: Brain): string {
  const factLines = facts.map(line)
  const preferenceLines = Object.entries(preferences).map(([key, value]) => line(`${key}: ${value}`))
  const whole = render(factLines, preferenceLines)
  if (whole.length <= PREVIEW_LIMIT) return whole

  const shownPreferences = newest(preferenceLines, Math.max(MAX_LINES_LENGTH / 2, MAX_LINES_LENGTH - size(factLines)))
  const shownFacts = newest(factLines, MAX_LINES_LENGTH - size(shownPreferences))
  const omitted = [
    count(factLines.length - shownFacts.length, 'older fact'),
    count(preferenceLines.length - shownPreferences.length, 'older preference')
  ].filter((part) => part !== '')
  return `${render(shownFacts, shownPreferences)}\n\n(Left out for want of room: ${omitted.join(', ')}.)`
}

const line = (text: string) => `- ${text.replace(LINE_BREAK, ' ')}`
const size = (lines: string[]) => lines.reduce((sum, { length }) => sum + length + 1, 0)
const count = (number: number, noun: string) => number === 0 ? '' : `${number} ${noun}${number === 1 ? '' : 's'}`

function render (facts: string[], preferences: string[]) {
  const sections = [['## Known facts', ...facts], ['## Preferences', ...preferences]]
  return sections.filter(({ length }) => length > 1).map((lines) => lines.join('\n')).join('\n\n')
}

/** The last lines that fit into `limit` characters, in their order. */
function newest (lines: string[], limit: number): string[] {
  let first = lines.length
  for (let remaining = limit; first > 0; first--) {
    remaining -= lines[first - 1].length + 1
    if (remaining < 0) break
  }
  return lines.slice(first)
}
