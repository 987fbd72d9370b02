import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { withGateway } from './with-gateway.ts'

const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false }

/** Tools of an application: one that only reads, and one that changes a document. */
export const READ = { name: 'openDocument', description: 'Opens a document.', inputSchema: schema, effect: 'read' }
export const WRITE = { name: 'saveDocument', description: 'Saves the open document.', inputSchema: schema, effect: 'write' }
export const OPTIONS = { appTools: [READ, WRITE], app: 'editor' }

export const calls = (...toolNames: string[]): Plan => ({
  toolCalls: toolNames.map((toolName) => ({
    toolName,
    input: toolName === 'writeFile' ? { path: 'a.txt', content: 'x' } : toolName === 'listDirectory' ? {} : { name: 'Budget' }
  }))
})

type Settings = Parameters<typeof withGateway>[2]

/** Starts the service with a model that answers with these plans, one for each step of the conversation. */
export const withTurns = (t: Parameters<typeof withGateway>[0], turns: Plan[], settings: Settings = {}) =>
  withGateway(t, ({ body: { prompt } }) => {
    const steps = prompt.filter(({ role }: { role: string }) => role === 'assistant').length
    return turns[steps] ?? { text: ['Done.'] }
  }, settings)

/** Answers a call of the application, or claims it. */
export async function answerCall (app: App, id: string, payload: object): Promise<{ status: number, body: any }> {
  const response = await app.inject({ method: 'POST', url: `/tool-calls/${id}`, payload })
  return { status: response.statusCode, body: response.json() }
}

export const openCalls = async (app: App, query = ''): Promise<any[]> => (await app.inject(`/tool-calls${query}`)).json().toolCalls

/** Returns the results of calls that the model received, from the newest request that holds any. */
export const toldResults = ({ requests }: { requests: Array<{ body: any }> }): any[] =>
  requests.map(({ body: { prompt } }) => prompt.flatMap(({ role, content }: any) => role === 'tool' ? content : []))
    .findLast((results) => results.length > 0)?.map(({ output }: any) => output) ?? []

/** Resolves to the thread when its run has ended and nothing waits. */
export async function settled (app: App, threadId: string): Promise<any> {
  for (;;) {
    const thread = (await app.inject(`/threads/${threadId}`)).json()
    const { role, content, parts = content } = thread.messages.at(-1)
    if (thread.status === 'idle' && role === 'assistant' && parts.at(-1)?.type === 'text') return thread
    await new Promise(setImmediate)
  }
}

/** Resolves to the first open call, as soon as there is one. */
export async function nextCall (app: App): Promise<any> {
  for (;;) {
    const [call] = await openCalls(app)
    if (call !== undefined) return call
    await new Promise(setImmediate)
  }
}
