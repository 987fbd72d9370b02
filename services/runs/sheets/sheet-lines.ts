import type { Sheet, SheetLine } from '../../../schemas/sheets.ts'
import { inputDigest } from '../../approvals/index.ts'
import type { NewLine, StoredLine, StoredSheet } from '../../contracts/sheet-record.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { RunRecord } from '../run-record.ts'

/** Lines of a sheet; what comes after them is not noted. */
const MOST_LINES = 1_000
/** Characters of an input that a line shows, as JSON. */
const INPUT_SHOWN = 4_000

/** Returns the lines with one more call of a step, which counts on the line of the same call, if there is one. */
export function withLine (lines: readonly StoredLine[], call: NewLine, step: number): StoredLine[] {
  const same = lines.findIndex((line) => line.toolName === call.toolName && line.digest === call.digest && line.outcome === call.outcome)
  if (same !== -1) return lines.with(same, { ...lines[same], count: lines[same].count + 1 })
  if (lines.length >= MOST_LINES) return [...lines]
  const isGuess = lines.some((line) => line.outcome === 'unknown' && line.step < step)
  const json = JSON.stringify(call.input) ?? ''
  const input = json.length > INPUT_SHOWN ? `${json.slice(0, INPUT_SHOWN).toWellFormed()}…` : call.input
  return [...lines, { ...call, input, line: lines.length + 1, count: 1, step, ...(isGuess && { guess: true as const }) }]
}

/** Returns the line of a call that is answered by the host and never asks. */
export const unaskedLine = ({ toolCallId, toolName, input }: Pick<NewLine, 'toolCallId' | 'toolName' | 'input'>): NewLine =>
  ({ toolCallId, toolName, input, digest: inputDigest(input), outcome: 'unknown', asks: false, scopes: [] })

/** Returns why nothing of a line can be accepted any more; undefined while it can. */
export function whyLineVoid ({ toolName, identity }: StoredLine, { find, identity: identityOf }: Pick<ToolHost, 'find' | 'identity'>) {
  if (find(toolName) === undefined) return `${toolName} is not there now: its server is away, or the application has not given it.`
  return identityOf(toolName) === identity ? undefined : `${toolName} was changed since the rehearsal.`
}

/** The public form of a sheet. `tools` are those that a run would have now; `isVoid` says why nothing of it can be accepted any more. */
export function sheetView (
  { run, sheet, isVoid }: { run: RunRecord, sheet: StoredSheet, isVoid?: string },
  tools: Pick<ToolHost, 'find' | 'identity'>
): Sheet {
  const { runId, taskId, threadId, status, startedAt, durationMs, output, error, facts, usage } = run
  return {
    ...{ runId, status, startedAt, durationMs, output, error, facts, usage },
    ...taskId === undefined ? { threadId } : { taskId },
    lines: sheet.lines.map(({ digest, identity, step, ...line }): SheetLine => {
      const why = line.scopes.length === 0 ? undefined : whyLineVoid({ ...line, digest, identity, step }, tools)
      return { ...line, ...(why !== undefined && { void: why }) }
    }),
    ...(isVoid !== undefined && { void: isVoid })
  }
}
