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

// A recording is a file of JSON lines: the header, then the request of the run and its events in their order. An answer of a model stands
// behind everything that was new to the model. A file that a person writes, with a header, a request and answers, is a recording, too.

/** The version of the format. Lines and fields that a reader does not know are ignored, so most changes need no new version. */
export const FORMAT = 1
/** The greatest size of a recording, bytes. */
export const MOST_BYTES = 50 * 1024 * 1024

export interface Header {
  type: 'recording'
  version: number
  /** The version of the service that wrote it. */
  service?: string
  /** Milliseconds since the Unix epoch. */
  recordedAt?: number
  startedAt?: number
  /** The capable model with its context window in tokens, and the model for questions beside the steps. */
  models?: { capable?: string, fast?: string, window?: number }
  /** The settings that affect how a run goes. */
  config?: Pick<Config, 'permissions' | 'analysis' | 'agent' | 'commands' | 'roots'>
  /** The kind of box for commands. */
  box?: BoxKind['is']
  /** The replacements: the kind of secret, its placeholder, and how often it occurred. */
  replaced?: Array<{ what: string, by: string, count: number }>
  /** Sentences about parts of the run that are not in the file. */
  notHeld?: string[]
  /** Why the run cannot be replayed. */
  cannotReplay?: string
}

/** The request of a conversation. */
export interface RequestLine {
  type: 'request'
  messages: Array<{ role: string, [field: string]: unknown }>
  options?: RunOptions
}

/** The task of the run. */
interface TaskLine {
  type: 'task'
  goal: string
  plan?: { phases: Array<{ description: string }>, qualityCriteria?: string[], expects?: Expects }
  approval?: TaskBody['approval']
  options?: RunOptions
  /** What the user said to this run. */
  steering?: string[]
  /** The data that the run began with. */
  input?: unknown
}

/** The texts that models got beside the messages. */
export interface ContextLine {
  type: 'context'
  system: string[]
  tools: LanguageModelV4FunctionTool[]
  /** The names of the tools that the model could find. */
  deferred?: string[]
}

/** A tool server whose tools the run had. */
export interface ServerLine {
  type: 'server'
  name: string
  instructions?: string
  tools: Array<{ name: string, description: string, inputSchema: object, effect: ToolEffect, permission: Permission }>
}

/** The answer of the capable model to one step. */
export interface AnswerLine extends Reply {
  type: 'answer'
  /** The answer was cut: the run was stopped, or the service ended. */
  isCut?: true
  /** The call of the model failed. */
  failure?: { code: string, message: string }
}

/** The answer to a question of the service, such as the analysis. */
interface AsideLine {
  type: 'aside'
  name: string
  text: string
  usage?: Usage
}

/** How a call of a tool ended. */
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
  /** What allowed the call, or who executed it, unless its tool ran after an approval or without one. */
  by?: 'grant' | 'app' | 'user'
  changes?: FileChange[]
  durationMs?: number
}

/** A question to a person, and the answer. Without a decision nobody answered. */
export interface ApprovalLine {
  type: 'approval'
  kind: 'tool' | 'question' | 'result'
  /** The id of the call; absent for the result of a task's run. */
  call?: string
  toolName?: string
  approved?: boolean
  reason?: string
  /** It was asked because of an address, which depends on the rest of the conversation. */
  isContextual?: true
  /** The input with which the person replaced the model's. */
  input?: unknown
  answers?: Answers
}

/** A message between two steps: of the user, of a review, or of the service itself. */
export interface MessageLine {
  type: 'message'
  from: 'user' | 'review' | 'service'
  text: string
}

/** A file that the run read or changed: its text before and after the run; null if there was no file, absent if the text is unknown. */
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

/** What a person expects of the run, whichever model answers. */
export interface ExpectLine {
  type: 'expect'
  /** Tools that must have been called and have succeeded. */
  calls?: string[]
  /** Exactly the tools for whose calls a person must have been asked, sorted. */
  approvals?: string[]
  /** Patterns of the texts of files, relative to the working folder; null for a file that must not be there. */
  files?: Record<string, string | null>
  /** A pattern of the answer. */
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

/** A recording that was read. */
export interface Recording {
  header: Header
  /** All lines but the header, in their order. */
  lines: Line[]
}

/** Returns the lines of one kind. */
export const linesOf = <T extends Line['type']>({ lines }: Pick<Recording, 'lines'>, type: T): Array<LineOf<T>> =>
  lines.filter((line): line is LineOf<T> => line.type === type)

/** Reads a recording. Throws Usage for a text that is none, or of a newer format. */
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
