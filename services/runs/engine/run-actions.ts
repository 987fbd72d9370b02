import { createAddressGate } from '../../approvals/index.ts'
import { takeAnswer } from '../answers/take-answer.ts'
import { withoutDroppedTries } from '../run-log/cut-steps.ts'
import { joinDeltas } from '../run-log/stored-event.ts'
import { type EventOf, newestStep, openCalls, type RunEvent } from '../../contracts/run-events.ts'
import { noUsage } from '../../usage/index.ts'
import { MEMORY_FOLLOWS, PHASE_TOOL } from '../../contracts/model-texts.ts'
import type { RunRecord } from '../run-record.ts'
import type { EngineDeps, RunAttempt } from './attempt.ts'
import type { AskedCall } from '../../contracts/call.ts'
import { type NextAction, type RunActions, nextAction } from './drive.ts'
import { createRepetitions } from './repetitions.ts'
import { askAgain, isCutTwice, LATE_MS, lateAnswer, REPEATED } from './stopping.ts'
import { createModelCalls, directOutput, type ModelCalls } from './model-calls.ts'
import type { RunItems } from './asked-items.ts'
import type { RunOwner } from './run-owner.ts'
import { settleStep } from './settle-step.ts'

/** What an attempt at a run begins with. */
interface Start {
  /** What the run has asked before. */
  items: RunItems
  /** Makes the model calls; given if the first one was begun beforehand. */
  callModel?: ModelCalls
}

export type ExecutedRun = ReturnType<typeof createRunActions>

/**
 * The actions of one attempt at a run. Its state is the record and the log of the run, so that a later attempt goes on where this one was
 * ended. `waiting` and `asked` say what the run waits for when `next` has returned `end`.
 */
