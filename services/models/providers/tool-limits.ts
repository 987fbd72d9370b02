import type { Clock } from '../../lib/clock.ts'
import { emptyIfDamaged, type StoredRecord } from '../../store/index.ts'

/** What is known of how many tools models take. */
export interface ToolLimits {
  /** The most tools that each of the models takes, as far as is known; Infinity where nothing is. */
  mostTools(ids: readonly string[]): number
  /** Remembers that a provider has refused a call for its number of tools, `sent`, in these words. */
  noteToolsRefused(id: string, refusal: { sent: number, words: string }): void
}

/** What is stored: the most tools that a model takes, and when that was learned, epoch milliseconds. */
export interface StoredToolLimits {
  models?: Array<{ id: string, most: number, at: number }>
}

/** Models whose limits are kept, the newest. */
const MOST_KNOWN = 500
/** How long a limit is believed: providers raise theirs. */
const BELIEVED_MS = 30 * 24 * 60 * 60 * 1000
/** The numbers that an error may name as its limit: "maximum length 128", "at most 128 items", "limit reached: 200". */
const NAMED = /\b(?:at most|up to|max(?:imum)?|limit|length|only|more than|exceeds?)\b\D{0,40}?(\d{1,4})\b/gi

/** Creates what learns from refusals how many tools models take, and reads what was learned before. A damaged record counts as empty. */
export async function createToolLimits (
  { stored, clock }: { stored: StoredRecord<StoredToolLimits>, clock: Pick<Clock, 'now'> }
): Promise<ToolLimits> {
  const { models = [] } = await stored.get().catch(emptyIfDamaged) as StoredToolLimits
  const known = new Map(models.map((each) => [each.id, each]))
  const of = (id: string): number => {
    const found = known.get(id)
    return found !== undefined && clock.now() - found.at < BELIEVED_MS ? found.most : Infinity
  }

  return {
    mostTools: (ids) => Math.min(...ids.map(of)),
    noteToolsRefused (id, { sent, words }) {
      const named = [...words.matchAll(NAMED)].map(([, number]) => Number(number)).filter((number) => number > 0 && number < sent)
      const most = Math.min(of(id), named.length > 0 ? Math.max(...named) : sent - 1)
      known.delete(id)
      known.set(id, { id, most, at: clock.now() })
      // Where it cannot be stored, the limit holds until the service ends, and is learned anew.
      stored.replace({ models: [...known.values()].slice(-MOST_KNOWN) }).catch(() => {})
    }
  }
}
