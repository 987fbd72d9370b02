import type { Clock } from '../lib/clock.ts'
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Analysis } from '../../schemas/agent.ts'
import { quoteFinder } from '../lib/quotes.ts'
import { analysisPrompt, askStructured } from '../models/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { Meter } from '../usage/index.ts'

/** The number of failures in a row after which the analysis pauses. */
const MOST_FAILURES = 2
/** The duration of a pause, milliseconds. */
const PAUSE_MS = 10 * 60 * 1000
/** The most failing models that are remembered, the newest ones. */
const MOST_MODELS = 100

/**
 * Pauses the analysis while its model fails, so that runs do not wait for it each time. After a pause, one more failure begins the next
 * pause, and a success resets the count of failures. `setup` returns the values that all models depend on, such as the configuration and
 * the API keys. If one of these values changes, all counts are reset.
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
    /** True if the analysis by this model is paused. */
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

/** The time limit of the analysis, milliseconds. If it passes, the request counts as `standard`. */
const ANALYSIS_MS = 2_000

/**
 * Returns a function that classifies a request with the model of the role `fast`. The model also gets the latest exchanges before the
 * request. The complexity is `standard` if the analysis fails, or is paused after failures. A request that continues a conversation is
 * never `simple`. The function rejects only on abort.
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
    if (pauses.has(fast)) return STANDARD

    const { question, earlier, ...asked } = analysisPrompt
    const said = prompt.slice(0, Math.max(at, 0)).filter(isSpoken)
    const before = earlier(said.map((message) => ({ role: message.role, text: textOf(message) })))
    const answer = await askStructured({
      ...asked,
      load: () => registry.model('fast'),
      text: question(request),
      earlier: before,
      limitMs: ANALYSIS_MS,
      meter,
      signal,
      clock
    })
    if (!('problem' in answer && answer.refused)) pauses.record(fast, { hasFailed: 'problem' in answer })
    if ('problem' in answer) return STANDARD
    const { complexity = 'standard', timeWords = '', thinking = '' } = answer.value
    return {
      complexity: complexity === 'simple' && before !== undefined ? 'standard' : complexity,
      timeWords: quoteFinder(question(request))(timeWords) ?? '',
      thinking
    }
  }
}

const STANDARD: Analysis = { complexity: 'standard', timeWords: '', thinking: '' }
const isSpoken = ({ role }: LanguageModelV4Message) => role === 'user' || role === 'assistant'
const textOf = (message: LanguageModelV4Message | undefined): string =>
  message?.role === 'user' || message?.role === 'assistant'
    ? message.content.map((part) => part.type === 'text' ? part.text : '').join('\n').trim()
    : ''
