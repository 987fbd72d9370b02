import type { App } from '../../app.ts'
import { AgentError, createAgent, type AgentRun } from '../../client/index.ts'
import { decide } from '../harness/approval-doors.ts'
import { openChat, waiting } from './chat.ts'
import { versions, type Version } from './versions.ts'

/** A conversation with a client of one kind, in the middle of its first answer. */
export interface Talk {
  id: string
  cwd: string
  /** Resolves when the client shows this. */
  shows (text: string): Promise<void>
  steer (message: string, id?: string): Promise<{ status: number, id?: string, state?: string, code?: string }>
  stop (): Promise<unknown>
  /** Resolves when the first answer has ended or waits. */
  ended: Promise<void>
  /** Approves what the answer waits for, and reads on to its end. */
  approve (): Promise<void>
  /** Says the next message. */
  say (text: string): Promise<void>
  /** The states in which the client shows what was said to the run, in order. */
  states (): string[]
}

export interface Kind {
  name: string
  open (app: App, id: string): Promise<Omit<Talk, 'id' | 'cwd' | 'steer' | 'stop'>>
}

const tick = () => new Promise(setImmediate)
export const post = async (app: App, url: string, payload: object = {}) => {
  const response = await app.inject({ method: 'POST', url, payload })
  return { status: response.statusCode, ...response.json() }
}

const chatKind = (version: Version, protocol: string): Kind => ({
  name: `a chat of ${version.name} in ${protocol}`,
  async open (app, id) {
    const { lastAssistantMessageIsCompleteWithApprovalResponses: sendAutomaticallyWhen } = version.release
    const path = `/run?protocol=${protocol}`
    const chat = await openChat(app, version, { id, path, ...(version.approvals && { sendAutomaticallyWhen }) })
    const shown = () => JSON.stringify(chat.chat.messages.slice(1))
    return {
      async shows (text) {
        while (!shown().includes(text)) await tick()
      },
      ended: chat.say(id),
      async approve () {
        // The page is reloaded meanwhile.
        const reload = async () => {
          chat.chat.messages = (await app.inject(`/threads/${encodeURIComponent(id)}?protocol=${protocol}`)).json().messages
        }
        if (version.approvals) {
          await reload()
          return chat.andOn(() => chat.chat.addToolApprovalResponse({ id: waiting(chat)[0], approved: true }))
        }
        const { approvalId } = chat.parts.find(({ type }) => type === 'data-approval-request').data
        const content = [{ type: 'tool-approval-response', approvalId, approved: true }]
        await app.inject({ method: 'POST', url: '/run/approve?protocol=ui5', payload: { messages: [{ role: 'tool', content }] } })
        await reload()
      },
      say: async (text) => {
        await chat.say(text)
        const failures = chat.errors.filter(({ message }) => !/does not know the model/.test(message))
        if (failures.length > 0) throw failures[0]
      },
      states () {
        const newest = new Map<string, string>()
        for (const { type, id, data } of chat.chat.messages.flatMap(({ parts }) => parts as any[])) {
          if (type === 'steering-message' || type === 'data-steer') newest.set(id, data?.state ?? 'read')
        }
        return [...newest.values()]
      }
    }
  }
})

/** The client library, which sends back what its results hold. */
const libraryKind: Kind = {
  name: 'agent.run',
  async open (app, id) {
    if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as { port: number }
    const agent = createAgent({ url: `http://127.0.0.1:${port}` })
    let messages: any[] = [{ role: 'user', content: id }]
    let shown = ''
    const states = new Map<string, string>()
    const read = async (run: AgentRun) => {
      try {
        for await (const event of run) {
          shown += JSON.stringify(event)
          if (event.type === 'data-steer') states.set(event.data.id, event.data.state)
        }
      } catch (error) {
        if (!(error instanceof AgentError)) throw error
      }
      const result = await run.result().catch(() => undefined)
      messages.push(...result?.messages ?? [])
    }
    return {
      async shows (text) {
        while (!shown.includes(text)) await tick()
      },
      ended: read(agent.run({ id, messages })),
      async approve () {
        const { approvalId } = (await app.inject('/approvals')).json().approvals.find(({ threadId }: any) => threadId === id)
        await decide(app, approvalId, { approved: true })
        const { run } = await app.inject(`/runs?threadId=${encodeURIComponent(id)}`).then((all) => ({ run: all.json().runs[0] }))
        await app.inject(`/runs/${run.runId}?waitMs=20000`)
        await read(agent.resume(run.runId))
        messages = (await app.inject(`/threads/${encodeURIComponent(id)}?protocol=documented`)).json().messages
      },
      async say (text) {
        messages.push({ role: 'user', content: text })
        await read(agent.run({ id, messages }))
      },
      states: () => [...states.values()]
    }
  }
}

export const KINDS: Kind[] = [
  chatKind(versions[0], 'ui5'),
  chatKind(versions[2], 'ui'),
  chatKind(versions[4], 'ui'),
  chatKind(versions[4], 'ui7'),
  libraryKind
]
