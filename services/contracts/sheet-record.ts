import type { SheetLine } from '../../schemas/sheets.ts'

/** A stored line of a sheet: its call, of which the events of the run hold the whole input, and what was accepted of it. */
export interface StoredLine extends Omit<SheetLine, 'void'> {
  /** See `inputDigest`. */
  digest: string
  /** The identity of the tool, for tools whose definition may change under the same name. */
  identity?: string
  /** The step in which the call was made. */
  step: number
}

/** The calls that a rehearsal has noted so far. */
export interface StoredSheet {
  /** The folder for which the rehearsal is made; the run itself works in a copy of it. */
  cwd: string
  /** In a task: a digest of goal, plan and folder. If one of them changes, the run would do something else. */
  goal?: string
  lines: StoredLine[]
}

/** The fields of a line that the engine finds out about a call of a rehearsal. */
export type NewLine = Pick<
  StoredLine,
  'toolCallId' | 'toolName' | 'input' | 'identity' | 'outcome' | 'asks' | 'reason' | 'toolServer' | 'boundary' | 'scopes'
>

/** The part of a rehearsal that the engine of runs uses. */
export interface Rehearsed {
  /** The folder for which the rehearsal is made. */
  cwd: string
  /** The run works on a copy even without a rehearsal: calls that change only the copy do not ask. */
  isOnCopy?: boolean
  /** Adds a call to the sheet. */
  note: (line: NewLine) => void
}
