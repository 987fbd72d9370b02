import type { SheetLine } from '../../schemas/sheets.ts'

/** A line of a sheet as it is stored: its call, whose whole input the events of the run hold, and what was accepted of it. */
export interface StoredLine extends Omit<SheetLine, 'void'> {
  /** See `inputDigest`. */
  digest: string
  /** The identity of the tool, for tools that may change under the same name. */
  identity?: string
  /** The step in which the call was made. */
  step: number
}

/** What a rehearsal has shown so far. */
export interface StoredSheet {
  /** The folder that the run would have worked in; it works in a copy. */
  cwd: string
  /** Of a task: a digest of goal, plan and folder, as with other ones the run would do something else. */
  goal?: string
  lines: StoredLine[]
}

/** What the engine finds out about a call of a rehearsal. */
export type NewLine = Pick<
  StoredLine,
  'toolCallId' | 'toolName' | 'input' | 'identity' | 'outcome' | 'asks' | 'reason' | 'toolServer' | 'boundary' | 'scopes'
>

/** What a rehearsal is to the engine of runs. */
export interface Rehearsed {
  /** The folder that the run would have worked in. */
  cwd: string
  /** The run works on a copy anyway: what changes that alone asks nothing. */
  isOnCopy?: boolean
  /** Adds a call to the sheet. */
  note: (line: NewLine) => void
}
