import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import type { Chosen } from '../thread/chosen.ts'
import type { ChosenState } from './use-chosen.ts'

const LONGEST = 60

/** Returns the display name of a prompt or skill. */
export const chosenName = (chosen: Chosen): string =>
  chosen.kind === 'skill'
    ? say('chat.chosenSkill', { name: chosen.name })
    : say('chat.chosenPrompt', { name: chosen.name, server: chosen.server })

/** The prompt and the skill of the message in the composer. Each has a button that removes it. */
export function ChosenChips ({ choices: { chosen, remove } }: { choices: ChosenState }) {
  if (chosen.length === 0) return null
  return (
    <ul className='attached' aria-label={say('chat.chosen')}>
      {chosen.map((each) => (
        <li key={each.kind} className='file-chip'>
          <span>
            <VisibleText text={chosenName(each)} limit={LONGEST} />
            {each.kind === 'prompt' && Object.entries(each.arguments ?? {}).map(([name, value]) => (
              <span key={name} className='quiet'> · {name}: <VisibleText text={value} limit={LONGEST} /></span>
            ))}
          </span>
          <Button kind='quiet' aria-label={say('chat.chosenRemove', { name: chosenName(each) })} onClick={() => remove(each)}>×</Button>
        </li>
      ))}
    </ul>
  )
}
