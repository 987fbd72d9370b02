/** A model call in the order in which providers cache it: tools, system prompt, tool choice, messages. */
export interface CachedCall {
  /** Each part together with its role, as JSON. */
  parts: string[]
  /** Cache marks: each is the number of leading parts for which caching was requested. */
  marks: number[]
}

type Json = Record<string, any>

/** Parses a call from the body of a request to the gateway. With automatic caching, the gateway sets the marks itself. */
export function gatewayCall ({ tools = [], prompt, toolChoice, providerOptions }: Json): CachedCall {
  const system = prompt.filter(({ role }: Json) => role === 'system')
  const parts = [tools, system, toolChoice ?? [], prompt.filter(({ role }: Json) => role !== 'system').flatMap(partsOf)].flat()
  return { parts: parts.map((part) => JSON.stringify(part)), marks: providerOptions?.gateway?.caching === 'auto' ? [parts.length] : [] }
}

/** Parses a call from the body of a request to Anthropic. */
export function anthropicCall ({ tools = [], system = [], tool_choice: choice, messages }: Json): CachedCall {
  const all = [tools, system, choice ?? [], messages.flatMap(partsOf)].flat()
  const marks = all.flatMap((part: Json, at) => part.cache_control || part.part?.cache_control ? [at + 1] : [])
  const withoutMark = ({ cache_control: _mark, ...part }: Json) => part
  const unmarked = all.map((part: Json) => part.part ? { ...part, part: withoutMark(part.part) } : withoutMark(part))
  return { parts: unmarked.map((part) => JSON.stringify(part)), marks }
}

const partsOf = ({ role, content }: Json) => [content].flat().map((part: Json) => ({ role, part }))

/** Returns the number of leading parts that two calls share. */
export function commonParts (before: CachedCall, { parts }: CachedCall): number {
  const differs = parts.findIndex((part, at) => part !== before.parts[at])
  return differs === -1 ? parts.length : differs
}

const IMAGE_TOKENS = 1_600
const BASE64 = /"(?:data|image_url)":"[A-Za-z0-9+/=]{1000,}"/g

/** Estimates the tokens of parts: one token for four characters, and 1,600 for an image. */
const tokensOf = (parts: readonly string[]) =>
  parts.reduce((sum, part) => sum + part.replace(BASE64, '').length / 4 + (part.match(BASE64)?.length ?? 0) * IMAGE_TOKENS, 0)

/**
 * Returns the share of the input tokens of successive calls that is in a prefix for which caching was requested and that equals the start
 * of the previous call. `all` is over all calls, `last` is for the last call only.
 */
export function cachedShare (calls: readonly CachedCall[]): { all: number, last: number, tokens: number } {
  const figures = calls.map((call, at) => ({
    total: tokensOf(call.parts),
    cached: at === 0 ? 0 : tokensOf(cachedParts(calls[at - 1], call))
  }))
  const sum = (of: 'total' | 'cached') => figures.reduce((sum, figure) => sum + figure[of], 0)
  const last = figures.at(-1)!
  return { all: sum('cached') / sum('total'), last: last.cached / last.total, tokens: Math.round(sum('total')) }
}

function cachedParts (before: CachedCall, call: CachedCall): string[] {
  const common = commonParts(before, call)
  // With automatic caching, the gateway chooses the marks, so the whole common prefix counts.
  const isAutomatic = before.marks.length === 1 && before.marks[0] === before.parts.length && call.marks[0] === call.parts.length
  const marked = isAutomatic ? common : Math.max(0, ...before.marks.filter((mark) => mark <= common))
  return call.parts.slice(0, marked)
}
