import { useEffect, useRef } from 'react'
import { say } from '../../../lib/say.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'
import type { Choice } from './choices.ts'
import type { ChoiceMenu } from './use-choice-menu.ts'

const LONGEST = 160

/** The list of prompts and skills above the message field. The focus stays in the field, whose keys move through the list. */
export function ChoiceList ({ menu }: { menu: ChoiceMenu }) {
  const { id, isOpen, found, at, isReading, isNone, failed, choose, optionId } = menu
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [at, found])
  if (!isOpen) return null
  return (
    <div className='choices'>
      {found.length > 0 && (
        <ul ref={list} id={id} role='listbox' aria-label={say('chat.slash')} className='choice-list'>
          {found.map((choice, n) => (
            // No key handler: the keys of the field choose.
            <li
              key={choice.key} id={optionId(n)} role='option' aria-selected={n === at} className='choice-option'
              onMouseDown={(event) => event.preventDefault()} onClick={() => choose(choice)}
            >
              <Line choice={choice} />
            </li>
          ))}
        </ul>
      )}
      {isReading && <p className='quiet choice-note'>{say('chat.slashReading')}</p>}
      {isNone && <p className='quiet choice-note'>{say('chat.slashNone')}</p>}
      {failed.length > 0 && <p className='quiet choice-note'>{say('chat.slashFailed', { servers: failed.join(', ') })}</p>}
    </div>
  )
}

function Line ({ choice: { kind, name, title, about, from } }: { choice: Choice }) {
  return (
    <>
      <span className='choice-name'><VisibleText text={title ?? name} limit={LONGEST} /></span>
      <span className='choice-from quiet'>
        {kind === 'skill' ? say('chat.slashSkill') : <VisibleText text={say('chat.slashPrompt', { server: from })} limit={LONGEST} />}
      </span>
      {about !== undefined && <span className='choice-about quiet'><VisibleText text={about} limit={LONGEST} /></span>}
    </>
  )
}
