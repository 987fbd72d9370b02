import { useEffect, useId, useState, type KeyboardEvent } from 'react'
import { say } from '../../../lib/say.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { type Choice, fitting, useChoices } from './choices.ts'

/** The text that opens the list: a slash at the beginning, and the following word up to the caret. */
const SLASH = /^\/(\S{0,64})$/

interface Props {
  text: string
  caret: number
  cwd?: string
  /** True if the message cannot have a prompt or skill. */
  isOff: boolean
  /** Called with the choice, and the text without the slash and its word. */
  onChoose: (choice: Choice, rest: string) => void
}

/** The list of prompts and skills that a slash at the beginning of a message opens: its lines, and the keys that choose a line. */
export function useChoiceMenu ({ text, caret, cwd, isOff, onChoose }: Props) {
  const id = useId()
  const [at, setAt] = useState(0)
  /** The text at which the user closed the list. */
  const [closed, setClosed] = useState<string>()
  const announce = useAnnounce()
  const typed = isOff ? undefined : SLASH.exec(text.slice(0, caret))?.[1]
  const isAsked = typed !== undefined && closed !== text
  const { all, failed, isReading } = useChoices({ cwd, shown: isAsked })
  const found = isAsked ? fitting(all, typed) : []
  const isNone = isAsked && !isReading && all.length === 0 && typed === ''
  // A text without matches, such as a path, shows no list.
  const isOpen = isAsked && (found.length > 0 || isNone || (isReading && typed === ''))
  useEffect(() => setAt(0), [typed])
  useEffect(() => setClosed((at) => at === text ? at : undefined), [text])
  useEffect(() => {
    if (isOpen && !isReading) announce(found.length === 0 ? say('chat.slashNone') : say('chat.slashFound', { count: found.length }))
  }, [isOpen, isReading, found.length, announce])

  const choose = (choice: Choice) => onChoose(choice, text.slice(caret))
  const optionId = (n: number) => `${id}-${n}`
  const hasList = isOpen && found.length > 0
  return {
    ...{ id, isOpen, found, at, isReading, isNone, failed: isOpen ? failed : [], choose, optionId },
    /** Shows the list again after the user has closed it. */
    reopen: () => setClosed(undefined),
    /** ARIA attributes that connect the field with the list. */
    fieldProps: {
      'aria-autocomplete': 'list' as const,
      ...hasList && { 'aria-controls': id, 'aria-activedescendant': optionId(Math.min(at, found.length - 1)) }
    },
    /** Handles a key of the field. Returns true if the key was for the list. */
    takeKey (event: KeyboardEvent): boolean {
      if (!isOpen || event.nativeEvent.isComposing) return false
      const { key, shiftKey, ctrlKey, metaKey, altKey } = event
      if (ctrlKey || metaKey || altKey) return false
      if (key === 'Escape') setClosed(text)
      else if (found.length === 0) return false
      else if (key === 'ArrowDown') setAt((at + 1) % found.length)
      else if (key === 'ArrowUp') setAt((at + found.length - 1) % found.length)
      else if ((key === 'Enter' || key === 'Tab') && !shiftKey) choose(found[Math.min(at, found.length - 1)])
      else return false
      event.preventDefault()
      return true
    }
  }
}
export type ChoiceMenu = ReturnType<typeof useChoiceMenu>
