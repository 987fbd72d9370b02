import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk'
import type { AgentPlan, RunStreamEvent } from '../client/index.ts'
import { kindOf, locationsOf, outputContent, textContent, titleOf } from './tool-facts.ts'

export type Send = (update: SessionUpdate) => Promise<void>

export const textUpdate = (text: string): SessionUpdate =>
  ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
export const thought = (text: string): SessionUpdate =>
  ({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } })

/** How far a call can be, in this order. */
const STATES = ['pending', 'in_progress', 'completed', 'failed']
const BROKE_OFF = 'The answer broke off; it is asked for again.'
const PLAN_STATUS = { pending: 'pending', running: 'in_progress', done: 'completed' } as const

export const planUpdate = ({ steps }: AgentPlan): SessionUpdate => ({
  sessionUpdate: 'plan',
  entries: steps.map(({ text, status }) => ({ content: text, priority: 'medium', status: PLAN_STATUS[status] }))
})

/** An event of either of the service's streams; those of chats (`ui`) have fewer fields. */
export type StreamedEvent = RunStreamEvent | { type: string, [field: string]: unknown }

/**
 * Turns the events of a session's runs into updates of it. A call is announced once; all that follows updates it. `hasNotices`: the
 * editor shows notices, which are thoughts otherwise.
 */
export function createUpdates ({ send, cwd, hasNotices }: { send: Send, cwd: string, hasNotices: boolean }) {
  /** The calls that the editor knows, with how far they are. */
  const announced = new Map<string, number>()
  /** Leaves out a state that a call has passed: none goes back from in progress to pending. */
  const forward = <T extends Partial<ToolCallUpdate>>(toolCallId: string, { status, ...rest }: T) => {
    const known = announced.get(toolCallId) ?? -1
    const next = status == null ? -1 : STATES.indexOf(status)
    if (next >= known) announced.set(toolCallId, next)
    return next >= known && status != null ? { ...rest, status } : rest
  }

  const call = (toolCallId: string, toolName: string, update: Partial<ToolCallUpdate> = {}): Promise<void> => {
    const isKnown = announced.has(toolCallId)
    const rest = forward(toolCallId, update)
    if (!isKnown) announced.set(toolCallId, announced.get(toolCallId) ?? 0)
    const fields = { toolCallId, title: titleOf(toolName, rest.rawInput), name: toolName, kind: kindOf(toolName), ...rest }
    if (isKnown) return send({ sessionUpdate: 'tool_call_update', ...fields })
    return send({ ...fields, sessionUpdate: 'tool_call' } as SessionUpdate)
  }
  /** Says how a call ended. Its title stays, which says more than its name. */
  const end = (toolCallId: string, rest: Partial<ToolCallUpdate>): Promise<void> =>
    send({ sessionUpdate: 'tool_call_update', toolCallId, ...forward(toolCallId, rest) })
  const notice = (text: string): Promise<void> =>
    send(hasNotices ? { sessionUpdate: 'notice', severity: 'warning', title: text } : thought(`${text}\n\n`))

  return {
    announced: (toolCallId: string) => announced.has(toolCallId),
    call,
    end,
    notice,

    /** Shows one event. Those that change nothing that an editor shows are passed over. */
    async show (streamed: StreamedEvent): Promise<void> {
      const event = streamed as RunStreamEvent & { delta?: string }
      switch (event.type) {
        case 'text-delta':
          return send(textUpdate(event.delta ?? event.content))
        case 'reasoning-delta':
          return send(thought(event.delta ?? event.content))
        case 'tool-input-start':
          return call(event.toolCallId, event.toolName, { status: 'pending' })
        case 'tool-input-available': {
          const { toolCallId, toolName, input } = event
          return call(toolCallId, toolName, { status: 'in_progress', rawInput: input, locations: locationsOf(input, cwd) })
        }
        case 'tool-progress':
          if (event.message !== undefined) await end(event.toolCallId, { content: [textContent(event.message)] })
          return
        case 'tool-output-available': {
          const { toolCallId, output } = event
          return end(toolCallId, { status: 'completed', rawOutput: output, content: outputContent(output, cwd) })
        }
        case 'tool-input-error':
        case 'tool-output-error':
          return end(event.toolCallId, { status: 'failed', content: [textContent(event.errorText)] })
        case 'tool-output-denied':
          return end(event.toolCallId, { status: 'failed', content: [textContent(event.reason ?? 'It was not allowed.')] })
        case 'data-revision':
          await notice('The answer was checked against what was done, and written again:')
          return send(textUpdate(`\n\n${event.data.text}`))
        case 'data-plan':
          return send(planUpdate(event.data))
        case 'data-notice':
          return notice(event.data.text)
        case 'data-retry':
          // An editor cannot take back what it shows.
          for (const id of event.data.dropped) {
            if (announced.has(id)) await end(id, { status: 'failed', content: [textContent(BROKE_OFF)] })
          }
          return notice(`${event.data.reason} What came of this step so far is void.`)
        default:
          // Other events change nothing that an editor shows.
      }
    }
  }
}

export type Updates = ReturnType<typeof createUpdates>
