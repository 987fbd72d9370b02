import type { UIMessage } from 'ai'
import type { FinishEvent } from '../../../../client/generated/index.ts'
import { dollars, hasText, say } from '../../../lib/say.ts'
import { modelName } from '../../../parts/models/provider-name.ts'

type Metadata = Partial<Pick<FinishEvent, 'usage' | 'answeredBy'>>

/** The model and the effort of an answer and what it cost, as far as its message tells; more when the pointer rests on it. */
export function AnswerFacts ({ message }: { message: UIMessage }) {
  const { usage, answeredBy } = (message.metadata ?? {}) as Metadata
  const model = answeredBy?.model ?? markOf(message)
  const facts = [
    ...model === undefined ? [] : [modelName(model)],
    ...sayEffort(answeredBy?.effort),
    ...usage?.costUsd ? [dollars.format(usage.costUsd)] : []
  ]
  if (facts.length === 0) return null
  const used = usage && say('chat.used', { input: usage.inputTokens, output: usage.outputTokens })
  const more = [model, used].filter((each) => each !== undefined)
  return (
    <span className='quiet answer-facts' title={more.join(' · ')}>
      {model !== undefined && <span className='visually-hidden'>{say('chat.answeredBy')} </span>}
      {facts.join(' · ')}
    </span>
  )
}

/** Returns the effort in words, if it is not the usual one. */
function sayEffort (effort = ''): string[] {
  const key = `chat.efforts.${effort}`
  return hasText(key) ? [say(key)] : []
}

/** The parts of an answer of an earlier version name the model that made them. */
function markOf ({ parts }: UIMessage): string | undefined {
  for (const part of parts) {
    const model = part.type === 'reasoning' || part.type === 'text' ? part.providerMetadata?.agent?.model : undefined
    if (typeof model === 'string') return model.replace(/^direct:/, '')
  }
  return undefined
}
