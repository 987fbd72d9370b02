import { createContext, useContext, useState, type ReactNode } from 'react'
import { say } from '../../lib/say.ts'
import type { Footnote } from './references.ts'

const Opened = createContext<{ notes: Footnote[], opened: Footnote[], toggle: (note: Footnote) => void }>({
  notes: [],
  opened: [],
  toggle: () => {}
})

/**
 * Lets footnote references in its children show the text of their note below the children, because the end of a long text might not be in
 * the document.
 */
export function Mentioning ({ notes, draw, children }: { notes: Footnote[], draw: (text: string) => ReactNode, children: ReactNode }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const opened = notes.filter(({ label }) => open.has(label))
  const toggle = ({ label }: Footnote) => setOpen((was) => {
    const is = new Set(was)
    if (!is.delete(label)) is.add(label)
    return is
  })
  return (
    <Opened.Provider value={{ notes, opened, toggle }}>
      {children}
      {opened.map((note) => <Note key={note.label} note={note} draw={draw} />)}
    </Opened.Provider>
  )
}

/** A footnote reference, which shows and hides the text of its note. */
export function Mention ({ label }: { label: string }) {
  const { notes, opened, toggle } = useContext(Opened)
  const note = notes.find((each) => each.label === label)
  if (note === undefined) return null
  return (
    <sup>
      <button
        type='button' className='footnote-mention' aria-expanded={opened.includes(note)}
        aria-label={say('markdown.footnote', { number: String(note.number) })} onClick={() => toggle(note)}
      >
        {note.number}
      </button>
    </sup>
  )
}

/** All footnotes of a text, at its end. */
export function Footnotes ({ notes, draw }: { notes: Footnote[], draw: (text: string) => ReactNode }) {
  return (
    <section className='footnotes' aria-label={say('markdown.footnotes')}>
      {notes.map((note) => <Note key={note.label} note={note} draw={draw} />)}
    </section>
  )
}

const Note = ({ note: { number, text }, draw }: { note: Footnote, draw: (text: string) => ReactNode }) => (
  <div className='footnote' role='note'><span className='quiet'>{number}.</span>{draw(text)}</div>
)
