import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The settings of the user's git that programs in a box see: who makes commits. Others may name programs or hold passwords. */
const SHOWN: Record<string, string[]> = { user: ['name', 'email'], init: ['defaultbranch'], core: ['autocrlf'] }
const FILES = ['.config/git/config', '.gitconfig']

/** Returns a configuration for git in a box, from what the user's own says in the usual form; undefined when it says nothing. */
export function gitIdentity (home: string): string | undefined {
  const found = new Map<string, string>()
  for (const file of FILES) for (const [name, value] of settingsOf(join(home, file))) found.set(name, value)
  if (found.size === 0) return undefined
  const lines = [...found].map(([name, value]) => {
    const [section, key] = name.split('.')
    return `[${section}]\n\t${key} = "${value.replace(/["\\]/g, '\\$&')}"\n`
  })
  return lines.join('')
}

function settingsOf (path: string): Array<[name: string, value: string]> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return []
  }
  let section = ''
  return text.split('\n').flatMap((line): Array<[string, string]> => {
    section = /^\s*\[([^\]]*)\]\s*$/.exec(line)?.[1].toLowerCase() ?? section
    const [, key, value] = /^\s*([A-Za-z]+)\s*=\s*"?([^"\\#;]*?)"?\s*$/.exec(line) ?? []
    return key !== undefined && SHOWN[section]?.includes(key.toLowerCase()) ? [[`${section}.${key.toLowerCase()}`, value]] : []
  })
}
