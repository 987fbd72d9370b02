import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { Type } from '@sinclair/typebox'
import { Aborted } from '../abort.ts'
import type { Clock } from '../clock/clock.ts'
import type { Analysis } from '../runlog/events.ts'
import { orAbort } from './model-call.ts'

const AnalysisSchema = Type.Object({
  complexity: Type.Union([Type.Literal('simple'), Type.Literal('standard'), Type.Literal('complex'), Type.Literal('long_running')]),
  goal: Type.String({ description: 'What the user wants, in one sentence' }),
  thinking: Type.String({ description: 'How you read the request, in one or two sentences' }),
  qualityCriteria: Type.Array(Type.String({ description: 'What a good answer must hold' }))
}, { additionalProperties: false })

/** The fast model has this long; then the request is taken as a standard one. Milliseconds. */
const ANALYSIS_MS = 2_000
const TEXT_SHOWN = 4_000

const INSTRUCTIONS = 'Classify the request. simple: an answer or one look-up; standard: a few steps with tools; ' +
  'complex: many steps, research or judgement; long_running: work to repeat, to watch or to do in the background. ' +
  'Answer with the JSON object only.'

/** Classifies a request with the role `fast`. Never fails: what cannot be analysed is `standard`. */
export async function analyze ({ load, prompt, signal, clock }: {
  load: () => Promise<{ model: LanguageModelV4 }>, prompt: LanguageModelV4Prompt, signal: AbortSignal, clock: Clock
}): Promise<Analysis> {
  const request = lastUserText(prompt)
  const overdue = new AbortController()
  const done = new AbortController()
  clock.sleep(ANALYSIS_MS, done.signal).then(() => overdue.abort(new Aborted('timeout')), () => {})
  const either = AbortSignal.any([signal, overdue.signal])
  try {
    const [{ model }, { Value }] = await Promise.all([load(), import('@sinclair/typebox/value')])
    const { content } = await orAbort(model.doGenerate({
      prompt: [{ role: 'system', content: INSTRUCTIONS }, { role: 'user', content: [{ type: 'text', text: request.slice(0, TEXT_SHOWN) }] }],
      responseFormat: { type: 'json', name: 'analysis', schema: AnalysisSchema as never },
      maxOutputTokens: 1_000,
      abortSignal: either
    }), either)
    const text = content.map((part) => part.type === 'text' ? part.text : '').join('')
    const analysis: unknown = JSON.parse(text.replace(/^\s*```(?:json)?|```\s*$/g, ''))
    if (Value.Check(AnalysisSchema, analysis)) return analysis
    return fallback(request, 'The analysis could not be read')
  } catch {
    signal.throwIfAborted()
    return fallback(request, overdue.signal.aborted ? 'The analysis took too long' : 'The analysis failed')
  } finally {
    done.abort()
  }
}

function fallback (request: string, why: string): Analysis {
  return { complexity: 'standard', goal: request.slice(0, 200), thinking: `${why}; taking this as a standard request.`, qualityCriteria: [] }
}

function lastUserText (prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === 'user')
  return message?.role === 'user' ? message.content.map((part) => part.type === 'text' ? part.text : '').join('\n') : ''
}
