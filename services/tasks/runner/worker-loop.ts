import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import { type RunEvent, openCalls } from '../../contracts/run-events.ts'
import { foldToModelMessages } from '../../run-log/fold.ts'
import type { TaskMain, WorkerEnd } from './worker-rpc.ts'

/** The main thread has already reduced every output to the form that a model may see. */
const unchanged = (output: object) => output as LanguageModelV4ToolResultOutput

/**
 * The loop of one task run: model, tools, model, … until the judge accepts the answer or a person must decide. All of
 * its state is on disk, written by the main thread, so the loop may be ended at any time and started again.
 */
export async function taskLoop (main: TaskMain): Promise<WorkerEnd> {
  const { request, events } = await main.begin()
  const opening: LanguageModelV4Prompt = [{ role: 'user', content: [{ type: 'text', text: request }] }]
  const log: RunEvent[] = [...events]
  let next = nextAfter(log)
  for (;;) {
    if (next === 'settle') {
      const settled = await main.settle()
      if (settled.waiting) return 'waiting'
      log.push(...settled.events)
      next = nextAfter(log)
    } else if (next === 'evaluate') {
      const verdict = await main.evaluate()
      if (verdict.next === 'end') return 'answered'
      log.push(...verdict.events)
      next = 'step'
    } else {
      const result = await main.step([...opening, ...foldToModelMessages(log, unchanged)])
      log.push(...result.events)
      next = result.next
    }
  }
}

/** The action with which a run continues: settle open calls, evaluate an answer that was not judged yet, or make the next step. */
export function nextAfter (events: readonly RunEvent[]): 'settle' | 'step' | 'evaluate' {
  if (openCalls(events).length > 0) return 'settle'
  const last = events.at(-1)
  if (last?.type === 'object') return 'evaluate'
  return last?.type === 'step-finish' && !hasCallsInLastStep(events) ? 'evaluate' : 'step'
}

function hasCallsInLastStep (events: readonly RunEvent[]): boolean {
  const start = events.findLastIndex(({ type }) => type === 'step-start')
  return events.slice(start).some(({ type }) => type === 'tool-input' || type === 'tool-input-error')
}
