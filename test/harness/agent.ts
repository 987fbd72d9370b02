import type { App } from '../../app.ts'
import { parseEvents, type Sent } from './sse.ts'

type Extra = { id?: string, context?: { cwd?: string }, [key: string]: unknown }

export interface Answer {
  status: number
  events: Sent[]
  body: any
  headers: Record<string, any>
}

async function post (app: App, url: string, payload: object): Promise<Answer> {
  const response = await app.inject({ method: 'POST', url, payload })
  const isStream = String(response.headers['content-type']).startsWith('text/event-stream')
  // Only streams in the chat protocol end with a line that is not JSON.
  const text = response.headers['x-vercel-ai-ui-message-stream'] ? response.body.replace(/data: \[DONE\]\n\n$/, '') : response.body
  return {
    status: response.statusCode,
    headers: response.headers,
    events: isStream ? parseEvents(text) : [],
    body: isStream ? undefined : response.json()
  }
}

/** Sends one user message to the agent. */
export const say = (app: App, content: string, extra: Extra = {}): Promise<Answer> =>
  post(app, '/run', { messages: [{ role: 'user', content }], ...extra })

/** Sends the messages of a conversation, as a client that stores it does. */
export const sayAll = (app: App, messages: object[], extra: Extra = {}): Promise<Answer> => post(app, '/run', { messages, ...extra })

/** Answers approval requests in the documented way, with the shortest history that a client may send. */
export const answer = (app: App, decisions: Record<string, unknown>, extra: Extra = {}): Promise<Answer> =>
  post(app, '/run/approve', {
    messages: [
      { role: 'user', content: 'whatever' },
      {
        role: 'tool',
        content: Object.entries(decisions).map(([approvalId, approved]) => ({ type: 'tool-approval-response', approvalId, approved }))
      }
    ],
    ...extra
  })

/** Returns the ids of the approval requests in a stream. */
export const asked = (events: Sent[]): string[] => of(events, 'tool-approval-request').map(({ approvalId }) => approvalId)

export const of = (events: Sent[], type: string): Sent[] => events.filter((event) => event.type === type)

/** Returns true for the last model call of a run whose steps are used up. Tool calls in its answer are not executed. */
export const isLastWord = ({ body }: { body: any }): boolean => /no tool runs any more/.test(JSON.stringify(body.prompt.at(-1)))
