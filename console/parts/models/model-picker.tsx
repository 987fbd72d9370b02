import { ChevronsUpDown } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { say } from '../../lib/say.ts'
import { VisibleText } from '../visible-text.tsx'
import { noteUsed } from './lately-used.ts'
import { modelName } from './provider-name.ts'
import './model-picker.css'

const ModelSearch = lazy(() => import('./model-search.tsx'))

interface Props {
  /** The purpose of the model, for screen readers and above the list. */
  label: string
  /** `<provider>/<model>`; empty for the default. */
  value: string
  /** The name of the line for the default. Without it, a model must be chosen. */
  usual?: string
  onChange: (model: string) => void
}

/** A button with the chosen model, which opens the list of all models. */
export function ModelPicker ({ label, value, usual, onChange }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const name = value === '' ? usual ?? '…' : modelName(value)
  const choose = (model: string) => {
    setIsOpen(false)
    if (model !== '') noteUsed(model)
    if (model !== value) onChange(model)
  }
  return (
    <>
      <button
        type='button' className='model-picker' aria-haspopup='dialog' aria-expanded={isOpen} title={value === '' ? name : value}
        aria-label={say('models.chosen', { label, model: name })} onClick={() => setIsOpen(true)}
      >
        <span><VisibleText text={name} limit={200} /></span>
        <ChevronsUpDown />
      </button>
      {isOpen && (
        <Suspense fallback={null}>
          <ModelSearch label={label} value={value} usual={usual} onChoose={choose} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
