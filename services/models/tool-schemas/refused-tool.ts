/** Words that blame a tool or its schema for a refusal. "Invalid argument" is all that Google says of some. */
const BLAMES =
  /\b(?:tools?|functions?|function_?declarations?|(?:json[ _-]?)?schemas?|input_schema|grammar|parameters|unmarshal)\b|invalid argument/i
/** The number of a tool in a list: `tools.3.custom.input_schema`, `tools[5].function`, `["body","tools",3,"function"]`, `tools -> 3`. */
const NUMBER = /\btools\b['"]?\s*(?:[.[/,]|->)\s*(\d+)/g
/** Google has one tool, with a list of functions. */
const NUMBER_OF_GOOGLE = /\bfunction_?declarations?\[(\d+)\]/gi
/** If a refusal names more tools than this, it does not say which one is meant: some refusals repeat the whole request. */
const MOST_NAMED = 3

/** Words that blame the definition of a tool, not the fact that there are tools. */
const BLAMES_SCHEMA = /schema|grammar|unmarshal|\btools\b['"]?\s*(?:[.[/,]|->)\s*\d|function_?declarations?\[/i

/** True if a refusal is about the definition of a tool: then the form of the messages makes no difference. */
export const blamesSchema = (words: string): boolean => BLAMES_SCHEMA.test(words)

/** True if a refusal may be about a tool. */
export const blamesTool = (words: string): boolean => BLAMES.test(words)

/** Returns the positions of the tools that a refusal names, by number or name; empty if it names none. */
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
 * Returns the position of the tool that is refused, for a refusal that names none; undefined if the tools are not to blame. Calls
 * `areTaken` with beginnings of the list, about as often as the binary logarithm of its length.
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
  // If the next tool alone is refused, too, all tools are.
  if (refused === 1 && tools.length > 1 && !await areTaken(tools.slice(1, 2))) return undefined
  return refused - 1
}
