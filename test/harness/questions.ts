import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import type { Sent } from './sse.ts'

/** A required question with two options. */
export const FORMAT = {
  id: 'format',
  text: 'Which format should it have?',
  options: [{ value: 'md', label: 'Markdown' }, { value: 'pdf', label: 'PDF' }],
  required: true
}

/** Returns the plan of a model that asks its user. */
export const asking = (...questions: object[]): Plan => ({
  toolCalls: [{ toolName: 'askUser', input: { questions: questions.length === 0 ? [FORMAT] : questions } }]
})

/** Returns the question requests in a stream. */
export const questionsIn = (events: Sent[]): Sent[] => events.filter(({ type }) => type === 'question-request')

/** Answers by the documented route of a run, `POST /run/approve`. */
export async function answerByRun (app: App, approvalId: string, part: object, extra: object = {}) {
  const response = await app.inject({
    method: 'POST',
    url: '/run/approve',
    payload: { messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId, ...part }] }], ...extra }
  })
  return { status: response.statusCode, text: response.body }
}
