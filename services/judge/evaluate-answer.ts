import type { LanguageModelV4 } from '@ai-sdk/provider'
import { EvaluationSchema, type Analysis, type Evaluation } from '../../schemas/agent.ts'
import type { Clock } from '../lib/clock.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import { answerText } from '../run-log/fold.ts'
import { askStructured } from '../models/structured-call.ts'

/** Deadline of the evaluation; milliseconds. Without an answer in time there is no evaluation. */
const EVALUATION_MS = 15_000
const ANSWER_SHOWN = 16_000
const CALLS_SHOWN = 50

const INSTRUCTIONS = 'Judge the answer against the goal and the criteria, by the evidence of the tool calls. ' +
  'Be strict about what is missing, claimed but not done, or wrong. Answer with the JSON object only.'

/** Judges a finished answer with the model of role `fast`; undefined when the model gives no valid evaluation. */
export async function evaluateAnswer ({ load, analysis, events, signal, clock }: {
  load: () => Promise<{ model: LanguageModelV4 }>,
  analysis: Analysis,
  events: readonly RunEvent[],
  signal: AbortSignal,
  clock: Clock
}): Promise<Evaluation | undefined> {
  const text = [
    `Goal: ${analysis.goal}`,
    `Criteria:\n${analysis.qualityCriteria.map((criterion) => `- ${criterion}`).join('\n') || '- the goal is reached'}`,
    `Tool calls:\n${evidence(events).join('\n') || '- none'}`,
    `Answer:\n${answerText(events).slice(0, ANSWER_SHOWN)}`
  ].join('\n\n')
  const answer = await askStructured({
    load,
    name: 'evaluation',
    schema: EvaluationSchema,
    instructions: INSTRUCTIONS,
    text,
    limitMs: EVALUATION_MS,
    signal,
    clock
  })
  return 'value' in answer ? answer.value : undefined
}

/** One line for each tool call: its input and its outcome. */
function evidence (events: readonly RunEvent[]): string[] {
  const outcomes = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'tool-output') outcomes.set(event.toolCallId, 'done')
    if (event.type === 'tool-error') outcomes.set(event.toolCallId, `failed: ${event.errorText.slice(0, 200)}`)
    if (event.type === 'tool-denied') outcomes.set(event.toolCallId, 'denied by the user')
  }
  return events.flatMap((event) =>
    event.type === 'tool-input'
      ? [`- ${event.toolName} ${JSON.stringify(event.input).slice(0, 200)}: ${outcomes.get(event.toolCallId) ?? 'no result'}`]
      : []
  ).slice(-CALLS_SHOWN)
}

/** The message to the model for its one refinement. */
export const refinementPrompt = ({ issues }: Evaluation) =>
  'A review of your answer found:\n' + issues.map((issue) => `- ${issue}`).join('\n') +
  '\nMend this now, with the tools if need be, and give the improved answer. Do not repeat what was right.'
