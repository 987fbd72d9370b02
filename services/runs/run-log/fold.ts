import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderMetadata
} from '@ai-sdk/provider'
import { asObject } from '../../lib/json.ts'
import { isAttached } from '../../models/index.ts'
import type { EventOf, RunEvent } from '../../contracts/run-events.ts'
import { withoutDroppedTries } from './cut-steps.ts'
import { unreadIds } from './steering.ts'

type Assistant = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']
type OpenPart = { type: 'text' | 'reasoning', text: string, providerOptions?: any }

/**
 * Converts the events of a run to model messages: one assistant message and one tool message for each step, with the parts in the model's
 * order and the results in the order of their calls. A call without an outcome has no result. `forModel` converts a tool output to the form
 * that models get. `asMessage` converts a message of the user that a step has read.
 */
export function foldToModelMessages (
  events: readonly RunEvent[],
  forModel: (output: Record<string, unknown>, toolName: string) => LanguageModelV4ToolResultOutput,
  asMessage: (event: EventOf<'steer'>) => LanguageModelV4Message = userMessage
): LanguageModelV4Prompt {
  const messages: LanguageModelV4Prompt = []
  const unread = unreadIds(events)
  let content: Assistant = []
  let results: LanguageModelV4ToolResultPart[] = []
  const open = new Map<string, OpenPart>()
  /** The calls of the step. A call whose input is incomplete (`isWhole` false) is left out. */
  const calls = new Map<string, LanguageModelV4ToolCallPart & { isWhole: boolean }>()

  const closeStep = () => {
    const order = [...calls.keys()]
    const assistant = content.flatMap((part): Assistant => {
      if (part.type !== 'tool-call') return hasContent(part) ? [part] : []
      const { isWhole, ...call } = calls.get(part.toolCallId)!
      return isWhole ? [call] : []
    })
    results.sort((a, b) => order.indexOf(a.toolCallId) - order.indexOf(b.toolCallId))
    if (assistant.length > 0) messages.push({ role: 'assistant', content: assistant })
    if (results.length > 0) messages.push({ role: 'tool', content: results })
    content = []
    results = []
    open.clear()
    calls.clear()
  }
  const call = (
    { toolCallId, toolName, providerMetadata }: { toolCallId: string, toolName: string, providerMetadata?: SharedV4ProviderMetadata },
    input?: { input: unknown }
  ) => {
    const known = calls.get(toolCallId)
    const part = known ?? { type: 'tool-call', toolCallId, toolName, input: undefined, isWhole: false }
    if (known === undefined) {
      calls.set(toolCallId, part)
      content.push(part)
    }
    if (input !== undefined) {
      Object.assign(part, { ...input, toolName, isWhole: true, ...(providerMetadata && { providerOptions: providerMetadata }) })
    }
  }
  const begin = ({ id, providerMetadata }: { id: string, providerMetadata?: SharedV4ProviderMetadata }, type: 'text' | 'reasoning') => {
    const part = { type, text: '', ...(providerMetadata && { providerOptions: providerMetadata }) }
    open.set(id, part)
    content.push(part)
  }
  const result = ({ toolCallId, toolName }: { toolCallId: string, toolName: string }, output: LanguageModelV4ToolResultOutput) => {
    results.push({ type: 'tool-result', toolCallId, toolName, output })
  }

  for (const event of withoutDroppedTries(events)) {
    switch (event.type) {
      case 'step-start':
        closeStep()
        break
      case 'text-start':
        begin(event, 'text')
        break
      case 'reasoning-start':
        if (event.phase === 'answer') begin(event, 'reasoning')
        break
      case 'text-delta':
      case 'reasoning-delta': {
        const part = open.get(event.id)
        if (part) part.text += event.delta
        if (part && event.providerMetadata) part.providerOptions = event.providerMetadata
        break
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = open.get(event.id)
        if (part && event.providerMetadata) part.providerOptions = event.providerMetadata
        break
      }
      case 'tool-input-start':
        call(event)
        break
      case 'tool-input':
        call(event, { input: event.input })
        break
      case 'tool-input-error':
        call(event, { input: asObject(event.input) })
        result(event, { type: 'error-text', value: event.errorText })
        break
      case 'tool-output':
        result(event, forModel(event.output, event.toolName))
        break
      case 'tool-error':
        result(event, { type: 'error-text', value: event.errorText })
        break
      case 'message':
        closeStep()
        messages.push(userMessage(event))
        break
      case 'steer':
        if (event.state !== 'read' || unread.has(event.id)) break
        closeStep()
        messages.push(asMessage(event))
        break
      case 'tool-denied':
        result(event, { type: 'execution-denied', reason: event.reason })
        break
      default:
        // Other events are not part of the prompt.
    }
  }
  closeStep()
  return messages
}

const userMessage = ({ text }: { text: string }): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] })

/** Whether a part is sent. Providers refuse empty texts, but want an empty part back if data is attached to it, such as a signature. */
const hasContent = (part: Assistant[number]) => !('text' in part) || part.text !== '' || isAttached(part.providerOptions)
