import { hasText, say } from '../lib/say.ts'
import { VisibleText } from './visible-text.tsx'

/** What a tool does, in words; the name of a tool that the console does not know. */
export function ToolName ({ name }: { name: string }) {
  const key = `tool.${name}`
  return hasText(key) ? <>{say(key)}</> : <code><VisibleText text={name} limit={200} /></code>
}
