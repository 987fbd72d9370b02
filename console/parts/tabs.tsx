import { say, type TextKey } from '../lib/say.ts'

interface Props<T extends string> {
  label: string
  value: T
  onChange: (value: T) => void
  /** The values, each with the key of its text. */
  tabs: Record<T, TextKey>
}

/** A row of buttons, one of which is chosen. */
export function Tabs<T extends string> ({ label, value, onChange, tabs }: Props<T>) {
  return (
    <div className='tabs' role='group' aria-label={label}>
      {(Object.keys(tabs) as T[]).map((each) => (
        <button key={each} type='button' className='tab' aria-pressed={each === value} onClick={() => onChange(each)}>
          {say(tabs[each])}
        </button>
      ))}
    </div>
  )
}
