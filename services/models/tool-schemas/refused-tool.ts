/** Matches the message of a refusal that might be due to a tool or its schema. Google's message is sometimes only "Invalid argument". */
const BLAMES =
  /\b(?:tools?|functions?|function_?declarations?|(?:json[ _-]?)?schemas?|input_schema|grammar|parameters|unmarshal)\b|invalid argument/i
/**
 * Matches the index of a tool in a message: `tools.3.custom.input_schema`, `tools[5].function`, `["body","tools",3,"function"]`, `tools ->
 * 3`.
 */
const NUMBER = /\btools\b['"]?\s*(?:[.[/,]|->)\s*(\d+)/g
/** Matches the index of a tool in Google's messages. Google's request has one tool with a list of functions. */
const NUMBER_OF_GOOGLE = /\bfunction_?declarations?\[(\d+)\]/gi
/** If a message names more tools than this, it does not say which one is refused: some messages repeat the whole request. */
const MOST_NAMED = 3

/** Matches the message of a refusal that is due to the definition of a tool, not to the use of tools as such. */
const BLAMES_SCHEMA = /schema|grammar|unmarshal|\btools\b['"]?\s*(?:[.[/,]|->)\s*\d|function_?declarations?\[/i

/** True if the message of a refusal is about the definition of a tool. Then other forms of the messages need not be tried. */
export const blamesSchema = (words: string): boolean => BLAMES_SCHEMA.test(words)

/** True if the message of a refusal might be about a tool. */
export const blamesTool = (words: string): boolean => BLAMES.test(words)

/** Returns the positions of the tools that the message of a refusal names, by name or index; empty if it names none. */
export function placesNamed (words: string, names: readonly string[]): number[] {
  const named = names.flatMap((name, at) => isNamed(words, name) ? [at] : [])
  if (named.length > 0 && named.length <= MOST_NAMED) return named
  for (const pattern of [NUMBER_OF_GOOGLE, NUMBER]) {
    const places = [...new Set([...words.matchAll(pattern)].map(([, number]) => Number(number)))]
    if (places.length > 0) return places.filter((at) => at < names.length)
  }
  return []
}

function isNamed (words: string, name: string): boolean {
  const exact = name.replace(/[^\w]/g, '\\$&')
  return new RegExp(`\\b(?:tools?|functions?)(?: name)?:?\\s+(?:\\\\?["'\`])?${exact}(?![\\w-])`, 'i').test(words) ||
    new RegExp(`\\(${exact}\\)`).test(words)
}

/**
 * Finds the tool that a provider refuses without naming it, by a binary search. Returns its position; undefined if the tools are not the
 * cause. `areTaken` tests whether the provider accepts the first tools of the list. It is called about log2 of the list's length times.
 */
export async function findRefused<T> (
  tools: readonly T[],
  areTaken: (some: readonly T[]) => Promise<boolean>
): Promise<number | undefined> {
  if (await areTaken(tools)) return undefined
  let taken = 0
  let refused = tools.length
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2)
    if (await areTaken(tools.slice(0, middle))) taken = middle
    else refused = middle
  }
  // If the second tool alone is refused, too, the provider refuses all tools.
  if (refused === 1 && tools.length > 1 && !await areTaken(tools.slice(1, 2))) return undefined
  return refused - 1
}
