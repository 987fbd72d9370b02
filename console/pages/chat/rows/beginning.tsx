import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'

const SUGGESTIONS = ['folder', 'write', 'command', 'task'] as const

/** What a conversation shows before its first message: some things that one can say, which go to the field. */
export function Beginning ({ onSuggest }: { onSuggest: (text: string) => void }) {
  return (
    <div className='row chat-empty'>
      <h2>{say('chat.welcome')}</h2>
      <p className='quiet'>{say('chat.empty')}</p>
      <div className='suggestions'>
        {SUGGESTIONS.map((name) => (
          <Button key={name} onClick={() => onSuggest(say(`chat.suggestions.${name}`))}>{say(`chat.suggestions.${name}`)}</Button>
        ))}
      </div>
    </div>
  )
}
