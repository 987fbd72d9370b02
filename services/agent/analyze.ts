import type { Clock } from '../lib/clock.ts'
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { AnalysisAnswerSchema, AnalysisQuestionSchema, type Analysis, type AnalysisAnswer } from '../../schemas/agent.ts'
import { analysisPrompt, askStructured, readWhole, REQUEST_SHOWN } from '../models/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { Meter } from '../usage/index.ts'

/** The number of failures in a row after which the analysis pauses. */
const MOST_FAILURES = 2
/** The duration of a pause, milliseconds. */
const PAUSE_MS = 10 * 60 * 1000
/** The number of failing models that are remembered, the newest ones. */
const MOST_MODELS = 100

/**
 * Pauses the analysis while its model does not work, so that runs do not wait for it each time. After a pause, one more failure
 * begins the next pause and a success ends the row. `setup` returns what all models depend on (the configuration, the keys); when a
 * value of it has changed, every count starts anew.
 */
export function createAnalysisPauses ({ clock, setup }: { clock: Pick<Clock, 'monotonic'>, setup: () => readonly unknown[] }) {
  /** The models whose latest analysis failed. */
  const failing = new Map<string, { failures: number, until: number }>()
  let seen: readonly unknown[] = []

  function startAnewIfChanged () {
    const now = setup()
    if (now.every((value, at) => value === seen[at])) return
    seen = now
    failing.clear()
  }

  return {
    /** Whether the analysis by that model pauses now. */
    has (model: string): boolean {
      startAnewIfChanged()
      return clock.monotonic() < (failing.get(model)?.until ?? 0)
    },
    record (model: string, { hasFailed }: { hasFailed: boolean }) {
      startAnewIfChanged()
      const { failures = 0 } = failing.get(model) ?? {}
      failing.delete(model)
      if (!hasFailed) return
      const until = failures + 1 >= MOST_FAILURES ? clock.monotonic() + PAUSE_MS : 0
      failing.set(model, { failures: failures + 1, until })
      if (failing.size > MOST_MODELS) failing.delete(failing.keys().next().value!)
    }
  }
}

/** The time limit of the analysis; after it the request counts as `standard`. Milliseconds. */
const ANALYSIS_MS = 2_000
/** The maximum length of the answer, tokens. */
const MAX_ANSWER_TOKENS = 400
/** The maximum length of a task's goal, characters. */
const LONGEST_GOAL = 20_000

/**
 * Returns the function that classifies a request with the model of role `fast`, which also gets the latest exchanges before it.
 * If the analysis fails, or is paused because it has failed before, the complexity is `standard`; a request that continues a
 * conversation is never `simple`. Rejects only on abort, and with the budget's error when the call may not be made.
 */
export function createAnalysis ({ registry: { keyChanges }, clock, config }: Pick<AgentDeps, 'registry' | 'clock' | 'config'>) {
  const pauses = createAnalysisPauses({ clock, setup: () => [config(), keyChanges()] })

  return async ({ prompt, registry, meter, signal }: {
    prompt: LanguageModelV4Prompt
    registry: AgentDeps['registry']
    meter: Meter
    signal: AbortSignal
  }): Promise<Analysis> => {
    const { fast } = registry.roles()
    const at = prompt.findLastIndex(({ role }) => role === 'user')
    const request = textOf(prompt[at])
    const standard = (): Analysis => ({
      complexity: 'standard',
      goal: request.slice(0, 200),
      thinking: '',
      qualityCriteria: []
    })
    if (pauses.has(fast)) return standard()

    const { name, question, earlier } = analysisPrompt
    const instructions = analysisPrompt.instructions(new Date(clock.now()))
    const said = prompt.slice(0, Math.max(at, 0)).filter(isSpoken)
    const before = earlier(said.map((message) => ({ role: message.role, text: textOf(message) })))
    const answer = await askStructured({
      load: () => registry.model('fast'),
      name,
      read: readWhole(AnalysisAnswerSchema),
      asked: AnalysisQuestionSchema,
      instructions,
      text: question(request),
      earlier: before,
      limitMs: ANALYSIS_MS,
      maxAnswerTokens: MAX_ANSWER_TOKENS,
      meter,
      signal,
      clock
    })
    if ('problem' in answer && answer.refused) throw answer.refused
    pauses.record(fast, { hasFailed: 'problem' in answer })
    return 'value' in answer ? normalize(answer.value, request, before !== undefined) : standard()
  }
}

/**
 * Leaves out what is empty, removes the interval of a request that is not long-running, and gives a task the user's full text if the model
 * saw only a part.
 */
function normalize ({ when, interval = when?.every ?? '', ...rest }: AnalysisAnswer, request: string, isFollowUp: boolean): Analysis {
  const said = Object.entries(when ?? {}).filter(([, text]) => text.trim() !== '')
  const analysis: Analysis = { ...rest, ...(said.length > 0 && { when: { text: '', ...Object.fromEntries(said) } }) }
  if (analysis.complexity === 'simple' && isFollowUp) return { ...analysis, complexity: 'standard' }
  if (analysis.complexity !== 'long_running') return analysis
  const goal = request.length > REQUEST_SHOWN || analysis.goal.trim() === '' ? request.slice(0, LONGEST_GOAL) : analysis.goal
  return { ...analysis, goal, ...(interval.trim() !== '' && { interval }) }
}

const isSpoken = ({ role }: LanguageModelV4Message) => role === 'user' || role === 'assistant'
const textOf = (message: LanguageModelV4Message | undefined): string =>
  message?.role === 'user' || message?.role === 'assistant'
    ? message.content.map((part) => part.type === 'text' ? part.text : '').join('\n').trim()
    : ''
