import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { asObject } from '../json.ts'
import type { RunEvent } from './events.ts'

type Assistant = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']
type OpenPart = { type: 'text' | 'reasoning', text: string, providerOptions?: any }

/**
 * What the model is told of a run so far: one assistant message and one tool message a step. A call without an
 * outcome yet has no result here. `forModel` makes of an output what a model may see of it.
 */
export function fold (events: readonly RunEvent[], forModel: (output: Record<string, unknown>, toolName: string) => LanguageModelV4ToolResultOutput): LanguageModelV4Prompt {
  const messages: LanguageModelV4Prompt = []
  let content: Assistant = []
  let results: LanguageModelV4ToolResultPart[] = []
  const open = new Map<string, OpenPart>()

  const closeStep = () => {
    const said = content.filter(saysSomething)
    if (said.length > 0) messages.push({ role: 'assistant', content: said })
    if (results.length > 0) messages.push({ role: 'tool', content: results })
    content = []
    results = []
    open.clear()
  }
  const begin = (id: string, type: 'text' | 'reasoning') => {
    const part = { type, text: '' }
    open.set(id, part)
    content.push(part)
  }
  const result = ({ toolCallId, toolName }: { toolCallId: string, toolName: string }, output: LanguageModelV4ToolResultOutput) => {
    results.push({ type: 'tool-result', toolCallId, toolName, output })
  }

  for (const event of events) {
    switch (event.type) {
      case 'step-start': closeStep(); break
      case 'text-start': begin(event.id, 'text'); break
      case 'reasoning-start': if (event.phase === 'answer') begin(event.id, 'reasoning'); break
      case 'text-delta':
      case 'reasoning-delta': {
        const part = open.get(event.id)
        if (part) part.text += event.delta
        break
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = open.get(event.id)
        if (part && event.providerMetadata) part.providerOptions = event.providerMetadata
        break
      }
      case 'tool-input':
        content.push({ type: 'tool-call', toolCallId: event.toolCallId, toolName: event.toolName, input: event.input, providerOptions: event.providerMetadata })
        break
      case 'tool-input-error':
        content.push({ type: 'tool-call', toolCallId: event.toolCallId, toolName: event.toolName, input: asObject(event.input), providerOptions: event.providerMetadata })
        result(event, { type: 'error-text', value: event.errorText })
        break
      case 'tool-output': result(event, forModel(event.output, event.toolName)); break
      case 'tool-error': result(event, { type: 'error-text', value: event.errorText }); break
      case 'message':
        closeStep()
        messages.push({ role: 'user', content: [{ type: 'text', text: event.text }] })
        break
      case 'tool-denied': result(event, { type: 'execution-denied', reason: event.reason }); break
    }
  }
  closeStep()
  return messages
}

/** Providers refuse an empty text; one that they gave something with, such as a signature, they want back. */
const saysSomething = (part: Assistant[number]) => !('text' in part) || part.text !== '' || part.providerOptions !== undefined

/** The text of the answer: what the assistant said after its last tool call, over all segments. */
export function answerText (events: readonly RunEvent[]): string {
  let text = ''
  for (const event of events) {
    if (event.type === 'step-start') text = ''
    if (event.type === 'text-delta') text += event.delta
  }
  return text
}
