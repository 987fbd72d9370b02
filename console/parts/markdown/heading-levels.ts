import type { ResolvedBlock } from './references.ts'

/** Headings of an answer are below those of the page, which has levels 1 and 2. */
const OF_PAGE = 2
const LOWEST = 6
/** The levels at which headings of levels 1 to 6 are drawn, where nothing is left out. */
export const USUAL_LEVELS = '345666'
const HEADING = /^ {0,3}(#{1,6})(?=\s|$)/gm
const known = new WeakMap<ResolvedBlock, number[]>()

/** The levels that the headings of a text say, in their order. */
function saidIn (block: ResolvedBlock): number[] {
  const said = known.get(block) ?? (block.kind === 'markdown' ? [...block.text.matchAll(HEADING)].map(([, marks]) => marks.length) : [])
  known.set(block, said)
  return said
}

/**
 * Returns for each block of a text the levels at which its headings are drawn: models begin with any level and leave some out, and who
 * hears a page goes by levels that follow each other. What stands below a block changes none of its levels.
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
