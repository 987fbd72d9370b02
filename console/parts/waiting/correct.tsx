import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { previewCorrection, type Approval } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { FieldName } from '../field-name.tsx'
import { CallPreview } from './call-preview.tsx'
import { GuardedButton } from './guarded-button.tsx'
import type { DecisionInProgress } from './use-decision.ts'

type Fields = Record<string, unknown>

const textOf = (value: unknown): string => typeof value === 'string' ? value : JSON.stringify(value, null, 2)

/** Reads a field as it was: a text as it stands, all else as JSON. Undefined for what is no JSON. */
function valueOf (text: string, was: unknown): unknown {
  if (typeof was === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The input of a call, field by field, for a person to correct: to look at what it would change then, and to run the call with it. */
export function Correct ({ approval, decision }: { approval: Approval, decision: DecisionInProgress }) {
  const { approvalId } = approval
  const input = (approval.correctedInput ?? approval.input ?? {}) as Fields
  const [texts, setTexts] = useState<Record<string, string>>({})
  const fields = Object.entries(input).map(([name, was]) => ({ name, was, text: texts[name] ?? textOf(was) }))
  const corrected = Object.fromEntries(fields.map(({ name, was, text }) => [name, valueOf(text, was)]))
  const isWhole = Object.values(corrected).every((value) => value !== undefined)
  const look = useMutation({
    mutationFn: () => previewCorrection({ ...asked(), path: { id: approvalId }, body: { input: corrected } }).then(body)
  })
  return (
    <details className='correct'>
      <summary>{say('approval.correct')}</summary>
      {fields.map(({ name, text }) => (
        <label key={name}>
          <span className='quiet'><FieldName name={name} /></span>
          <textarea
            rows={Math.min(text.split('\n').length, 12)}
            value={text}
            onChange={({ target }) => {
              setTexts({ ...texts, [name]: target.value })
              look.reset()
            }}
          />
        </label>
      ))}
      {!isWhole && <p className='note note-warn'>{say('approval.noJson')}</p>}
      {look.error !== null && <Failed error={look.error} />}
      {look.data && <CallPreview {...look.data} />}
      <div className='actions'>
        <Button isBusy={look.isPending} disabled={!isWhole} onClick={() => look.mutate()}>{say('approval.look')}</Button>
        {isWhole && (
          <GuardedButton isBusy={decision.isPending} onPress={() => decision.send({ approved: true, input: corrected })}>
            {say('approval.runCorrected')}
          </GuardedButton>
        )}
      </div>
    </details>
  )
}
