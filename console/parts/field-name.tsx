import { hasText, say } from '../lib/say.ts'
import { VisibleText } from './visible-text.tsx'

/** The name of a field of a tool in words; one that the console does not know as the tool writes it. */
export function FieldName ({ name }: { name: string }) {
  const key = `field.${name}`
  return hasText(key) ? <>{say(key)}</> : <VisibleText text={name} limit={100} />
}