export function createRunActions<R extends RunRecord> (
  attempt: RunAttempt<R>,
  owner: RunOwner<R>,
  deps: EngineDeps,
  { items, callModel }: Start
) {
  const { live, commit } = attempt
  const { run } = live
  const { log } = run
  /** The events of the model call under way, of runs whose steps are stored as a whole. */
  let held: RunEvent[] = []
  const output = owner.storesSteps
    ? { ...directOutput(live), append: (event: RunEvent) => void held.push(event) }
    : directOutput(live)
  const call = callModel ?? createModelCalls(attempt, owner, deps, output)
  /** The end of the newest step, which the settlement of its calls appends. */
  let stepFinish: EventOf<'step-finish'> | undefined
  let waiting: AskedCall[] | undefined
  /** The structured answer that the newest step has given. Readers get it when it is accepted. */
  let answer: EventOf<'object'> | undefined
  let isAccepted = false
  /** A first step that was begun beforehand has events in the log before it is made here. */
  let isBegun = callModel !== undefined
  const settling = new Set<Promise<unknown>>()
  const repetitions = createRepetitions(deps.clock)
  const addresses = createAddressGate({
    store: deps.store,
    place: owner.place,
    prompt: owner.prompt,
    said: owner.said,
    besides: () => besides(log.events, owner),
    attached: owner.attached,
    events: () => log.events,
    find: owner.tools.find,
    isAsked: owner.asksAddresses,
    now: deps.clock.now
  })
  /** The newest step that was looked at for repetitions. */
  let looked = run.record.steps

  const isLast = () => run.record.steps > run.record.maxSteps

  /** Tells the model something before its next step. */
  async function tell (text: string): Promise<void> {
    const message: RunEvent = { type: 'message', text, isRetry: true }
    if (owner.storesSteps) await commit({ finalEvents: [message] })
    else log.append(message)
  }

  /** Lets an answer that is none be given once more, and ends a run that repeats itself or whose calls are too long for the model. */
  async function guarded (action: NextAction): Promise<NextAction> {
    const { steps } = run.record
    if (action === 'judge') {
      const note = answer !== undefined || isLast() ? undefined : askAgain(log.events)
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
    if (repetition === 'stopped') {
      const changes = { maxSteps: steps, isRepeating: true } as Partial<R>
      if (owner.storesSteps) await commit({ changes })
      else run.record = { ...run.record, ...changes }
    }
    return action
  }

  async function step (): Promise<void> {
    isAccepted = false
    isBegun = false
    answer = undefined
    if (!owner.storesSteps) deps.runs.saveSoon(run)
    held = []
    stepFinish = await call()
    held = [...withoutDroppedTries(held)]
    const events = owner.storesSteps ? held : newestStep(log.events)
    const calls = events.filter(({ type }) => type === 'tool-input' || type === 'tool-input-error')
    const isSettled = openCalls(events).length === 0 && await attempt.owed() === undefined
    const end = isSettled ? [stepFinish] : []
    const toolCount = run.record.toolCount + calls.filter((event) => 'toolName' in event && event.toolName !== PHASE_TOOL).length
    const changes = { toolCount } as Partial<R>
    if (owner.storesSteps) await commit({ finalEvents: [...joinDeltas(held), ...end], changes })
    else {
      run.record = { ...run.record, ...changes }
      end.forEach(log.append)
    }
    if (isSettled) stepFinish = undefined
    owner.told?.stepMade(events)
  }

  async function settleNow (): Promise<void> {
    const { asked, isWaiting } = await settleStep(attempt, owner, { items, addresses }, deps)
    if (isWaiting) {
      waiting = asked
      return
    }
    const newest = newestStep(log.events)
    const owed = await attempt.owed()
    // The tokens of a step that a crash cut off from its end are part of the run's total.
    const cut = (): RunEvent => ({ type: 'step-finish', step: run.record.steps, finishReason: 'tool-calls', usage: noUsage() })
    const end = newest.some(({ type }) => type === 'step-finish') ? [] : [stepFinish ?? cut()]
    stepFinish = undefined
    const waitedMs = items.waitedMs(newest.flatMap((event) => event.type === 'tool-input' ? [event.toolCallId] : []))
    // Told in one write with the end of the step.
    const late = () => waitedMs < LATE_MS ? Promise.resolve() : tell(lateAnswer(waitedMs, deps.clock.now()))
    if (owed === undefined) {
      end.forEach(log.append)
      return late()
    }
    const { retry, ...taken } = takeAnswer(log.events, owed, { isLast: isLast() })
    const { outcomes } = taken
    answer = taken.answer
    const events = [...outcomes, ...end, retry].filter((event) => event !== undefined)
    if (owner.storesSteps) {
      await commit({
        finalEvents: answer === undefined ? events : [...events, answer],
        changes: (answer === undefined ? {} : { object: answer.object }) as Partial<R>
      })
    } else events.forEach(log.append)
    if (answer === undefined) await late()
    for (const event of outcomes) {
      if (event.type !== 'tool-output' && event.type !== 'tool-error') continue
      const { toolCallId, toolName } = event
      const given = newest.find((each) => each.type === 'tool-input' && each.toolCallId === toolCallId) as EventOf<'tool-input'> | undefined
      owner.told?.callEnded({ toolCallId, toolName, input: given?.input }, event)
    }
  }

  async function judge (): Promise<void> {
    const { refinement, changes, told } = await owner.review({ isLast: isLast(), object: answer?.object }) ?? {}
    if (refinement !== undefined) answer = undefined
    const message: RunEvent[] = refinement === undefined ? [] : [{ type: 'message', text: refinement, isReview: true }]
    if (changes !== undefined) await commit({ finalEvents: message, changes })
    else message.forEach(log.append)
    told?.()
    isAccepted = refinement === undefined
  }

  const actions: RunActions = {
    async next () {
      if (waiting !== undefined) {
        // What the user has said is for the segment after this one.
        await live.endSteering()
        return 'end'
      }
      const isOwed = await attempt.owed() !== undefined
      const action = isBegun
        ? 'step'
        : await guarded(answer !== undefined ? 'judge' : nextAction(log.events, { ...run.record, isOwed }))
      // The user may say something during the review, too; then the answer is not the last word.
      if (action === 'judge' && await live.isSteered()) return 'step'
      if (action !== 'judge' || !isAccepted) return action
      return await live.endUnlessSteered() ? 'end' : 'step'
    },
    step,
    async settle () {
      const work = settleNow()
      settling.add(work)
      await work.finally(() => settling.delete(work))
    },
    judge
  }

  return {
    actions,
    items,
    /** Whether the run must wait. */
    get isWaiting () {
      return waiting !== undefined
    },
    /** The calls that the run must ask for. */
    get asked (): readonly AskedCall[] {
      return waiting ?? []
    },
    /** The end of the step whose calls wait; undefined if it has its end already. */
    get stepFinish () {
      return stepFinish
    },
    /** The structured answer, of a run that does not store its steps: readers get it last. */
    get answer () {
      return owner.storesSteps ? undefined : answer
    },
    /** Whether the answer was accepted. */
    get isAccepted () {
      return isAccepted
    },
    /** Resolves when no call is running. */
    quiet: () => Promise.allSettled(settling)
  }
}

/** Returns what a model knows of a run beside its prompt. */
function besides (events: readonly RunEvent[], { placement, given, hasRecalled }: Pick<RunOwner, 'placement' | 'given' | 'hasRecalled'>) {
  const { context } = events.findLast((event) => event.type === 'context') ?? {}
  return {
    hasMemory: hasRecalled || context?.system.some((text) => text.includes(MEMORY_FOLLOWS)),
    guide: context?.guide?.text,
    skills: context?.skills?.join('\n'),
    given,
    hasOlder: placement.older !== undefined
  }
}
