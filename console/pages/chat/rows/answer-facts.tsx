import type { UIMessage } from 'ai'
import { dollars, say } from '../../../lib/say.ts'

interface Metadata {
  usage?: { inputTokens?: number, outputTokens?: number, costUsd?: number }
}

/** The model of an answer and what it cost, as far as its message tells; its tokens when the pointer rests on it. */
export function AnswerFacts ({ message }: { message: UIMessage }) {
  const { usage: { inputTokens, outputTokens, costUsd } = {} } = (message.metadata ?? {}) as Metadata
  const model = modelOf(message)
  const facts = [...model === undefined ? [] : [nameOf(model)], ...costUsd ? [dollars.format(costUsd)] : []]
  if (facts.length === 0) return null
  const title = inputTokens === undefined || outputTokens === undefined
    ? undefined
    : say('chat.used', { input: inputTokens, output: outputTokens })
  return <span className='quiet answer-facts' title={title}>{facts.join(' · ')}</span>
}

const nameOf = (model: string) => model.slice(model.indexOf('/') + 1)

/** The parts of an answer name the model that made them. */
function modelOf ({ parts }: UIMessage): string | undefined {
  for (const part of parts) {
    const model = part.type === 'reasoning' || part.type === 'text' ? part.providerMetadata?.agent?.model : undefined
    if (typeof model === 'string') return model
  }
  return undefined
}
