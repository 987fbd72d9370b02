import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { previewCorrection, type Approval } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { isRecord } from '../call/values.tsx'
import { FieldName } from '../field-name.tsx'
import { CallPreview } from './call-preview.tsx'
import { GuardedButton } from './guarded-button.tsx'
import type { DecisionInProgress } from './use-decision.ts'

type Fields = Record<string, unknown>
/** The place of a value in an input: a field, or a field of a list entry, such as the new text of the second edit. */
type Place = [name: string, entry?: number, part?: string]

const isFlat = (entry: unknown): entry is Fields =>
  isRecord(entry) && Object.values(entry).every((value) => typeof value !== 'object' || value === null)

/**
 * Returns the places of an input that can be corrected separately. A list of flat objects is split into its fields instead of being shown
 * as JSON.
 */
const placesOf = (input: Fields): Place[] => Object.entries(input).flatMap(([name, value]) =>
  Array.isArray(value) && value.length > 0 && value.every(isFlat)
    ? value.flatMap((entry, at) => Object.keys(entry).map((part): Place => [name, at, part]))
    : [[name] satisfies Place])

const valueAt = (input: Fields, [name, entry, part]: Place): unknown =>
  entry === undefined ? input[name] : (input[name] as Fields[])[entry][part!]

function put (input: Fields, [name, entry, part]: Place, value: unknown): void {
  if (entry === undefined) input[name] = value
  else (input[name] as Fields[])[entry][part!] = value
}

const textOf = (value: unknown): string => typeof value === 'string' ? value : JSON.stringify(value, null, 2)

/** Parses a corrected field: a text is taken unchanged if the value was a text, else parsed as JSON. Returns undefined for invalid JSON. */
function valueOf (text: string, was: unknown): unknown {
  if (typeof was === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A form for correcting the input of a call, field by field. It shows the preview of the corrected call, and runs the call with the new
 * input.
 */
export function Correct ({ approval, decision }: { approval: Approval, decision: DecisionInProgress }) {
  const { approvalId } = approval
  const input = (approval.correctedInput ?? approval.input ?? {}) as Fields
  const [texts, setTexts] = useState<Record<string, string>>({})
  const corrected = structuredClone(input)
  const fields = placesOf(input).map((place) => {
    const key = place.join(' ')
    const was = valueAt(input, place)
    const text = texts[key] ?? textOf(was)
    const value = valueOf(text, was)
    put(corrected, place, value)
    return { key, place, text, isRead: value !== undefined }
  })
  const isWhole = fields.every(({ isRead }) => isRead)
  const look = useMutation({
    mutationFn: () => previewCorrection({ ...asked(), path: { id: approvalId }, body: { input: corrected } }).then(body)
  })
  return (
    <details className='correct'>
      <summary>{say('approval.correct')}</summary>
      {fields.map(({ key, place: [name, entry, part], text }) => (
        <label key={key}>
          <span className='quiet'>
            <FieldName name={name} />{entry !== undefined && <> {entry + 1}: <FieldName name={part!} /></>}
          </span>
          <textarea
            rows={Math.min(text.split('\n').length, 12)}
            value={text}
            onChange={({ target }) => {
              setTexts({ ...texts, [key]: target.value })
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
