import type { Clock } from '../../lib/clock.ts'
import { emptyIfDamaged, type StoredRecord } from '../../store/index.ts'
import type { Need } from '../request/request-needs.ts'
import type { RefusedTool, RefusedTools } from '../tool-schemas/with-tools.ts'

/** The known limits of models: how many tools they take, and which tools they refuse. */
export interface ToolLimits extends RefusedTools {
  /** Returns the largest number of tools that all of the models accept; Infinity if nothing is known. */
  mostTools(ids: readonly string[]): number
  /** Remembers that a provider refused a call with `sent` tools for their number, in these words. */
  noteToolsRefused(id: string, refusal: { sent: number, words: string }): void
}

/** The learned needs (see `Need`: requirements for the form of a request) of a model at the address of its server. */
export interface LearnedNeeds {
  read(): ReadonlySet<Need>
  /** Remembers needs that a call has revealed. */
  note(needs: Iterable<Need>): void
  /** Forgets what was learned, so that calls reveal it anew. */
  forget(): void
}

/**
 * The stored record: the most tools that a model takes, tools that it refused, its needs, and when each was learned (epoch milliseconds).
 */
export interface StoredLimits {
  models?: Array<{ id: string, most: number, at: number }>
  refused?: Array<RefusedTool & { at: number }>
  needs?: Array<{ id: string, baseURL: string, needs: Need[], at: number }>
}

/** The number of models whose limits are stored; the newest are kept. */
const MOST_KNOWN = 500
/** How long a learned limit holds, in milliseconds: providers raise their limits. */
const BELIEVED_MS = 30 * 24 * 60 * 60 * 1000
/** How long a learned need holds, in milliseconds: servers get other templates, and other models under the same name. */
const NEEDS_BELIEVED_MS = 7 * 24 * 60 * 60 * 1000
/** Matches a number that an error might name as a limit: "maximum length 128", "at most 128 items", "limit reached: 200". */
const NAMED = /\b(?:at most|up to|max(?:imum)?|limit|length|only|more than|exceeds?)\b\D{0,40}?(\d{1,4})\b/gi

/**
 * Creates the memory of the limits and needs that refusals have revealed, including those that are stored. A damaged record counts as
 * empty.
 */
export async function createLearnedLimits ({ stored, clock }: { stored: StoredRecord<StoredLimits>, clock: Pick<Clock, 'now'> }) {
  const { models = [], refused: refusedBefore = [], needs = [] } = await stored.get().catch(emptyIfDamaged) as StoredLimits
  const known = new Map(models.map((each) => [each.id, each]))
  const knownNeeds = new Map(needs.map((each) => [`${each.id} ${each.baseURL}`, each]))
  let refused = refusedBefore
  const of = (id: string): number => {
    const found = known.get(id)
    return found !== undefined && clock.now() - found.at < BELIEVED_MS ? found.most : Infinity
  }
  const keep = () => {
    const value = { models: [...known.values()].slice(-MOST_KNOWN), refused, needs: [...knownNeeds.values()].slice(-MOST_KNOWN) }
    // A limit that cannot be stored holds until the service ends, and is then learned anew.
    stored.replace(value).catch(() => {})
  }

  return {
    mostTools: (ids) => Math.min(...ids.map(of)),
    noteToolsRefused (id, { sent, words }) {
      const named = [...words.matchAll(NAMED)].map(([, number]) => Number(number)).filter((number) => number > 0 && number < sent)
      const most = Math.min(of(id), named.length > 0 ? Math.max(...named) : sent - 1)
      known.delete(id)
      known.set(id, { id, most, at: clock.now() })
      keep()
    },
    refusedTools: () => refused.filter(({ at }) => clock.now() - at < BELIEVED_MS),
    noteToolRefused (tool) {
      refused = [...refused.filter((each) => !isSame(each, tool)), { ...tool, at: clock.now() }].slice(-MOST_KNOWN)
      keep()
    },
    forgetRefused (tool) {
      refused = refused.filter((each) => !isSame(each, tool))
      keep()
    },

    /** Returns the learned needs of a model, `<provider>/<model>`, at an address. */
    needsOf (id: string, baseURL: string): LearnedNeeds {
      const key = `${id} ${baseURL}`
      const read = () => {
        const found = knownNeeds.get(key)
        return new Set(found !== undefined && clock.now() - found.at < NEEDS_BELIEVED_MS ? found.needs : [])
      }
      return {
        read,
        note (more) {
          const needs = [...new Set([...read(), ...more])]
          knownNeeds.delete(key)
          knownNeeds.set(key, { id, baseURL, needs, at: clock.now() })
          keep()
        },
        forget () {
          if (knownNeeds.delete(key)) keep()
        }
      }
    }
  } satisfies ToolLimits & { needsOf: unknown }
}

const isSame = (a: Pick<RefusedTool, 'model' | 'name'>, b: Pick<RefusedTool, 'model' | 'name'>) => a.model === b.model && a.name === b.name
