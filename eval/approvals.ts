import { isAbsolute, relative, resolve } from 'node:path'
import type { Approval } from './goal.ts'

/** Matches the parts of a command line that name a path or host outside of its folder. */
const OUTSIDE = /(?:^|[\s"'`=(:;|&<>])(?:~|\.\.(?=[/\s"']|$)|\/[^\s"'`;|&<>)]*|(?:sudo|curl|wget|ssh|scp|nc)(?=\s|$))/g
const PATHS = ['path', 'from', 'to', 'cwd']

/** Returns true if the user of a goal approves a call. */
export function isApproved (rule: Approval, { toolName, input }: { toolName: string, input: unknown }, folder: string): boolean {
  if (rule === 'all') return true
  if (rule === 'none') return false
  if (typeof rule === 'object') return !rule.deny.test(`${toolName} ${JSON.stringify(input)}`)
  const fields = input as Record<string, unknown> | null ?? {}
  const paths = PATHS.map((name) => fields[name]).filter((path) => typeof path === 'string')
  return paths.every((path) => isInside(folder, path)) && (typeof fields.command !== 'string' || staysInside(fields.command, folder))
}

function isInside (folder: string, path: string): boolean {
  const way = relative(folder, resolve(folder, path))
  return !way.startsWith('..') && !isAbsolute(way)
}

const staysInside = (command: string, folder: string) =>
  [...command.matchAll(OUTSIDE)].every(([found]) => {
    const path = found.replace(/^[\s"'`=(:;|&<>]/, '')
    return path === '/dev/null' || (path.startsWith('/') && isInside(folder, path))
  })
