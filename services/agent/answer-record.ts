import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { isHeld, type RunEvent } from '../contracts/run-events.ts'
import {
  foldToModelMessages,
  foldToUIMessage,
  itemsIn,
  type Run,
  segmentStart,
  steeringIn,
  steerOf,
  type ThreadRun,
  type UIAnswer
} from '../runs/index.ts'
import { markOf, REVISION_MARK, steerMessage, type ThreadMessage, withChatForm } from '../threads/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { continuedMessage } from './message-import.ts'
import type { Op } from '../store/index.ts'

/** How a run of a conversation ends. `interrupted`: the service ended first. `cancelled`: left by its client, or superseded. */
export type RunEnd = 'completed' | 'failed' | 'stopped' | 'cancelled' | 'interrupted'

const asJson = (output: Record<string, unknown>) => ({ type: 'json' as const, value: output as never })

/** Returns the messages of a run's answer so far, in the SDK's ModelMessage format, with what the user said meanwhile. */
export function answerMessages (events: readonly RunEvent[]): ThreadMessage[] {
  const asMessage = (event: Parameters<typeof steerOf>[0]) => steerMessage(steerOf(event), false) as never
  const shown = events.flatMap((event) => isHeld(event) ? [] : event.type === 'revision' ? revisionEvents(event.text) : [event])
  const messages = foldToModelMessages(shown, asJson, asMessage) as LanguageModelV4Prompt as ThreadMessage[]
  const left = steeringIn(events).filter(({ state }) => state !== 'read')
  return [
    ...messages.filter((message) => message.role !== 'user' || markOf(message) !== undefined),
    ...left.map((event) => steerMessage(steerOf(event), false))
  ]
}

/** The second version of an answer, as a message behind the first one. */
const revisionEvents = (delta: string): RunEvent[] => [
  { type: 'step-start', step: 0 },
  { type: 'text-start', id: 'revision', providerMetadata: REVISION_MARK },
  { type: 'text-delta', id: 'revision', delta },
  { type: 'text-end', id: 'revision' }
]

/** Returns the answer that a run's events make, as the thread stores it: in the client's format. */
async function answerOf (
  { record, messages }: Pick<Run<ThreadRun>, 'record' | 'messages'>,
  events: readonly RunEvent[],
  { ledger }: Pick<AgentDeps, 'ledger'>
): Promise<ThreadMessage[]> {
  const answered = (await ledger.all(itemsIn(events))).filter((item) => item.kind === 'tool')
  const unread = (isChat: boolean) =>
    steeringIn(events).flatMap((event) => event.state === 'unread' ? [steerMessage(steerOf(event), isChat)] : [])
  if (record.protocol === undefined || record.protocol === 'documented') {
    const answer = answerMessages(events).filter((message) => markOf(message)?.state !== 'unread')
    return [...withChatForm(answer, foldToUIMessage(events, { answered })), ...unread(false)]
  }
  const base = continuedMessage(messages) === undefined ? undefined : messages.at(-1) as Partial<UIAnswer>
  const message = foldToUIMessage(events, { ui5: record.protocol === 'ui5', ui7: record.protocol === 'ui7', answered, base })
  // A message without parts never reached the client.
  return [...message.parts.length > 0 ? [message] : [], ...unread(true)]
}

/**
 * Returns the operations that store the answer, made of the run's events and `finalEvents`, in the thread. `asked`: the items that the run
 * waits for.
 */
export async function recordAnswer (
  run: Pick<Run<ThreadRun>, 'record' | 'log' | 'messages'>,
  { threads, ledger }: Pick<AgentDeps, 'threads' | 'ledger'>,
  finalEvents: readonly RunEvent[] = [],
  asked: string[] = itemsIn(finalEvents)
): Promise<Op[]> {
  // Of a rehearsal the thread holds nothing.
  if (run.record.sheet !== undefined) return []
  const answer = await answerOf(run, [...run.log.events, ...finalEvents], { ledger })
  return threads.appendAnswer(run.record.threadId, run.record.answerAt, answer, asked.length > 0 ? { asked } : {})
}

/**
 * Returns what the thread will hold in place of the answer that it has while a run goes on after it waited, up to the last outcome of a
 * call; `at` is its position. Undefined for other runs: their answers come with the end of their first segment.
 */
export async function answerSoFar (
  run: Run<ThreadRun>,
  deps: Pick<AgentDeps, 'ledger'>
): Promise<{ at: number, messages: ThreadMessage[] } | undefined> {
  const { record, log: { events } } = run
  const last = events.findLastIndex(({ type }) => OUTCOMES.has(type))
  if (record.segment === 0 || last < segmentStart(events, record.segment)) return undefined
  return { at: record.answerAt, messages: await answerOf(run, events.slice(0, last + 1), deps) }
}

const OUTCOMES = new Set<RunEvent['type']>(['tool-output', 'tool-error', 'tool-denied'])

/**
 * Ends a segment: stores the answer, the events and the guide of the folder as known. Without an `end`, the run waits. Readers get the
 * final events only when everything before them is on disk.
 */
export async function endSegment (
  run: Run<ThreadRun>,
  deps: Pick<AgentDeps, 'runs' | 'threads' | 'ledger' | 'guides'>,
  { finalEvents, ops = [], end }: { finalEvents: RunEvent[], ops?: Op[], end?: RunEnd }
) {
  await run.saved
  const told = run.log.events.find((event) => event.type === 'context')
  if (told?.context.guide !== undefined && run.record.sheet === undefined) await deps.guides.markKnown(told.context.guide)
  const answer = await recordAnswer(run, deps, finalEvents)
  await deps.runs.commit(run, { finalEvents, ops: [...ops, ...answer], status: end ?? 'pending_approval' })
}
