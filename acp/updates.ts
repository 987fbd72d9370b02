import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk'
import type { AgentPlan, RunStreamEvent } from '../client/index.ts'
import { kindOf, locationsOf, outputContent, textContent, titleOf } from './tool-facts.ts'

export type Send = (update: SessionUpdate) => Promise<void>

export const textUpdate = (text: string): SessionUpdate =>
  ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
export const thought = (text: string): SessionUpdate =>
  ({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } })

/** The states of a call, in the order in which they follow each other. */
const STATES = ['pending', 'in_progress', 'completed', 'failed']
const BROKE_OFF = 'The answer broke off; it is asked for again.'
const PLAN_STATUS = { pending: 'pending', running: 'in_progress', done: 'completed' } as const

export const planUpdate = ({ steps }: AgentPlan): SessionUpdate => ({
  sessionUpdate: 'plan',
  entries: steps.map(({ text, status }) => ({ content: text, priority: 'medium', status: PLAN_STATUS[status] }))
})

/** An event of the documented stream, or of the stream of chats (`ui`), whose events have fewer fields. */
export type StreamedEvent = RunStreamEvent | { type: string, [field: string]: unknown }

/**
 * Converts events of a session's runs into ACP updates. A call is announced once and then updated. `hasNotices` is true if the editor shows
 * notices; otherwise notices are sent as thoughts.
 */
export function createUpdates ({ send, cwd, hasNotices }: { send: Send, cwd: string, hasNotices: boolean }) {
  /** The calls that the editor knows, with the index of their last state in STATES. */
  const announced = new Map<string, number>()
  /** Drops a state that the call has already passed, so that a call never goes back from `in_progress` to `pending`. */
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
  /** Sends the outcome of a call. The title is not sent again, because the announced title says more than the tool's name. */
  const end = (toolCallId: string, rest: Partial<ToolCallUpdate>): Promise<void> =>
    send({ sessionUpdate: 'tool_call_update', toolCallId, ...forward(toolCallId, rest) })
  const notice = (text: string): Promise<void> =>
    send(hasNotices ? { sessionUpdate: 'notice', severity: 'warning', title: text } : thought(`${text}\n\n`))

  return {
    announced: (toolCallId: string) => announced.has(toolCallId),
    call,
    end,
    notice,

    /** Sends one event to the editor. Ignores events that editors do not show. */
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
          // An editor cannot take back a call that it has shown.
          for (const id of event.data.dropped) {
            if (announced.has(id)) await end(id, { status: 'failed', content: [textContent(BROKE_OFF)] })
          }
          return notice(`${event.data.reason} What came of this step so far is void.`)
        default:
          // Editors do not show other events.
      }
    }
  }
}

export type Updates = ReturnType<typeof createUpdates>
