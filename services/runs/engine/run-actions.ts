import { createAddressGate } from '../../approvals/index.ts'
import { takeAnswer } from '../answers/take-answer.ts'
import { withoutDroppedTries } from '../run-log/cut-steps.ts'
import { joinDeltas } from '../run-log/join-deltas.ts'
import { type EventOf, newestStep, newestText, openCalls, reviewIn, type RunEvent } from '../../contracts/run-events.ts'
import { noUsage } from '../../usage/index.ts'
import { MEMORY_FOLLOWS, PHASE_TOOL } from '../../contracts/model-texts.ts'
import type { RunRecord } from '../run-record.ts'
import type { EngineDeps, RunAttempt } from './attempt.ts'
import type { BudgetQuestion, WaitingCall } from '../../contracts/approval-record.ts'
import { raiseBudgets, workWithinBudget } from './ask-budget.ts'
import { type NextAction, type RunActions, nextAction } from './drive.ts'
import { createRepetitions } from './repetitions.ts'
import { askAgain, isCutTwice, isFruitless, LATE_MS, lateAnswer, REPEATED } from './stopping.ts'
import { createModelCalls, directOutput, type ModelOutput } from './model-calls.ts'
import type { RunItems } from './asked-items.ts'
import type { RunOwner, RunPrompt } from './run-owner.ts'
import { endOfStep, firstObject, heldEvents, isToldAtOnce, mayFirstStand } from './second-version.ts'
import { asksThoughAllowed } from '../gate/run-policy.ts'
import { settleStep } from '../gate/settle-step.ts'

/** The state with which an attempt (one uninterrupted execution) at a run starts. */
interface Start {
  /** The items that the run has requested before. */
  items: RunItems
  /** Where the events of model calls are written; default: the log of the run. */
  output?: ModelOutput
}

/** The actions and the current state of an attempt at a run. */
export interface ExecutedRun {
  actions: RunActions
  items: RunItems
  /** The run must wait for decisions about calls or for a higher budget. */
  isWaiting: boolean
  asked: ReadonlyArray<WaitingCall | BudgetQuestion>
  /** The end event of the newest step, which is appended when the calls of the step are settled; undefined if it has been appended. */
  stepFinish?: EventOf<'step-finish'>
  /** The structured answer of the newest step. Readers of a conversation get it last, when the answer is accepted. */
  answer?: EventOf<'object'>
  isAccepted: boolean
  /** Resolves when no call is running. */
  quiet: () => Promise<unknown>
}

/**
 * The actions of one attempt at a run. All lasting state is in the record and the log of the run, so that a later attempt continues where
 * this one ended.
 */
