import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { RunEvent } from '../runlog/events.ts'
import { fold } from '../runlog/fold.ts'
import type { ThreadMessage } from '../threads/threads.ts'
import type { AgentDeps } from './deps.ts'
import { commit, type Run } from './run.ts'
import type { Op } from '../store/contract.ts'

const whole = (output: Record<string, unknown>) => ({ type: 'json' as const, value: output as never })

/** The messages of a run's answer so far, in the SDK's ModelMessage format. */
export function answerMessages (events: readonly RunEvent[]): ThreadMessage[] {
  return (fold(events, whole) as LanguageModelV4Prompt as ThreadMessage[]).filter(({ role }) => role !== 'user')
}

/** The operations that make the thread's answer what the run's events are, with those of `tail`. */
export const recordAnswer = ({ head, log }: Run, { threads }: Pick<AgentDeps, 'threads'>, tail: RunEvent[] = []): Promise<Op[]> =>
  threads.answer(head.threadId, head.answerAt, answerMessages([...log.events, ...tail]))

/**
 * Ends a segment: the thread gets the answer, a durable run its events, and only then readers see the last events.
 * What the user had typed is on disk by then, too.
 */
export async function conclude (run: Run, deps: Pick<AgentDeps, 'store' | 'clock' | 'threads'>, { tail, ops = [] }: { tail: RunEvent[], ops?: Op[] }) {
  await run.saved
  const answer = await recordAnswer(run, deps)
  if (run.durable || ops.length > 0) return commit(run, deps, { tail, ops: [...ops, ...answer] })
  await deps.store.transact(answer)
  tail.forEach(run.log.append)
}
