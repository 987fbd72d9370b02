import { plainWords } from './plain-words.ts'
import { say } from './say.ts'

const FIELDS = ['interval', 'once', 'in', 'at', 'on', 'timezone', 'except'] as const

/** Returns a text of the service for people: without HTTP requests, and with form labels instead of the names of schedule fields. */
export function plainText (text: string): string {
  const plain = plainWords(text).replace(/\bschedule\.(\w+)\b/g, (written, name) => {
    const field = FIELDS.find((each) => each === name)
    return field === undefined ? written : say(`tasks.field.${field}`)
  })
  return plain.charAt(0).toUpperCase() + plain.slice(1)
}
