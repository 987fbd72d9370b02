import { isObject, readJson } from '../lib/json.ts'
import type { Config } from '../../schemas/config.ts'
import type { TaskEvaluation } from '../../schemas/evaluation.ts'
import type { Answers } from '../../schemas/questions.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import type { Stopped } from '../../schemas/stopped.ts'
import type { Expects, TaskBody } from '../../schemas/tasks.ts'
import type { Usage } from '../../schemas/usage.ts'
import type { BoxKind } from '../sandbox/index.ts'
import type { FileChange, Permission, ToolEffect } from '../contracts/tool.ts'
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { Reply } from '../models/index.ts'
import { Usage as BadUsage } from '../lib/usage-error.ts'

// A recording is a file of JSON lines: the header, then the request of the run and its events in order. An answer of a model comes
// after everything that was new to the model. A file that a person writes, with a header, a request and answers, is a recording, too.

/** The version of the format. Readers ignore lines and fields that they do not know, so most changes need no new version. */
export const FORMAT = 1
/** The greatest size of a recording; bytes. */
export const MOST_BYTES = 50 * 1024 * 1024

export interface Header {
  type: 'recording'
  version: number
  /** The version of the service that wrote the recording. */
  service?: string
  /** Milliseconds since the Unix epoch. */
  recordedAt?: number
  startedAt?: number
  /** The capable model with its context window in tokens, and the fast model for questions beside the steps. */
  models?: { capable?: string, fast?: string, window?: number }
  /** The settings that affect how the run goes. */
  config?: Pick<Config, 'permissions' | 'analysis' | 'agent' | 'commands' | 'roots'>
  /** The kind of box (sandbox) in which commands ran. */
  box?: BoxKind['is']
  /** The replacements: the kind of secret, its placeholder, and how often it occurred. */
  replaced?: Array<{ what: string, by: string, count: number }>
  /** Descriptions of parts of the run that the recording does not contain. */
  notHeld?: string[]
  /** Why the run cannot be replayed. */
  cannotReplay?: string
}

/** The request in a conversation that began the run. */
export interface RequestLine {
  type: 'request'
  messages: Array<{ role: string, [field: string]: unknown }>
  options?: RunOptions
}

/** The task to which the run belongs. */
interface TaskLine {
  type: 'task'
  goal: string
  plan?: { phases: Array<{ description: string }>, qualityCriteria?: string[], expects?: Expects }
  approval?: TaskBody['approval']
  options?: RunOptions
  /** The steering comments for this run. */
  steering?: string[]
  /** The data that was given to the run when it was created. */
  input?: unknown
}

/** The texts that the model received besides the messages. */
export interface ContextLine {
  type: 'context'
  system: string[]
  tools: LanguageModelV4FunctionTool[]
  /** The names of deferred tools, which the model could find by a search. */
  deferred?: string[]
}

/** A tool server with tools that the run could use. */
export interface ServerLine {
  type: 'server'
  name: string
  instructions?: string
  tools: Array<{ name: string, description: string, inputSchema: object, effect: ToolEffect, permission: Permission }>
}

/** The answer of the capable model to one step. */
export interface AnswerLine extends Reply {
  type: 'answer'
  /** The answer was cut off, because the run was stopped or the service ended. */
  isCut?: true
  /** The error, if the model call failed. */
  failure?: { code: string, message: string }
}

/** The answer of a model to a question beside the steps, such as the analysis. */
interface AsideLine {
  type: 'aside'
  name: string
  text: string
  usage?: Usage
}

/** A tool call and its outcome. */
export interface CallLine {
  type: 'call'
  id?: string
  toolName: string
  input: unknown
  output?: Record<string, unknown>
  error?: string
  /** The input was refused before any tool ran. */
  isInvalid?: true
  denied?: string
  /** `grant`: a grant allowed the call. `app`: the application executed it. `user`: the user answered it. Absent for any other call. */
  by?: 'grant' | 'app' | 'user'
  changes?: FileChange[]
  durationMs?: number
}

/** A question to a person, and the decision. Without `approved` nobody answered. */
export interface ApprovalLine {
  type: 'approval'
  kind: 'tool' | 'question' | 'result'
  /** The id of the call; absent for the approval of a task's result. */
  call?: string
  toolName?: string
  approved?: boolean
  reason?: string
  /** The approval was asked for because of an address, so whether it is needed depends on the rest of the conversation. */
  isContextual?: true
  /** The corrected input, if the person changed the model's input. */
  input?: unknown
  answers?: Answers
}

/** A message between two steps, from the user, from a review, or from the service itself. */
export interface MessageLine {
  type: 'message'
  from: 'user' | 'review' | 'service'
  text: string
}

/**
 * A file that the run read or changed, with its text before and after the run: null if the file did not exist,
 * absent if the text is unknown.
 */
export interface FileLine {
  type: 'file'
  path: string
  before?: string | null
  after?: string | null
}

/** How the run ended. */
export interface EndLine {
  type: 'end'
  status: string
  output?: string
  object?: Record<string, unknown>
  error?: { code?: string, message: string }
  stopped?: Stopped
  evaluation?: TaskEvaluation
  usage?: Usage
  durationMs?: number
}

/** What a person expects of the run, independent of the model. */
export interface ExpectLine {
  type: 'expect'
  /** The names of tools with at least one successful call. */
  calls?: string[]
  /** The names of exactly those tools for whose calls a person was asked, sorted. */
  approvals?: string[]
  /** Regular expressions for the texts of files, by path relative to the working folder; null for a file that must not exist. */
  files?: Record<string, string | null>
  /** A regular expression for the answer. */
  answer?: string
}

export type Line =
  | Header
  | RequestLine
  | TaskLine
  | ContextLine
  | ServerLine
  | AnswerLine
  | AsideLine
  | CallLine
  | ApprovalLine
  | MessageLine
  | FileLine
  | EndLine
  | ExpectLine
type LineOf<T extends Line['type']> = Extract<Line, { type: T }>

/** A parsed recording. */
export interface Recording {
  header: Header
  /** All lines except the header, in order. */
  lines: Line[]
}

/** Returns the lines of a recording that have this type. */
export const linesOf = <T extends Line['type']>({ lines }: Pick<Recording, 'lines'>, type: T): Array<LineOf<T>> =>
  lines.filter((line): line is LineOf<T> => line.type === type)

/** Parses a recording. Throws BadUsage for a text that is no recording or has a newer format. `name` is used in error messages. */
export function readRecording (text: string, name: string): Recording {
  const parsed = text.split('\n').flatMap((line, at): Line[] => {
    if (line.trim() === '') return []
    const read: unknown = readJson(line)
    if (isObject(read)) return [read as Line]
    const what = `line ${at + 1} is no JSON object`
    throw new BadUsage(`${name} is no recording: ${what}. A recording is the answer of POST /runs/:runId/recording.`)
  })
  const [header, ...lines] = parsed
  if (header?.type !== 'recording' || !Number.isInteger(header.version)) {
    throw new BadUsage(`${name} is no recording: its first line is not {"type":"recording","version":${FORMAT}}.`)
  }
  if (header.version > FORMAT) {
    throw new BadUsage(`${name} was written by a newer version of the service (format ${header.version}; this one reads up to ${FORMAT}).`)
  }
  const recording = { header, lines }
  if (linesOf(recording, 'request').length + linesOf(recording, 'task').length !== 1) {
    throw new BadUsage(`${name} has no request: a recording has one line of type "request" or "task".`)
  }
  return recording
}
