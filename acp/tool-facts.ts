import { resolve } from 'node:path'
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk'

const KINDS: Record<string, ToolKind> = {
  readFile: 'read',
  readAttachment: 'read',
  listDirectory: 'read',
  searchFiles: 'search',
  findFiles: 'search',
  editFile: 'edit',
  writeFile: 'edit',
  moveFile: 'move',
  deleteFile: 'delete',
  runCommand: 'execute',
  readCommand: 'execute',
  stopCommand: 'execute',
  fetchUrl: 'fetch',
  webSearch: 'fetch',
  updatePlan: 'think',
  investigate: 'think'
}
/** Input fields that describe a call in one line, by priority. */
const TARGETS = ['command', 'path', 'from', 'url', 'query', 'pattern', 'goal', 'question', 'text']
const MAX_TITLE = 120
/** The longest output that is shown as text, in characters. */
const MAX_TEXT = 20_000

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? value as Record<string, unknown> : {}

export const kindOf = (toolName: string): ToolKind => KINDS[toolName] ?? 'other'

/** Returns the title of a call: the tool's name and the most descriptive input field. */
export function titleOf (toolName: string, input?: unknown): string {
  const fields = fieldsOf(input)
  const target = TARGETS.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '')
  const title = target === undefined ? toolName : `${toolName}: ${String(target).replace(/\s+/g, ' ')}`
  return title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1)}…` : title
}

/** Returns the files that a call names. */
export function locationsOf (input: unknown, cwd: string): ToolCallLocation[] {
  const fields = fieldsOf(input)
  return ['path', 'from', 'to'].flatMap((name) => {
    const path = fields[name]
    return typeof path === 'string' && path !== '' ? [{ path: resolve(cwd, path) }] : []
  })
}

export const textContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } })

/** Returns the output of a call for the editor: a changed file as a diff, other output as text. */
export function outputContent (output: unknown, cwd: string): ToolCallContent[] {
  const fields = fieldsOf(output)
  if (typeof fields.diff === 'string' && typeof fields.path === 'string') {
    const diffs = diffContent(fields.diff, resolve(cwd, fields.path))
    if (diffs.length > 0) return diffs
  }
  const text = ['stdout', 'content', 'text', 'report'].map((name) => fields[name]).filter((value) => typeof value === 'string').join('\n')
  const errors = typeof fields.stderr === 'string' && fields.stderr !== '' ? `\n${fields.stderr}` : ''
  const shown = text + errors || JSON.stringify(output, null, 2) || ''
  return [textContent(shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT)}\n(cut after ${MAX_TEXT} characters)` : shown)]
}

/**
 * Returns each hunk of a unified diff of one file as an ACP diff, with its lines before and after the change. Returns an empty list for a
 * text that is no diff, such as a note that there is none.
 */
export function diffContent (unified: string, path: string): ToolCallContent[] {
  const [head, ...hunks] = unified.split(/^@@ .*@@.*\n/m)
  const isNew = /^--- \/dev\/null$/m.test(head)
  return hunks.map((hunk) => {
    const sides = { old: '', new: '' }
    let last = ''
    for (const line of hunk.split(/(?<=\n)/)) {
      const text = line.slice(1)
      if (line.startsWith('\\')) {
        // "\ No newline at end of file" refers to the line before it.
        if (last !== '+') sides.old = sides.old.replace(/\n$/, '')
        if (last !== '-') sides.new = sides.new.replace(/\n$/, '')
        continue
      }
      last = line[0]
      if (last !== '+') sides.old += text
      if (last !== '-') sides.new += text
    }
    return { type: 'diff', path, oldText: isNew ? null : sides.old, newText: sides.new }
  })
}
