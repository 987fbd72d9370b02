import { useId, type InputHTMLAttributes } from 'react'
import { FolderButton } from './folder-button.tsx'

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> {
  label: string
  value: string
  cwd?: string
  onChange: (path: string) => void
}

/** A field for the path of a folder. The path can be typed or chosen in a dialog. */
export function FolderField ({ label, value, cwd, onChange, ...rest }: Props) {
  const id = useId()
  return (
    <div className='field'>
      <label htmlFor={id}><span className='field-label'>{label}</span></label>
      <div className='folder-field'>
        <input
          id={id} className='mono' maxLength={4_096} spellCheck={false} value={value}
          onChange={({ target }) => onChange(target.value)} {...rest}
        />
        <FolderButton value={value} cwd={cwd} onChosen={onChange} />
      </div>
    </div>
  )
}
