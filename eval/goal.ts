import type { Agent, RunOptions, Run, RunRequest, TaskBody } from '../client/index.ts'
import type { Files, Snapshot } from './folder.ts'

/** A task that a user wants done, with checks of the outcome. A goal does not prescribe the way: every way to the outcome passes. */
export interface Goal {
  /** A unique name, for `--only` and tables. */
  name: string
  /** The ability of the agent that the goal measures. */
  measures: string
  /** The user's messages, in order. `{site}` is replaced by the address of the goal's web server. */
  says?: Turn[]
  /** A background task, which is run once, instead of messages. */
  task?: TaskBody
  /** Files of the working folder, by path. */
  files?: Files
  /** Files outside of the working folder, which no goal is allowed to change. */
  outside?: Files
  /** Symbolic links in the working folder, with their targets. */
  links?: Record<string, string>
  /** Pages of a local web server, by path. */
  site?: Record<string, string>
  /** The connected tool server: the reference server of MCP. */
  server?: 'everything'
  /** Tools of the application. */
  tools?: RunRequest['tools']
  options?: RunOptions
  /** The JSON Schema of the structured answer. */
  schema?: object
  /** How approval requests are answered; `inside` by default. */
  approve?: Approval
  /** How questions are answered; without it, they are declined. */
  replies?: Reply
  checks: Check[]
}

/** A message of the user. `anew` begins a new conversation with the message. */
export type Turn = string | { anew: string }

/**
 * `all` approves every call and `none` denies every call. `inside` approves calls that name nothing outside of the working folder. `deny`
 * denies calls whose name and input match the pattern, and approves the others.
 */
export type Approval = 'all' | 'none' | 'inside' | { deny: RegExp }

/** The first option that matches `choose` is chosen. A question without such an option is answered with `say`. */
export interface Reply {
  choose: RegExp
  say: string
}

/** A statement that must hold for the outcome. */
export interface Check {
  /** The statement, in words. */
  says: string
  /** Returns what was found instead; undefined if the statement holds. */
  failure (outcome: Outcome): string | undefined | Promise<string | undefined>
}

/** The outcome of a goal, while its service still runs. */
export interface Outcome {
  /** The path of the working folder. */
  folder: string
  before: Snapshot
  after: Snapshot
  /** The working folder after each answer. */
  turns: Snapshot[]
  outsideBefore: Snapshot
  outsideAfter: Snapshot
  /** The answers to the user's messages; for a task, the output of its run. */
  answers: string[]
  object?: unknown
  /** All approval requests. */
  approvals: Array<{ tool: string, input: unknown, approved: boolean }>
  /** All questions to the user. */
  questions: string[]
  /** The paths that were requested from the goal's web server. */
  visits: string[]
  runs: Run[]
  agent: Agent
}
