import type { Brain } from '../../schemas/brain.ts'

/** 4,000 tokens, estimated at 4 characters (UTF-16 code units) each. */
export const PREVIEW_LIMIT = 16_000
/** Room for the headings and the line that says what is left out. */
const FRAME = 200
const ROOM = PREVIEW_LIMIT - FRAME

/** Everything that Unicode breaks a line at: a fact must not look like more than one, or like a heading. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g

/**
 * What a model is told of the brain: facts, then preferences, one a line; '' when there are none. What goes beyond
 * PREVIEW_LIMIT is left out, the oldest first, and a last line says how much. Preferences then keep at least half of the
 * room, if they need it.
 */
export function contextPreview ({ facts, preferences }: Brain): string {
  const factLines = facts.map(line)
  const preferenceLines = Object.entries(preferences).map(([key, value]) => line(`${key}: ${value}`))
  const whole = render(factLines, preferenceLines)
  if (whole.length <= PREVIEW_LIMIT) return whole

  const shownPreferences = newest(preferenceLines, Math.max(ROOM / 2, ROOM - size(factLines)))
  const shownFacts = newest(factLines, ROOM - size(shownPreferences))
  const left = [
    count(factLines.length - shownFacts.length, 'older fact'),
    count(preferenceLines.length - shownPreferences.length, 'older preference')
  ].filter((part) => part !== '')
  return `${render(shownFacts, shownPreferences)}\n\n(Left out for want of room: ${left.join(', ')}.)`
}

const line = (text: string) => `- ${text.replace(LINE_BREAK, ' ')}`
const size = (lines: string[]) => lines.reduce((sum, { length }) => sum + length + 1, 0)
const count = (number: number, noun: string) => number === 0 ? '' : `${number} ${noun}${number === 1 ? '' : 's'}`

function render (facts: string[], preferences: string[]) {
  const sections = [['## Known facts', ...facts], ['## Preferences', ...preferences]]
  return sections.filter(({ length }) => length > 1).map((lines) => lines.join('\n')).join('\n\n')
}

/** The last lines that fit into `room`, in their order. */
function newest (lines: string[], room: number): string[] {
  let first = lines.length
  for (let left = room; first > 0; first--) {
    left -= lines[first - 1].length + 1
    if (left < 0) break
  }
  return lines.slice(first)
}
