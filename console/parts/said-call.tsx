import { say } from '../lib/say.ts'
import { ToolName } from './tool-name.tsx'
import { VisibleText } from './visible-text.tsx'

/** A call in words: the action of its tool, and its subject, such as a path or a command. */
export function SaidCall ({ toolName, about }: { toolName: string, about: string }) {
  if (about === '.') return <><ToolName name={toolName} />: {say('tool.here')}</>
  return <><ToolName name={toolName} />{about !== '' && <> <code><VisibleText text={about} limit={200} /></code></>}</>
}
