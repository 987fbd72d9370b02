import type { SheetLine } from '../../schemas/sheets.ts'

/**
 * A stored line of a sheet, the list of the calls that a rehearsal would have made: a call, and what a person accepted of the line. The
 * events of the run contain the whole input of the call.
 */
export interface StoredLine extends Omit<SheetLine, 'void'> {
  /** See `inputDigest`. */
  digest: string
  /** The identity of the tool, for tools whose definition can change under the same name. */
  identity?: string
  /** The step in which the call was made. */
  step: number
}

/** The sheet of a rehearsal: the calls that the run would make. */
export interface StoredSheet {
  /** The folder for which the rehearsal is made. The rehearsal itself works in a copy of this folder. */
  cwd: string
  /** Tasks only: a digest of goal, plan and folder. If one of these changes, the sheet is no longer valid. */
  goal?: string
  lines: StoredLine[]
}

/** The fields of a line that the engine determines for a call of a rehearsal. */
export type NewLine = Pick<
  StoredLine,
  'toolCallId' | 'toolName' | 'input' | 'identity' | 'outcome' | 'asks' | 'reason' | 'toolServer' | 'boundary' | 'scopes'
>
