import type { Tool } from '../../contracts/tool.ts'
import type { Clock } from '../../lib/clock.ts'
import { isObject } from '../../lib/json.ts'
import type { Log } from '../../lib/log.ts'
import { type Ask, toolWordsPrompt } from '../../models/index.ts'
import { emptyIfDamaged, type StoredRecord } from '../../store/index.ts'
import type { MergedTool } from '../sources.ts'
import type { GivenWords } from './tool-index.ts'

/** Tools in one question, and the characters of their definitions. */
const MOST_ASKED = 16
const MAX_CHARACTERS = 12_000
const SHOWN_DESCRIPTION = 600
const SHOWN_PARAMETERS = 20
/** What is kept of an answer for a tool: words and requests, and the characters of each. */
const MOST_WORDS = 30
const LONGEST_WORD = 40
const MOST_REQUESTS = 5
const LONGEST_REQUEST = 120
/** Tools whose words are kept; those that no server has any more go first. */
const MOST_KEPT = 2_000
/** Questions in a day, so that a server whose definitions change all the time costs little, and times that a tool is asked about. */
const MOST_QUESTIONS = 60
const DAY_MS = 24 * 60 * 60_000
const MOST_TRIES = 10
/** Tokens of an answer. */
const ANSWER_TOKENS = 4_000
/** Pauses: after tools have changed, so that servers which connect together are one change; between two rounds; after a first failure. */
const SETTLED_MS = 2_000
const ROUND_MS = 60_000
const RETRY_MS = 30 * 60_000

/** What is stored, by the digest of the definition. */
export interface StoredToolWords { tools?: Record<string, GivenWords> }

interface Parts {
  stored: StoredRecord<StoredToolWords>
  /** The tools of all servers. */
  tools: () => MergedTool[]
  ask: Ask<{ signal: AbortSignal }>
  /** Whether no model can be asked. */
  isOffline: () => boolean
  /** Whether a question would hold up runs. */
  isBusy: () => boolean
  /** Whether models have to find tools of servers at all, and the user lets a model be asked. */
  isWanted: (signal: AbortSignal) => Promise<boolean>
  clock: Clock
  log: Pick<Log, 'warn'>
}

export type ToolVocabulary = ReturnType<typeof createToolVocabulary>

/**
 * Keeps the words under which people ask for the tools of servers: a model gives them once for each definition, in the background, and a
 * search finds tools by them. They are words of an index: no model reads them.
 */
