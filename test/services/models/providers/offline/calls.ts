import t from 'tap'
import { readSteps } from '../../../../../services/models/providers/offline/steps.ts'

/** A tool call by name and input, as the tables write it. */
export type Call = [string, Record<string, unknown>]
export const list = (path = '.'): Call => ['listDirectory', { path }]
export const read = (path: string): Call => ['readFile', { path }]
export const write = (path: string, content: string): Call => ['writeFile', { path, content }]
export const remove = (path: string, recursive?: true): Call => ['deleteFile', recursive ? { path, recursive } : { path }]
export const run = (command: string, cwd?: string): Call => ['runCommand', cwd === undefined ? { command } : { command, cwd }]
export const fetched = (url: string): Call => ['fetchUrl', { url }]
export const search = (query: string): Call => ['webSearch', { query }]
export const searched = (pattern: string, path?: string): Call => ['searchFiles', { pattern, ...path && { path }, literal: true }]
export const system: Call = ['systemInfo', {}]
export const screenshot: Call = ['screenshot', {}]
export const desktop = (toolName: 'click' | 'type' | 'scroll', input: Record<string, unknown>): Call => [toolName, input]
export const unread = (text: string): Call => ['unread', { text }]

export const calls = (message: string): Call[] =>
  readSteps(message).map((step) => step.kind === 'command' ? [step.toolName, step.input] : unread(step.text))

/** A test for each behaviour: messages, and the calls that each of them means. */
export function phrasings (table: Record<string, Array<[string, ...Call[]]>>): void {
  for (const [behaviour, rows] of Object.entries(table)) {
    t.test(behaviour, async (t) => {
      for (const [message, ...expected] of rows) t.strictSame(calls(message), expected, JSON.stringify(message))
    })
  }
}