export function createRunActions<R extends RunRecord> (
  attempt: RunAttempt<R>,
  owner: RunOwner<R>,
  deps: EngineDeps,
  { items, output = directOutput(attempt.live) }: Start
): ExecutedRun {
  const { live, commit } = attempt
  const { run } = live
  const { log } = run
  /**
   * The events of the current model call that are held back: in runs of tasks, whose steps are stored as a whole, and in second versions of
   * an answer.
   */
  let held: RunEvent[] = []
  /** Whether the current model call makes a second version of the answer. */
  let isSecond = false
  /** Whether the current model call has begun a step. */
  let hasBegun = false
  const call = createModelCalls(attempt, owner, deps, {
    ...output,
    append (event: RunEvent) {
      if (event.type === 'step-start') hasBegun = true
      // A message of the user asks for a new answer, which is no second version.
      if (event.type === 'steer') isSecond = false
      if (owner.kind === 'task' || (isSecond && !isToldAtOnce(event))) held.push(event)
      else output.append(event)
    }
  })
  raiseBudgets(attempt.meter, items)
  /** No second version of the answer will come. */
  let isGivenUp = false
  const settling = new Set<Promise<unknown>>()
  const repetitions = createRepetitions(deps.clock, owner.tools.find)
  const addresses = createAddressGate({
    store: deps.store,
    place: owner.place,
    prompt: owner.prompt.messages,
    said: owner.prompt.said,
    besides: () => besides(log.events, owner.prompt),
    attached: owner.prompt.attached,
    events: () => log.events,
    find: owner.tools.find,
    isAsked: (toolName) => asksThoughAllowed(owner.policy, owner.tools, toolName),
    now: deps.clock.now
  })
  /** The number of the newest step that was checked for repetitions. */
  let looked = run.record.steps

  const mayAskForMore = () => owner.policy.answersInCalls && !mayFirstStand(log.events, live.signal)
  const isLast = () => run.record.steps > run.record.maxSteps

  /** Adds events to the run, and changes its record. In a task, both are on disk when the promise resolves. */
  async function write (events: RunEvent[], changes: object = {}): Promise<void> {
    if (owner.kind === 'task') return commit({ finalEvents: events, changes: changes as Partial<R> })
    run.record = { ...run.record, ...changes }
    events.forEach(log.append)
  }

  /** Sends a message of the service to the model before its next step. */
  const tell = (text: string) => write([{ type: 'message', text, isRetry: true }])

  /**
   * Replaces the next action of a run where needed: has the model answer once more after an empty answer, and ends a run that repeats
   * itself or whose calls are too long for the model.
   */
  async function guarded (action: NextAction): Promise<NextAction> {
    const { steps } = run.record
    if (action === 'judge') {
      const note = executed.answer !== undefined || isLast() ? undefined : askAgain(log.events)
      if (note === undefined) return action
      await tell(note)
      return 'step'
    }
    if (action === 'settle' || isLast()) return action
    if (isCutTwice(log.events)) return 'judge'
    if (steps === looked) return action
    looked = steps
    const repetition = repetitions.add(newestStep(log.events))
    if (repetition === 'told') await tell(REPEATED)
    const endsFor = repetition === 'stopped' ? 'repeating' : isFruitless(log.events) ? 'no-progress' : undefined
    if (endsFor !== undefined) await write([], { maxSteps: steps, endsFor })
    return action
  }

  async function step (): Promise<void> {
    executed.isAccepted = false
    executed.answer = undefined
    isSecond = reviewIn(log.events) !== undefined
    // Before the first step, the record of the run contains everything.
    if (owner.kind === 'conversation' && run.record.steps > 0) deps.runs.saveSoon(run)
    held = []
    const made = await workWithinBudget(async () => {
      await attempt.meter.checkSpent()
      return call()
    }, { items, mayAsk: mayAskForMore })
    if ('asks' in made) return waitForBudget(made.asks)
    executed.stepFinish = made.result
    hasBegun = false
    held = [...withoutDroppedTries(held)]
    if (isSecond) {
      held = heldEvents(held)
      executed.stepFinish = endOfStep(held, executed.stepFinish)
    }
    const isLogged = owner.kind === 'conversation' && !isSecond
    const events = isLogged ? newestStep(log.events) : held
    const calls = events.filter(({ type }) => type === 'tool-input' || type === 'tool-input-error')
    const isSettled = openCalls(events).length === 0 && await attempt.owed() === undefined
    const end = isSettled ? [executed.stepFinish] : []
    const toolCount = run.record.toolCount + calls.filter((event) => 'toolName' in event && event.toolName !== PHASE_TOOL).length
    const unlogged = isLogged ? end : [...joinDeltas(held), ...end]
    // The end of an answer is stored together with the answer's review, or with the end of the run.
    if (isSettled && calls.length > 0) await commit({ finalEvents: unlogged, changes: { toolCount } as Partial<R> })
    else await write(unlogged, { toolCount })
    if (isSettled) executed.stepFinish = undefined
    owner.tell?.({ is: 'step', events })
  }

  /**
   * Makes the run wait for a higher budget. The part of the step that has begun is closed without a result, and the step is repeated when
   * the user allows more.
   */
  async function waitForBudget (question: BudgetQuestion): Promise<void> {
    if (hasBegun && held.length > 0) await write(joinDeltas(withoutDroppedTries(held)))
    const paused = { type: 'step-finish', finishReason: 'other', usage: noUsage(), isPaused: true } as const
    executed.stepFinish = hasBegun ? { ...paused, step: run.record.steps + 1 } : undefined
    Object.assign(executed, { asked: [question], isWaiting: true })
  }

  async function settleNow (): Promise<void> {
    Object.assign(executed, await settleStep({ attempt, owner, items, addresses, deps }))
    if (executed.isWaiting) return
    const newest = newestStep(log.events)
    const owed = await attempt.owed()
    // The tokens of a step that a crash interrupted are counted in the usage of the run, not in this event.
    const cut = (): RunEvent => ({ type: 'step-finish', step: run.record.steps, finishReason: 'tool-calls', usage: noUsage() })
    const end = newest.some(({ type }) => type === 'step-finish') ? [] : [executed.stepFinish ?? endOfStep(newest, cut())]
    executed.stepFinish = undefined
    const waitedMs = items.waitedMs(newest.flatMap((event) => event.type === 'tool-input' ? [event.toolCallId] : []))
    const late: RunEvent[] = waitedMs < LATE_MS ? [] : [{ type: 'message', text: lateAnswer(waitedMs, deps.clock.now()), isRetry: true }]
    if (owed === undefined) return commit({ finalEvents: [...end, ...late] })
    const { retry, ...taken } = takeAnswer(log.events, owed, { isLast: isLast() })
    const isHeld = reviewIn(log.events) !== undefined && { isHeld: true as const }
    const outcomes = taken.outcomes.map((event): RunEvent => ({ ...event, ...isHeld }))
    executed.answer = taken.answer
    const events = [...outcomes, ...end, retry].filter((event) => event !== undefined)
    // Readers of a conversation get the answer when it is accepted.
    const isStored = owner.kind === 'task' && executed.answer !== undefined
    if (executed.answer === undefined) await commit({ finalEvents: [...events, ...late] })
    else await write(isStored ? [...events, executed.answer] : events, isStored ? { object: executed.answer.object } : {})
    for (const event of outcomes) {
      if (event.type !== 'tool-output' && event.type !== 'tool-error') continue
      const { toolCallId, toolName } = event
      const given = newest.find((each) => each.type === 'tool-input' && each.toolCallId === toolCallId) as EventOf<'tool-input'> | undefined
      owner.tell?.({ is: 'call-ended', call: { toolCallId, toolName, input: given?.input }, event })
    }
  }

  async function judge (): Promise<void> {
    const reviewed = await workWithinBudget(
      () => owner.review({ isLast: isLast(), object: executed.answer?.object }),
      { items, mayAsk: mayAskForMore }
    )
    if ('asks' in reviewed) return waitForBudget(reviewed.asks)
    const review = reviewed.result ?? {}
    const { refinement, kept, changes, told } = review
    const events: RunEvent[] = []
    if (refinement !== undefined) {
      const { object, attempts } = executed.answer ?? {}
      events.push({
        ...{ type: 'message', text: refinement, isReview: true },
        ...(object && { object: { object, attempts: attempts! } }),
        ...(review.mayStand && { mayStand: true })
      })
      executed.answer = undefined
    } else if (kept === 'first') {
      executed.answer = firstObject(log.events) ?? executed.answer
      // The newest `object` event counts.
      if (owner.kind === 'task' && executed.answer !== undefined) events.push(executed.answer)
    } else if (kept === 'second') events.push({ type: 'revision', text: newestText(log.events).trim() })
    if (changes !== undefined) await commit({ finalEvents: events, changes })
    else events.forEach(log.append)
    told?.()
    executed.isAccepted = refinement === undefined
  }

  /** Does the work of an action. If that work fails while it makes a second version of an answer, the first version becomes the answer. */
  async function orFirstStands (work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      if (!mayFirstStand(log.events, live.signal)) throw error
      deps.log.warn({ err: error, runId: run.record.runId }, 'no second version of an answer came; the first stands')
      executed.answer = firstObject(log.events)
      executed.isAccepted = isGivenUp = true
    }
  }

  const actions: RunActions = {
    async next () {
      if (isGivenUp) {
        isGivenUp = false
        return await live.endUnlessSteered() ? 'end' : 'step'
      }
      if (executed.isWaiting) {
        // Messages of the user wait for the next segment.
        await live.endSteering()
        return 'end'
      }
      const isOwed = await attempt.owed() !== undefined
      const action = await guarded(executed.answer !== undefined ? 'judge' : nextAction(log.events, { ...run.record, isOwed }))
      // If the user sends a message during the review, this answer is not the last one.
      if (action === 'judge' && await live.isSteered()) return 'step'
      if (action !== 'judge' || !executed.isAccepted) return action
      return await live.endUnlessSteered() ? 'end' : 'step'
    },
    step: () => orFirstStands(step()),
    async settle () {
      const work = orFirstStands(settleNow())
      settling.add(work)
      await work.finally(() => settling.delete(work))
    },
    judge: () => orFirstStands(judge())
  }

  const quiet = () => Promise.allSettled(settling)
  const executed: ExecutedRun = { actions, items, isWaiting: false, asked: [], isAccepted: false, quiet }
  return executed
}

/** Returns the texts that a model gets in addition to the messages of the run. */
function besides (events: readonly RunEvent[], { placement, given, hasRecalled }: RunPrompt) {
  const { context } = events.findLast((event) => event.type === 'context') ?? {}
  return {
    hasMemory: hasRecalled || context?.system.some((text) => text.includes(MEMORY_FOLLOWS)),
    guide: context?.guide?.text,
    skills: context?.skills?.join('\n'),
    given,
    hasOlder: placement.older !== undefined
  }
}
