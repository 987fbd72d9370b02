import { hasText, say } from '../lib/say.ts'
import { VisibleText } from './visible-text.tsx'

/** The label of a tool's field; the field's own name if the console has no label for it. */
export function FieldName ({ name }: { name: string }) {
  const key = `field.${name}`
  return hasText(key) ? <>{say(key)}</> : <VisibleText text={name} limit={100} />
}
