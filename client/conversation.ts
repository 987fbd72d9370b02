import type { RunStreamEvent } from './generated/index.ts'

/** A message in the AI SDK's ModelMessage format. */
export interface Message { role: string, content?: unknown, [key: string]: unknown }

/** Builds the answer's messages from a run's events, over all of its streams: one assistant message and one tool message a step. */
export function createConversation () {
  const messages: Message[] = []
  let content: object[] = []
  let results: object[] = []
  let text = ''
  const blocks = new Map<string, { type: 'text', text: string }>()

  const step = (): Message[] => [
    ...content.length > 0 ? [{ role: 'assistant', content }] : [],
    ...results.length > 0 ? [{ role: 'tool', content: results }] : []
  ]
  const result = ({ toolCallId, toolName }: { toolCallId: string, toolName: string }, output: object) => {
    results.push({ type: 'tool-result', toolCallId, toolName, output })
  }

  return {
    /** The answer so far, to be added to the conversation. */
    get messages () { return [...messages, ...step()] },
    /** What was said after the last tool call. */
    get text () { return text },

    add (event: RunStreamEvent) {
      switch (event.type) {
        case 'start-step':
          messages.push(...step())
          content = []
          results = []
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
        case 'tool-input-available':
        case 'tool-input-error':
          content.push({ type: 'tool-call', toolCallId: event.toolCallId, toolName: event.toolName, input: event.input })
          if (event.type === 'tool-input-error') result(event, { type: 'error-text', value: event.errorText })
          break
        case 'tool-output-available': result(event, { type: 'json', value: event.output }); break
        case 'tool-output-error': result(event, { type: 'error-text', value: event.errorText }); break
        case 'tool-output-denied': result(event, { type: 'execution-denied', reason: event.reason }); break
      }
    }
  }
}