export function createToolVocabulary ({ stored, tools, ask, isOffline, isBusy, isWanted, clock, log }: Parts) {
  const known = new Map<string, GivenWords>()
  const tries = new Map<string, number>()
  /** Times of the questions of a day, and how many of the newest failed in a row. */
  let asked: number[] = []
  let failures = 0
  let loading: Promise<void> | undefined
  let wake = new AbortController()

  const load = (): Promise<void> => {
    loading ??= stored.get().catch(emptyIfDamaged).then((read) => {
      for (const [digest, words] of Object.entries((read as StoredToolWords).tools ?? {})) known.set(digest, words)
    })
    loading.catch(() => { loading = undefined })
    return loading
  }

  const triesOf = ({ definition }: MergedTool) => tries.get(definition!) ?? 0

  /** Returns tools that have no words yet, one of each definition, those first that were asked about least. */
  function missing (): MergedTool[] {
    const unknown = tools().filter((tool) => tool.definition !== undefined && !known.has(tool.definition) && triesOf(tool) < MOST_TRIES)
    return [...new Map(unknown.map((tool) => [tool.definition, tool])).values()].sort((a, b) => triesOf(a) - triesOf(b))
  }

  /** Asks about some tools of one server. Returns whether any of them got words. */
  async function askAbout (some: MergedTool[], signal: AbortSignal): Promise<boolean> {
    const { question, ...prompt } = toolWordsPrompt
    const text = question(some[0].source, some.map((tool, n) => ({ id: `t${n + 1}`, ...shownOf(tool) })))
    for (const tool of some) tries.set(tool.definition!, triesOf(tool) + 1)
    asked.push(clock.now())
    const answer = await ask({ ...prompt, text, maxAnswerTokens: ANSWER_TOKENS, signal })
    if ('problem' in answer) {
      log.warn({ server: some[0].source, problem: answer.problem }, 'tools got no words under which they are found')
      return false
    }
    const given = new Map(answer.value.tools.flatMap((each) => isObject(each) ? [[each.id, wordsIn(each)] as const] : []))
    const found = some.flatMap(({ definition }, n) => {
      const words = given.get(`t${n + 1}`)
      return words === undefined || words.words.length === 0 ? [] : [[definition!, words] as const]
    })
    for (const [digest, words] of found) known.set(digest, words)
    if (found.length > 0) await save()
    return found.length > 0
  }

  async function save () {
    const present = new Set(tools().map(({ definition }) => definition))
    const gone = [...known.keys()].filter((digest) => !present.has(digest))
    for (const digest of gone.slice(0, Math.max(0, known.size - MOST_KEPT))) known.delete(digest)
    await stored.replace({ tools: Object.fromEntries(known) })
  }

  /** Asks about tools that have no words, one question. Returns the pause until the next round, milliseconds. */
  async function round (signal: AbortSignal): Promise<number> {
    await load()
    const [first, ...others] = missing()
    if (first === undefined || isOffline() || !await isWanted(signal)) return ROUND_MS
    asked = asked.filter((time) => time > clock.now() - DAY_MS)
    if (asked.length >= MOST_QUESTIONS) return RETRY_MS
    if (isBusy()) return ROUND_MS
    // What failed is asked about in smaller pieces.
    const most = Math.max(1, MOST_ASKED >> 2 * triesOf(first))
    let left = MAX_CHARACTERS
    const alike = others.filter((tool) => tool.source === first.source && triesOf(tool) === triesOf(first))
    const some = [first, ...alike].slice(0, most)
      .filter((tool) => (left -= JSON.stringify(shownOf(tool)).length) >= 0 || tool === first)
    failures = await askAbout(some, signal) ? 0 : failures + 1
    return failures === 0 ? 0 : Math.min(DAY_MS, RETRY_MS * 2 ** (failures - 1))
  }

  return {
    /** Reads what is stored; rejects when the store cannot be read. */
    load,

    /** Returns the words that were given to a tool; undefined for one that has none. */
    of: ({ definition }: Tool & Partial<Pick<MergedTool, 'definition'>>): GivenWords | undefined =>
      definition === undefined ? undefined : known.get(definition),

    round,

    /** Looks soon whether tools have no words: they may be others. */
    changed: (): void => wake.abort(),

    /** Repeats rounds until the signal aborts. */
    async run (signal: AbortSignal): Promise<void> {
      let notBefore = -Infinity
      while (!signal.aborted) {
        wake = new AbortController()
        if (clock.now() >= notBefore) {
          const pause = await round(signal).catch((error) => {
            if (!signal.aborted) log.warn({ err: error }, 'tools could not be given words')
            return RETRY_MS
          })
          // What failed is not tried again sooner because a server connects.
          notBefore = pause >= RETRY_MS ? clock.now() + pause : -Infinity
          if (pause === 0) continue
        }
        await clock.sleep(Math.max(ROUND_MS, notBefore - clock.now()), AbortSignal.any([signal, wake.signal])).catch(() => {})
        if (wake.signal.aborted) await clock.sleep(SETTLED_MS, signal).catch(() => {})
      }
    }
  }
}

const shownOf = ({ qualified, source, title, description, inputSchema: { properties } }: MergedTool) => ({
  name: qualified.slice(source.length + 1),
  ...title !== undefined && { title },
  description: description.slice(0, SHOWN_DESCRIPTION),
  parameters: Object.keys(isObject(properties) ? properties : {}).slice(0, SHOWN_PARAMETERS)
})

const wordsIn = ({ words, requests }: Record<string, unknown>): GivenWords => ({
  words: textsIn(words, MOST_WORDS, LONGEST_WORD),
  requests: textsIn(requests, MOST_REQUESTS, LONGEST_REQUEST)
})

const textsIn = (value: unknown, most: number, longest: number): string[] =>
  !Array.isArray(value)
    ? []
    : value.filter((each) => typeof each === 'string' && each.trim() !== '').slice(0, most)
      .map((each: string) => each.trim().slice(0, longest).toWellFormed())
