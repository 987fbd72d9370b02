import { MARK, type Marked } from './quotes.ts'
import { parsed, USE, WITH } from './tool-input.ts'

const USES = new RegExp(`^${USE}(${MARK}|[\\w-]{1,64})${WITH}(${MARK})[.!?]*$`, 'i')
/** Without an input, the word "tool" is required. */
const USES_TOOL = new RegExp(
  `^(?:use|call|invoke)\\s+(?:(?:the\\s+)?(${MARK}|[\\w-]{1,64})\\s+tool|(?:the\\s+)?tool\\s+(${MARK}|[\\w-]{1,64}))[.!?]*$`,
  'i'
)

/** Reads a clause that uses any tool by its name: "use echo with {"message": "hi"}", "call the pid tool". */
export function readToolUse (marked: Marked, clause: string): { toolName: string, input: Record<string, unknown> } | undefined {
  const bare = USES_TOOL.exec(clause)
  if (bare) return { toolName: marked.plain(bare[1] ?? bare[2]), input: {} }
  const found = USES.exec(clause)
  const input = found && parsed(marked.plain(found[2]))
  return input ? { toolName: marked.plain(found[1]), input } : undefined
}
