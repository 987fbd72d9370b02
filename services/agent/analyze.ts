import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { AnalysisQuestionSchema, AnalysisSchema, type Analysis } from '../../schemas/agent.ts'
import type { Clock } from '../lib/clock.ts'
import { askStructured } from '../models/structured-call.ts'

/** The time limit of the analysis; after it the request counts as `standard`. Milliseconds. */
const ANALYSIS_MS = 2_000
/** Characters of the request that the fast model gets. */
const TEXT_SHOWN = 4_000
/** The maximum length of a task's goal, characters. */
const LONGEST_GOAL = 20_000

const INSTRUCTIONS = 'Classify the request. simple: an answer or one look-up; standard: a few steps with tools; ' +
  'complex: many steps, research or judgement; long_running: work to repeat, to watch or to do in the background. ' +
  'Answer with the JSON object only.'

/** Classifies a request with the model of role `fast`. If the analysis fails, the complexity is `standard`. Rejects only on abort. */
export async function analyze ({ load, prompt, signal, clock }: {
  load: () => Promise<{ model: LanguageModelV4 }>,
  prompt: LanguageModelV4Prompt,
  signal: AbortSignal,
  clock: Clock
}): Promise<Analysis> {
  const request = lastUserText(prompt)
  const answer = await askStructured({
    load,
    name: 'analysis',
    schema: AnalysisSchema,
    asked: AnalysisQuestionSchema,
    instructions: INSTRUCTIONS,
    text: request.slice(0, TEXT_SHOWN),
    limitMs: ANALYSIS_MS,
    signal,
    clock
  })
  return 'value' in answer
    ? normalize(answer.value, request)
    : {
        complexity: 'standard',
        goal: request.slice(0, 200),
        thinking: `The analysis ${answer.problem}; taking this as a standard request.`,
        qualityCriteria: []
      }
}

/** Removes the interval of a request that is not long-running, and gives a task the user's full text if the model saw only a part. */
function normalize ({ interval = '', ...analysis }: Analysis, request: string): Analysis {
  if (analysis.complexity !== 'long_running') return analysis
  const goal = request.length > TEXT_SHOWN || analysis.goal.trim() === '' ? request.slice(0, LONGEST_GOAL) : analysis.goal
  return { ...analysis, goal, ...(interval.trim() !== '' && { interval }) }
}

function lastUserText (prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === 'user')
  return message?.role === 'user' ? message.content.map((part) => part.type === 'text' ? part.text : '').join('\n') : ''
}
