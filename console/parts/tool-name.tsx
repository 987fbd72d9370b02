import { hasText, say } from '../lib/say.ts'
import { VisibleText } from './visible-text.tsx'

/** The action of a tool in words; the tool's own name if the console has no words for it. */
export function ToolName ({ name }: { name: string }) {
  const key = `tool.${name}`
  return hasText(key) ? <>{say(key)}</> : <code><VisibleText text={name} limit={200} /></code>
}
