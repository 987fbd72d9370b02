import type { Approval } from '../../../client/generated/index.ts'
import { hasText, say } from '../../lib/say.ts'
import { isRecord } from '../call/values.tsx'
import { ToolName } from '../tool-name.tsx'
import { VisibleText } from '../visible-text.tsx'

/** The placeholder of the name in a question. */
const NAME = '\uFFFC'
const LONGEST_NAME = 80

/** The question whether a call is allowed to run, in everyday words: "Edit cart.js?". */
export function ToolQuestion ({ toolName = '', input }: Pick<Approval, 'toolName' | 'input'>) {
  const key = `approval.ask.${toolName}`
  const name = nameIn(input)
  if (!hasText(key) || (name === undefined && say(key) !== say(key, { name: NAME }))) {
    return <>{!hasText(`tool.${toolName}`) && say('approval.use')} <ToolName name={toolName} />?</>
  }
  const [before, after] = say(key, { name: NAME }).split(NAME)
  return <>{before}{after !== undefined && <VisibleText text={name ?? ''} limit={Infinity} />}{after}</>
}

/** Returns the file or the host that an input names. */
function nameIn (input: unknown): string | undefined {
  if (!isRecord(input)) return undefined
  const { path, from, url } = input
  const named = typeof path === 'string' ? path : typeof from === 'string' ? from : undefined
  if (named !== undefined) return named.split(/[/\\]/).findLast((part) => part !== '')?.slice(0, LONGEST_NAME)
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : undefined
}
