/** Relative paths of calls, changes, claims and `atEnd` are read from here. */
export const workspace = '/home/user/project'

export type Effect = 'file' | 'deletion' | 'command' | 'message' | 'other'
export type Outcome = 'done' | 'nothing_to_do' | 'partly' | 'failed' | 'asks'
export type Verdict = 'confirmed' | 'contradicted' | 'unchecked'

/** `null` is a file that does not exist. A completed moveFile names the new path here; its `from` is gone. */
export interface ChangedFile {
  path: string
  before: string | null
  after: string | null
}
export interface ToolCall {
  id: string
  tool: string
  input: Record<string, unknown>
  status: 'completed' | 'error' | 'denied' | 'unknown'
  output?: unknown
  durationMs?: number
  changedFile?: ChangedFile
}
export interface Claim {
  claim: string
  effect: Effect
  target?: string
  call: string | null
  /** What a judge may note beside: how many, and whether the report says that it succeeded. */
  count?: number
  succeeded?: boolean
}
export interface Judgement {
  outcome: Outcome
  claims: Claim[]
  satisfied: boolean
  score: number
  issues: string[]
}
export interface JudgeCase {
  name: string
  language: string
  goal: string
  calls: ToolCall[]
  report: string
  /** The model ended for length, so the report breaks off. */
  cutOff?: true
  /** Files as they are after the run where the recorded changes alone do not tell it: commands, other programs. */
  atEnd?: Record<string, string | null>
  judgement: Judgement
  expect: { status: 'completed' | 'failed', claims: Verdict[] }
}

type Input = Record<string, unknown>
export const call = (id: string, tool: string, input: Input, output?: unknown): ToolCall => ({
  id,
  tool,
  input,
  status: 'completed',
  output
})
export const failedCall = (id: string, tool: string, input: Input, output: string): ToolCall => ({
  id,
  tool,
  input,
  status: 'error',
  output
})
export const deniedCall = (id: string, tool: string, input: Input): ToolCall => ({ id, tool, input, status: 'denied' })
/** The process died while the call ran. */
export const unknownCall = (id: string, tool: string, input: Input): ToolCall => ({ id, tool, input, status: 'unknown' })
export const wrote = (id: string, path: string, after: string, before: string | null = null): ToolCall => ({
  id,
  tool: 'writeFile',
  input: { path, content: after },
  status: 'completed',
  changedFile: { path, before, after }
})
export const edited = (id: string, path: string, before: string, after: string): ToolCall => ({
  id,
  tool: 'editFile',
  input: { path, find: before, replace: after },
  status: 'completed',
  changedFile: { path, before, after }
})
export const moved = (id: string, from: string, to: string, content: string): ToolCall => ({
  id,
  tool: 'moveFile',
  input: { from, to },
  status: 'completed',
  changedFile: { path: to, before: null, after: content }
})
export const deleted = (id: string, path: string, before: string): ToolCall => ({
  id,
  tool: 'deleteFile',
  input: { path },
  status: 'completed',
  changedFile: { path, before, after: null }
})
export const ran = (id: string, command: string, exitCode: number, stdout = '', stderr = '', durationMs = 240): ToolCall => ({
  id,
  tool: 'runCommand',
  input: { command },
  status: 'completed',
  output: { exitCode, stdout, stderr },
  durationMs
})

export const claim = (effect: Effect, text: string, target?: string, call: string | null = null): Claim =>
  target === undefined ? { claim: text, effect, call } : { claim: text, effect, target, call }

const scores: Record<Outcome, number> = { done: 0.9, nothing_to_do: 0.9, partly: 0.5, failed: 0.2, asks: 0.3 }
/** What a careful judge answers. */
export const judged = (outcome: Outcome, claims: Claim[] = [], issues: string[] = []): Judgement => ({
  outcome,
  claims,
  satisfied: outcome === 'done' || outcome === 'nothing_to_do',
  score: scores[outcome],
  issues
})
/** What a judge answers that likes every run. */
export const likes = (...claims: Claim[]): Judgement => ({ outcome: 'done', claims, satisfied: true, score: 0.97, issues: [] })

export const completes = (...claims: Verdict[]): JudgeCase['expect'] => ({ status: 'completed', claims })
export const fails = (...claims: Verdict[]): JudgeCase['expect'] => ({ status: 'failed', claims })
