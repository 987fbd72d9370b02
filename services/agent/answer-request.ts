import type { Analysis } from '../../schemas/agent.ts'
import type { Config } from '../../schemas/config.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import { holdFirstStep, withRunOptions } from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { createAnalysis } from './analyze.ts'
import { doubtAbout, namesTime } from './heard-time.ts'
import { handOverToTask } from './hand-over.ts'
import { rehearseHandOver } from './dry-runs.ts'
import { runSteps } from './loop.ts'
import { conversationOwner } from './conversation-owner.ts'
import type { ConversationAttempt } from './conversation-state.ts'
import type { Context } from './run-prompt.ts'

/** Steps with tools, by default. */
const STEPS = 100

/** Returns the number of steps with tools of a run. After them the model must answer without tools. */
export const stepLimit = ({ agent }: Config, { maxSteps }: RunOptions = {}): number => maxSteps ?? agent?.steps?.conversation ?? STEPS

const NO_TASK = 'Nobody can be asked here, so the last request was made no background task. Do what can be done now; do not do now what ' +
  'is meant for another time or to be repeated: say that it needs a task, which the user makes in the application.'

/**
 * Returns the work of a new run. The request is analysed, and the first step begins beside the analysis; its events are held
 * until those of the analysis are in the log. A request that is long-running, or for a time, becomes a background task instead, and
 * the first step is dropped. If its time is in doubt, the model is told to ask, and has no tools.
 */
export function createAnswerRequest (shared: AgentDeps) {
  const analyze = createAnalysis(shared)

  return async (attempt: ConversationAttempt, context: Context): Promise<void> => {
    const { record, log } = attempt.live.run
    const deps = withRunOptions(shared, record.options, log)
    const { config, tasks } = deps
    if (config().analysis === false) return runSteps(attempt, context, deps)

    const analyzing = analyzeRun(attempt, context, deps, analyze)
    const held = mayBeginEarly(attempt, deps) ? holdFirstStep(attempt, conversationOwner(attempt, context, deps), deps) : undefined
    const analysis = await analyzing.catch(async (error) => {
      await held?.drop()
      throw error
    })
    // Who asked for an object waits for it; a background task would not give it here.
    const request = context.prompt.findLast((message) => message.role === 'user')
    const hasFiles = request?.content.some(({ type }) => type === 'file') === true
    // Files of a message are at hand in its conversation alone.
    const isForLater = (analysis.complexity === 'long_running' && !hasFiles) || namesTime(analysis)
    if (!isForLater || tasks === undefined || record.options?.object !== undefined) {
      return runSteps(attempt, context, deps, { callModel: held?.release() })
    }
    await held?.drop()
    if (record.sheet !== undefined) return rehearseHandOver(attempt, analysis, { ...deps, tasks })
    if (record.options?.interactive === false) return runSteps(attempt, { ...context, notes: [...context.notes ?? [], NO_TASK] }, deps)
    const doubt = hasFiles || isOffline(deps) ? undefined : await doubtAbout(analysis, tasks)
    if (doubt !== undefined) {
      // What cannot be understood as a time never runs anything.
      const toAsk = withRunOptions(shared, { ...record.options, allowTools: [] }, log)
      return runSteps(attempt, { ...context, notes: [...context.notes ?? [], doubt] }, toAsk)
    }
    // A request with a time is not carried out now, also when the time could not be read.
    if (!await handOverToTask(attempt, analysis, { ...deps, tasks, hasFiles })) await runSteps(attempt, context, deps)
  }
}

/** Streams the analysis as reasoning. */
async function analyzeRun (
  { live, meter }: ConversationAttempt,
  { prompt }: Context,
  { registry }: AgentDeps,
  analyze: ReturnType<typeof createAnalysis>
): Promise<Analysis> {
  const { run: { log }, signal } = live
  log.append({ type: 'reasoning-start', id: 'analysis', phase: 'analysis' })
  const end = () => log.append({ type: 'reasoning-end', id: 'analysis' })
  const analysis = await analyze({ prompt, registry, meter, signal }).catch((error) => {
    end()
    throw error
  })
  if (analysis.thinking !== '') log.append({ type: 'reasoning-delta', id: 'analysis', delta: analysis.thinking })
  end()
  log.append({ type: 'analysis', analysis })
  return analysis
}

/** Whether models of this service itself answer: they can be told nothing. */
function isOffline ({ registry }: Pick<AgentDeps, 'registry'>): boolean {
  const { fast, capable } = registry.roles()
  return [fast, capable].some((id) => id.startsWith('offline/'))
}

/** Whether the first step may begin before it is needed: it may cost nothing under a budget, and gains nothing with offline models. */
function mayBeginEarly ({ live: { run: { record } } }: ConversationAttempt, deps: AgentDeps): boolean {
  const { agent, budget } = deps.config()
  return agent?.speculate !== false && record.options?.budget === undefined && budget?.day === undefined && !isOffline(deps)
}
