import type { ReactNode } from 'react'
import { say } from '../../lib/say.ts'
import { isRecord, Value } from '../call/values.tsx'
import { FieldName } from '../field-name.tsx'

/** Fields that are never cut, because their end can decide what the call does. */
const WHOLE = new Set(['command', 'path', 'from', 'to', 'cwd', 'url'])

interface Props {
  input: unknown
  /** Fields to leave out, because they are shown in another form. */
  without?: string[]
  /** Further rows. */
  children?: ReactNode
}

/** The whole input of a call, field by field. */
export function CallInput ({ input, without = [], children }: Props) {
  const fields = isRecord(input) ? Object.entries(input).filter(([name]) => !without.includes(name)) : [['', input] as const]
  return (
    <dl className='call-input'>
      {fields.map(([name, value]) => (
        <Field key={name} name={name === '' ? say('approval.input') : <FieldName name={name} />}>
          <Value value={value} limit={WHOLE.has(name) ? Infinity : undefined} />
        </Field>
      ))}
      {children}
    </dl>
  )
}

/** One row of a list of fields. */
export function Field ({ name, children }: { name: ReactNode, children: ReactNode }) {
  return <div className='call-field'><dt>{name}</dt><dd>{children}</dd></div>
}
