import type { RunStreamEvent, Steer } from './generated/index.ts'

/** A message in the AI SDK's ModelMessage format. */
export interface Message {
  role: string
  content?: unknown
  [key: string]: unknown
}

/**
 * Builds the messages of an answer from the events of a run, across all streams of the run. Each step gives one assistant message and one
 * tool message, with the calls in the model's order and the results in the order of their calls. A steering message of the user is placed
 * before the step that read it; one that no step has read is placed after the answer.
 */
export function createConversation () {
  const messages: Message[] = []
  let content: object[] = []
  let results: Array<{ toolCallId: string }> = []
  let text = ''
  const blocks = new Map<string, { type: 'text', text: string }>()
  const calls = new Map<string, object>()
  const steering = new Map<string, Steer>()

  const step = (): Message[] => {
    const order = [...calls.keys()]
    const completeParts = content.filter((part) => !('toolCallId' in part) || 'input' in part)
    const sorted = results.toSorted((a, b) => order.indexOf(a.toolCallId) - order.indexOf(b.toolCallId))
    return [
      ...completeParts.length > 0 ? [{ role: 'assistant', content: completeParts }] : [],
      ...sorted.length > 0 ? [{ role: 'tool', content: sorted }] : []
    ]
  }
  const closeStep = () => {
    messages.push(...step())
    content = []
    results = []
    calls.clear()
  }
  const call = ({ toolCallId, toolName }: { toolCallId: string, toolName: string }, input?: { input: unknown }) => {
    let part = calls.get(toolCallId)
    if (part === undefined) {
      calls.set(toolCallId, part = { type: 'tool-call', toolCallId, toolName })
      content.push(part)
    }
    Object.assign(part, input)
  }
  const result = ({ toolCallId, toolName }: { toolCallId: string, toolName: string }, output: object) => {
    const part = { type: 'tool-result', toolCallId, toolName, output }
    results.push(part)
  }

  return {
    /** The messages of the answer so far, to be appended to the conversation. */
    get messages () {
      const unread = [...steering.values()].filter(({ state }) => state === 'unread')
      return [...messages.filter(({ id }) => !unread.some((each) => each.id === id)), ...step(), ...unread.map(steerMessage)]
    },
    /** The user's steering messages during the run, each in its newest state. */
    get steering (): Steer[] {
      return [...steering.values()]
    },
    /** The text of the last step, which is the text after the last tool call. */
    get text () {
      return text
    },

    add (event: RunStreamEvent) {
      switch (event.type) {
        case 'start-step':
          closeStep()
          text = ''
          break
        case 'data-steer':
          steering.set(event.data.id, event.data)
          if (event.data.state !== 'read') break
          closeStep()
          messages.push(steerMessage(event.data))
          break
        // The attempt at this step failed, and the step begins again.
        case 'data-retry':
          content = []
          results = []
          calls.clear()
          text = ''
          break
        case 'text-start': {
          const block = { type: 'text' as const, text: '' }
          blocks.set(event.id, block)
          content.push(block)
          break
        }
        case 'text-delta':
          text += event.content
          blocks.get(event.id)!.text += event.content
          break
        case 'data-revision':
          closeStep()
          text = event.data.text
          content.push({ type: 'text', text })
          break
        case 'tool-input-start':
          call(event)
          break
        case 'tool-input-available':
        case 'tool-input-error':
          call(event, { input: event.input })
          if (event.type === 'tool-input-error') result(event, { type: 'error-text', value: event.errorText })
          break
        case 'tool-output-available':
          result(event, { type: 'json', value: event.output })
          break
        case 'tool-output-error':
          result(event, { type: 'error-text', value: event.errorText })
          break
        case 'tool-output-denied':
          result(event, { type: 'execution-denied', reason: event.reason })
          break
        default:
          // Other events change no message.
      }
    }
  }
}

/** Returns a steering message as a message of the user. Its field `steer` lets the service recognize it later. */
const steerMessage = ({ text, ...mark }: Steer): Message => ({ id: mark.id, role: 'user', content: text, steer: mark })
