/** What is known of how many tools models take. */
export interface ToolLimits {
  /** The most tools that each of the models takes, as far as is known; Infinity where nothing is. */
  mostTools(ids: readonly string[]): number
  /** Remembers that a provider has refused a call for its number of tools, `sent`, in these words. */
  noteToolsRefused(id: string, refusal: { sent: number, words: string }): void
}

/** Models whose limits are kept. */
const MOST_KNOWN = 500
/** The numbers that an error may name as its limit: "maximum length 128", "at most 128 items", "limit reached: 200". */
const NAMED = /\b(?:at most|up to|max(?:imum)?|limit|length|only|more than|exceeds?)\b\D{0,40}?(\d{1,4})\b/gi

/** Creates what learns from refusals how many tools models take. It is forgotten when the service ends: a provider may take more then. */
export function createToolLimits (): ToolLimits {
  const known = new Map<string, number>()
  const of = (id: string) => known.get(id) ?? Infinity

  return {
    mostTools: (ids) => Math.min(...ids.map(of)),
    noteToolsRefused (id, { sent, words }) {
      const named = [...words.matchAll(NAMED)].map(([, number]) => Number(number)).filter((number) => number > 0 && number < sent)
      const limit = Math.min(of(id), named.length > 0 ? Math.max(...named) : sent - 1)
      if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value!)
      known.set(id, limit)
    }
  }
}
