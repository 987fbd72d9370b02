import { useId, type ReactNode } from 'react'

interface Props {
  label: string
  hint?: string
  /** Renders the field; the attributes connect it with the hint. */
  children: (help: { 'aria-describedby'?: string }) => ReactNode
}

/** A field of a form with its label above and a hint below. */
export function Field ({ label, hint, children }: Props) {
  const id = useId()
  return (
    <div className='field'>
      <label className='field'><span>{label}</span>{children(hint === undefined ? {} : { 'aria-describedby': id })}</label>
      {hint !== undefined && <p id={id} className='quiet'>{hint}</p>}
    </div>
  )
}
