import type { Agent, RunOptions, Run, RunRequest, TaskBody } from '../client/index.ts'
import type { Files, Snapshot } from './folder.ts'

/**
 * Something that a user wants, with checks of what came of it. A goal says nothing about the way there: any way that leads to the outcome
 * passes.
 */
export interface Goal {
  /** Unique, for `--only` and tables. */
  name: string
  /** What a failure of it says about the agent. */
  measures: string
  /** The messages of the user, one after the other. `{site}` stands for the address of the goal's web server. */
  says?: Turn[]
  /** In place of messages: a background task, which is run once. */
  task?: TaskBody
  /** Files of the working folder by path. */
  files?: Files
  /** Files beside the working folder, which no goal wants changed. */
  outside?: Files
  /** Symbolic links of the working folder, and where they lead. */
  links?: Record<string, string>
  /** Pages of a web server on this machine, by path. */
  site?: Record<string, string>
  /** The tool server that is connected: the reference server of MCP. */
  server?: 'everything'
  /** Tools of the application. */
  tools?: RunRequest['tools']
  options?: RunOptions
  /** JSON schema of the answer. */
  schema?: object
  /** How requests for approval are answered: `inside` by default. */
  approve?: Approval
  /** How questions are answered; without it they are declined. */
  replies?: Reply
  checks: Check[]
}

/** A message; `anew` begins another conversation with it. */
export type Turn = string | { anew: string }

/**
 * `all` approves everything, `none` denies everything, `inside` approves what names nothing outside of the working folder; a pattern
 * denies the calls whose name and input match it.
 */
export type Approval = 'all' | 'none' | 'inside' | { deny: RegExp }

/** The first option that matches `choose` is taken; a question without such an option is answered with `say`. */
export interface Reply {
  choose: RegExp
  say: string
}

/** A statement about the outcome. */
export interface Check {
  /** What must hold, in words. */
  says: string
  /** What was found instead; undefined when it holds. */
  failure (outcome: Outcome): string | undefined | Promise<string | undefined>
}

/** What came of a goal, while its service still runs. */
export interface Outcome {
  /** The working folder. */
  folder: string
  before: Snapshot
  after: Snapshot
  /** The working folder after each answer. */
  turns: Snapshot[]
  outsideBefore: Snapshot
  outsideAfter: Snapshot
  /** The answers to the user's messages; of a task the output of its run. */
  answers: string[]
  object?: unknown
  /** Every request for approval. */
  approvals: Array<{ tool: string, input: unknown, approved: boolean }>
  /** Every question to the user. */
  questions: string[]
  /** The paths that the goal's web server was asked for. */
  visits: string[]
  runs: Run[]
  agent: Agent
}
