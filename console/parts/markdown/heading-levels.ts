import type { ResolvedBlock } from './references.ts'

/** The number of heading levels that the page uses itself. Headings of answers are below them. */
const OF_PAGE = 2
const LOWEST = 6
/** The drawn levels of headings of levels 1 to 6, if the text skips no level. */
export const USUAL_LEVELS = '345666'
const HEADING = /^ {0,3}(#{1,6})(?=\s|$)/gm
const known = new WeakMap<ResolvedBlock, number[]>()

/** Returns the heading levels in a text, in their order. */
function saidIn (block: ResolvedBlock): number[] {
  const said = known.get(block) ?? (block.kind === 'markdown' ? [...block.text.matchAll(HEADING)].map(([, marks]) => marks.length) : [])
  known.set(block, said)
  return said
}

/**
 * Returns for each block the levels at which its headings are drawn. Models start at any level and skip levels, but screen reader users
 * rely on levels without gaps. Text below a block does not change the levels in the block.
 */
export function headingLevels (blocks: readonly ResolvedBlock[]): string[] {
  const above: Array<{ said: number, drawn: number }> = []
  return blocks.map((block) => {
    const levels = [...USUAL_LEVELS]
    for (const said of saidIn(block)) {
      while (above.length > 0 && above.at(-1)!.said >= said) above.pop()
      const drawn = Math.min((above.at(-1)?.drawn ?? OF_PAGE) + 1, LOWEST)
      above.push({ said, drawn })
      levels[said - 1] = String(drawn)
    }
    return levels.join('')
  })
}
