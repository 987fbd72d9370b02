import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import type { RunEvent } from '../../run-log/run-events.ts'
import { foldToModelMessages } from '../../run-log/fold.ts'
import type { TaskMain, WorkerEnd } from './worker-rpc.ts'

/** The main thread has made of every output what a model may see of it. */
const asGiven = (output: object) => output as LanguageModelV4ToolResultOutput

/**
 * The loop of one task run: model, tools, model, … until there is an answer that may stand, or a person must be asked.
 * It holds nothing that the main thread has not on disk, so it may be ended at any time and begun again.
 */
export async function taskLoop (main: TaskMain): Promise<WorkerEnd> {
  const { system, request, events } = await main.begin()
  const opening: LanguageModelV4Prompt = [{ role: 'system', content: system }, { role: 'user', content: [{ type: 'text', text: request }] }]
  const log: RunEvent[] = [...events]
  let next = nextAfter(log)
  for (;;) {
    if (next === 'settle') {
      const settled = await main.settle()
      if (settled.waiting) return 'waiting'
      log.push(...settled.events)
      next = 'step'
    } else if (next === 'evaluate') {
      const verdict = await main.evaluate()
      if (verdict.next === 'end') return 'answered'
      log.push(...verdict.events)
      next = 'step'
    } else {
      const turn = await main.step([...opening, ...foldToModelMessages(log, asGiven)])
      log.push(...turn.events)
      next = turn.next
    }
  }
}

/** Where a run goes on from: the calls of its last step may be open, its answer may not have been judged. */
export function nextAfter (events: readonly RunEvent[]): 'settle' | 'step' | 'evaluate' {
  if (openCalls(events).length > 0) return 'settle'
  const last = events.at(-1)
  return last?.type === 'step-finish' && !callsOfLastStep(events) ? 'evaluate' : 'step'
}

/** The calls that have no outcome yet. */
export function openCalls (events: readonly RunEvent[]) {
  const open = new Map<string, Extract<RunEvent, { type: 'tool-input' }>>()
  for (const event of events) {
    if (event.type === 'tool-input') open.set(event.toolCallId, event)
    if (event.type === 'tool-output' || event.type === 'tool-error' || event.type === 'tool-denied') open.delete(event.toolCallId)
  }
  return [...open.values()]
}

function callsOfLastStep (events: readonly RunEvent[]): boolean {
  const start = events.findLastIndex(({ type }) => type === 'step-start')
  return events.slice(start).some(({ type }) => type === 'tool-input' || type === 'tool-input-error')
}
