import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { BoxFile } from './linux-box.ts'

/**
 * The settings that a repository made by a command in a box (a sandbox) keeps, by section in lower case; `*` stands for a subsection. None
 * of them names a program, a file that git reads, or an address that git runs as a program.
 */
const HARMLESS: Record<string, RegExp> = {
  core: new RegExp(
    '^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|abbrev|' +
      'quotepath|sparsecheckout|sparsecheckoutcone)$'
  ),
  extensions: /^(?:objectformat|refstorage|partialclone)$/,
  'remote *': /^(?:url|pushurl|fetch|push|tagopt|prune|prunetags|mirror|promisor|partialclonefilter|skipfetchall|skipdefaultupdate)$/,
  'branch *': /^(?:remote|merge|rebase|pushremote|description)$/,
  'submodule *': /^(?:url|active|branch)$/,
  submodule: /^(?:active|recurse)$/,
  user: /^(?:name|email)$/,
  init: /^defaultbranch$/,
  pull: /^(?:rebase|ff)$/,
  push: /^(?:default|autosetupremote|followtags)$/,
  fetch: /^(?:prune|prunetags)$/,
  merge: /^(?:ff|conflictstyle)$/,
  rebase: /^(?:autosquash|autostash|updaterefs)$/,
  rerere: /^enabled$/,
  gc: /^auto$/,
  commit: /^gpgsign$/,
  tag: /^gpgsign$/,
  advice: /^[a-z]+$/,
  color: /^[a-z]+$/
}
/** The line formats in which git itself writes a configuration. Any other line could mean something else to git than to this parser. */
const SECTION = /^\[([a-z][a-z0-9-]*)(?: "([^"\\\n]*)")?\]$/i
// eslint-disable-next-line no-control-regex
const ENTRY = /^\t([a-z][a-z0-9-]*) = ([^"\\#;\u0000-\u001f\u007f]*)$/i
/** Addresses by which git would start a program (gitremote-helpers(7)), or that look like an option. */
const PROGRAM = /^\s*-|::/

/**
 * Splits the text of a git configuration into the lines that are known to be harmless (`text`) and the others (`dropped`). `worktree` is a
 * line in [core] that a submodule has, and that is kept.
 */
export function harmlessSettings (text: string, worktree?: string): { text: string, dropped: string[] } {
  const kept: string[] = []
  const dropped: string[] = []
  let section = ''
  for (const line of text.split('\n')) {
    if (line === '') continue
    if (SECTION.test(line)) section = line
    if (isHarmless(section, line) || (line === worktree && section === '[core]')) kept.push(line)
    else dropped.push(line.trim())
  }
  return { text: kept.map((line) => `${line}\n`).join(''), dropped }
}

/** Whether `after` is `before` followed by new sections with harmless settings alone, such as the section of another remote. */
export function addsHarmless (before: string, after: string): boolean {
  const old = before.trimEnd()
  if (!after.startsWith(`${old}\n`)) return false
  const added = after.slice(old.length + 1)
  return added.startsWith('[') && harmlessSettings(added).dropped.length === 0
}

function isHarmless (header: string, line: string): boolean {
  const [, section, subsection] = SECTION.exec(header) ?? []
  if (section === undefined) return false
  const settings = HARMLESS[`${section.toLowerCase()}${subsection === undefined ? '' : ' *'}`]
  if (settings === undefined) return false
  if (line === header) return true
  const [, name, value] = ENTRY.exec(line) ?? []
  return name !== undefined && settings.test(name.toLowerCase()) && !PROGRAM.test(value)
}

/** The settings from the user's git configuration that programs in a box see. Other settings might name programs or hold passwords. */
const SHOWN: Record<string, string[]> = { user: ['name', 'email'], init: ['defaultbranch'], core: ['autocrlf'] }
const FILES = ['.config/git/config', '.gitconfig']

/** The path of the git settings in a box, and the path of the settings of the system. */
const SETTINGS = '/run/gitconfig'
const OF_SYSTEM = '/etc/gitconfig'

/**
 * Writes the git settings of a box to a file in `folder`, which is outside the box: the settings of the system and, from the user's
 * settings, those in SHOWN. Git reads this file in place of the system's file, so a command can still write a ~/.gitconfig in the box.
 */
export async function writeGitSettings (folder: string, home = homedir()): Promise<{ env: NodeJS.ProcessEnv, files: BoxFile[] }> {
  const from = join(folder, 'gitconfig')
  await writeFile(from, `[include]\n\tpath = ${OF_SYSTEM}\n${gitIdentity(home)}`, { mode: 0o600 })
  return { env: { GIT_CONFIG_SYSTEM: SETTINGS }, files: [{ from, to: SETTINGS }] }
}

function gitIdentity (home: string): string {
  const found = new Map<string, string>()
  for (const file of FILES) for (const [name, value] of settingsOf(join(home, file))) found.set(name, value)
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
