import type { TSchema } from '@sinclair/typebox'

/** What a tool does to the world: only `read` may be repeated freely. */
export type ToolEffect = 'read' | 'write' | 'external'

export type Permission = 'allow' | 'ask' | 'deny'

/** The identity of a folder, independent of its name: device and inode, as decimal numbers. */
export interface FolderIdentity {
  dev: string
  ino: string
}

/** What a tool is told about the call it serves. */
export interface ToolContext {
  /** Aborts when the caller leaves, the run is stopped or its time is up. A tool ends promptly, its children with it. */
  signal: AbortSignal
  runId: string
  callId: string
  /** Real path of the folder that relative paths resolve against. */
  cwd: string
  /** The same folder as it was given; a symbolic link may lead from here to `cwd`. */
  givenCwd: string
  /** Which folder the call was approved for, where it was asked about: it works in no other. */
  approvedFolder?: FolderIdentity
}

export type ToolOutput = Record<string, unknown>

/** A tool of the agent. Failures are thrown as errors whose message the model can act on. */
export interface Tool<Input = any> {
  name: string
  description: string
  /** JSON Schema of the input; it is validated before `execute` is called. */
  inputSchema: TSchema
  effect: ToolEffect
  /** Its default, where this is not the one of its effect: see `createPermissions`. */
  permission?: Permission
  /** Milliseconds after which a call is stopped; 60 s unless the tool says otherwise. */
  timeLimitMs?: number
  /** Why it cannot be used here, a sentence: it is then not offered. */
  unavailable?(): string | undefined
  /** The folder that an input names for the call to work in; undefined for the one the run works in. */
  folder?(input: Input): string | undefined
  /** How a model is shown an output, where that differs from what readers get. */
  forModel?(output: ToolOutput): ToolOutput
  execute(input: Input, context: ToolContext): Promise<ToolOutput>
}
