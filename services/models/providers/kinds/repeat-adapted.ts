import type { Need } from '../../request/request-needs.ts'
import type { LearnedNeeds } from '../learned-limits.ts'

/** A part of a request `R` that a server might refuse. */
export interface RefusablePart<R> {
  /** Matches the message of a server that does not take the part. */
  refusal: RegExp
  /**
   * Returns the key under which a refusal of the part is remembered, so that the part is not sent again; undefined if the request does not
   * have the part. A part without a `key` function is left out of the refused call only.
   */
  key?: (request: R) => string | undefined
  /**
   * Returns the request without the part; undefined if a request has no such part (only for parts without a `key`). `words` is the message
   * of the refusal.
   */
  without: (request: R, words: string) => R | undefined
}

/** The known facts about the requests that the server of a model accepts. */
export interface AdaptedTo {
  /** Keys of the parts that the server has refused since the service started. */
  parts: Set<string>
  needs: LearnedNeeds
}

interface Adapting<R, T> {
  parts: ReadonlyArray<RefusablePart<R>>
  to: AdaptedTo
  /**
   * A need (see `Need`) that would remove the subject of the call, such as its picture. This need is never applied: the refusal is thrown
   * instead.
   */
  except?: Need
  /** Returns the message of a refusal; undefined for any other failure. */
  readRefusal: (error: unknown) => string | undefined
  /**
   * Returns the needs to try after a refusal. `hasPart` is true if the request has a part that the message names; this part is left out if
   * no need is returned.
   */
  nextNeeds: (words: string, needed: ReadonlySet<Need>, hasPart: boolean) => readonly Need[]
  /** Returns the needs to guess if nothing else is left to change; empty if the request meets them. A guess is never noted as a need. */
  guessNeeds?: (words: string, needed: ReadonlySet<Need>) => readonly Need[]
  /** Sends the request in the form that meets the needs, without the parts that `strip` removes. */
  send: (needed: ReadonlySet<Need>, strip: (request: R) => R) => PromiseLike<T>
}

/** The key, in `AdaptedTo.parts`, of everything that only a guess leaves out. It is still sent, but not a second time in the same call. */
const WHOLE = 'whole'

/**
 * Makes a call in the form that its server is known to accept. If the server refuses the request, the request is sent again without the
 * part that the message names, or in the form that the message asks for. Changes that led to an answer are remembered. A request that is
 * refused for no known reason is sent unchanged once more, because a server can fail once, and then in the form that `guessNeeds` returns.
 * If nothing is left to change, the first refusal is thrown, because it is about the original request.
 */
export async function repeatAdapted<R, T> (
  { parts, to, except, readRefusal, nextNeeds, guessNeeds = () => [], send }: Adapting<R, T>
): Promise<T> {
  const needed = new Set([...to.needs.read()].filter((need) => need !== except))
  /** The needs that this call has revealed. */
  const found = new Set<Need>()
  const refused = new Set(to.parts)
  /** Functions that remove the parts without a key. */
  const removals: Array<(request: R) => R | undefined> = []
  const isNew = (need: Need) => need !== except && !needed.has(need)
  let isGuessed = false
  let isRepeated = to.parts.has(WHOLE)
  let first: unknown
  for (;;) {
    let sent: R | undefined
    const strip = (request: R): R => {
      const known = parts.reduce((rest, part) => isIn(refused, part.key?.(rest)) ? part.without(rest, '') ?? rest : rest, request)
      sent = removals.reduce((rest, remove) => remove(rest) ?? rest, known)
      return sent
    }
    try {
      const result = await send(needed, strip)
      for (const part of refused) to.parts.add(part)
      if (isGuessed) to.parts.add(WHOLE)
      else if (guessNeeds('', needed).length > 0) to.parts.delete(WHOLE)
      if (found.size > 0) to.needs.note(found)
      return result
    } catch (error) {
      first ??= error
      const words = readRefusal(error)
      if (words === undefined || sent === undefined) throw error
      const request = sent
      const part = parts.find(({ refusal, key, without }) =>
        refusal.test(words) && (key === undefined ? without(request, words) : key(request)) !== undefined)
      const needs = nextNeeds(words, needed, part !== undefined).filter(isNew)
      const guess = needs.length > 0 || part !== undefined ? [] : guessNeeds(words, needed).filter(isNew)
      const key = part?.key?.(request)
      if (needs.length > 0) {
        for (const need of needs) {
          needed.add(need)
          found.add(need)
        }
      } else if (key !== undefined) refused.add(key)
      else if (part !== undefined) removals.push((each) => part.without(each, words))
      else if (guess.length === 0) throw first
      else if (isRepeated) {
        isGuessed = true
        for (const need of guess) needed.add(need)
      } else isRepeated = true
    }
  }
}

const isIn = (known: ReadonlySet<string>, key: string | undefined) => key !== undefined && known.has(key)

/** For calls without streaming, such as a question about a picture: their caller would not learn that the picture was left out. */
export const OF_WHOLE_ANSWERS = { except: 'no-pictures' } as const

/** Creates the function that returns the keys of the parts that a model at an address has refused since the service started. */
export function createRefusedParts (): (baseURL: string, model: string) => Set<string> {
  const refused = new Map<string, Set<string>>()
  return (baseURL, model) => {
    const place = `${baseURL} ${model}`
    const parts = refused.get(place) ?? new Set()
    refused.set(place, parts)
    return parts
  }
}
