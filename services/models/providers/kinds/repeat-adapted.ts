import type { Need } from '../../request/request-needs.ts'
import type { LearnedNeeds } from '../learned-limits.ts'

/** A part of a request `R` that a server may refuse. */
export interface RefusablePart<R> {
  /** Matches the message of a server that does not take the part. */
  refusal: RegExp
  /** Identifies the part, so that it is not sent again. A part without a key is left out of the refused call only. */
  key?: (request: R) => string | undefined
  /** Returns the request without the part; undefined if a request has no such part (only for parts without a `key`). */
  without: (request: R, words: string) => R | undefined
}

/** The known facts about requests that the server of a model takes. */
export interface AdaptedTo {
  /** Keys of the parts that it has refused since the start. */
  parts: Set<string>
  needs: LearnedNeeds
}

interface Adapting<R, T> {
  parts: ReadonlyArray<RefusablePart<R>>
  to: AdaptedTo
  /** A need that would take the subject away from the call: it is not met, and the refusal is thrown. */
  except?: Need
  /** Returns the message of a refusal; undefined for any other failure. */
  readRefusal: (error: unknown) => string | undefined
  /**
   * Returns the needs to try after a refusal. `hasPart`: the request has a part that the message names, which is left out if nothing is
   * returned.
   */
  nextNeeds: (words: string, needed: ReadonlySet<Need>, hasPart: boolean) => readonly Need[]
  /** Sends the request in the form that meets the needs, without the parts that `strip` removes. */
  send: (needed: ReadonlySet<Need>, strip: (request: R) => R) => PromiseLike<T>
}

/**
 * Makes a call in the form that its server is known to take. If the server refuses the request, it is sent again without the part that the
 * message names, or in the form that it asks for. The change that led to an answer is remembered. Of several refusals the first is thrown,
 * because it is about the original request.
 */
export async function repeatAdapted<R, T> ({ parts, to, except, readRefusal, nextNeeds, send }: Adapting<R, T>): Promise<T> {
  const needed = new Set([...to.needs.read()].filter((need) => need !== except))
  /** The needs that this call has shown. */
  const found = new Set<Need>()
  const refused = new Set(to.parts)
  /** Functions that remove the parts without a key. */
  const removals: Array<(request: R) => R | undefined> = []
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
      if (found.size > 0) to.needs.note(found)
      return result
    } catch (error) {
      first ??= error
      const words = readRefusal(error)
      if (words === undefined || sent === undefined) throw error
      const request = sent
      const part = parts.find(({ refusal, key, without }) =>
        refusal.test(words) && (key === undefined ? without(request, words) : key(request)) !== undefined)
      const needs = nextNeeds(words, needed, part !== undefined).filter((need) => need !== except && !needed.has(need))
      const key = part?.key?.(request)
      if (needs.length > 0) {
        for (const need of needs) {
          needed.add(need)
          found.add(need)
        }
      } else if (key !== undefined) refused.add(key)
      else if (part !== undefined) removals.push((each) => part.without(each, words))
      else throw first
    }
  }
}

const isIn = (known: ReadonlySet<string>, key: string | undefined) => key !== undefined && known.has(key)

/** A question that is answered as a whole, such as one about a picture: nobody would learn that the picture was left out. */
export const OF_WHOLE_ANSWERS = { except: 'no-pictures' } as const

/** Creates the keys of the parts that each model has refused since the start, by address and model. */
export function createRefusedParts (): (baseURL: string, model: string) => Set<string> {
  const refused = new Map<string, Set<string>>()
  return (baseURL, model) => {
    const place = `${baseURL} ${model}`
    const parts = refused.get(place) ?? new Set()
    refused.set(place, parts)
    return parts
  }
}
