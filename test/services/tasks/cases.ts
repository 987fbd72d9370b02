import type { Plan } from '../../fakes/gateway.ts'

/** A run of a task: what the model does, turn by turn; the last turn is repeated, also when it is told to mend its work. */
export interface Case {
  goal: string
  turns: Plan[]
  /** Files that are there before. */
  files?: Record<string, string>
  /** Phases, when the one that the goal is does not do. */
  phases?: string[]
}

export const say = (text: string): Plan => ({ text: [text] })
export const call = (toolName: string, input: object): Plan => ({ toolCalls: [{ toolName, input }] })
export const write = (path: string, content = 'Some lines of text.\n') => call('writeFile', { path, content })
export const read = (path: string) => call('readFile', { path })
export const run = (command: string) => call('runCommand', { command })
export const done = (...phases: string[]): Plan => ({
  toolCalls: phases.map((phase) => ({ toolName: 'updatePhase', input: { phase, status: 'completed' } }))
})
