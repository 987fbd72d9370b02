import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import type { Config } from '../../../schemas/config.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { readPath } from '../../lib/windows-path.ts'
import type { StoredRecord } from '../../store/index.ts'
import { PathRefused, withFile, withParent } from '../../workspace/index.ts'
import { type CopyView, pathMeant, type PathPolicy, realPathOf, within } from '../path-policy.ts'
import { allowedEntries } from './allowed-tools.ts'
import { readSkillFile, SkillRefused } from './front-matter.ts'
import { changedFiles, filesOf, type SkillFiles } from './skill-files.ts'

/** A skill, as read from the SKILL.md in its folder. */
export interface Skill {
  name: string
  /** The description, as one line. */
  description: string
  /** The real path of the skill's folder; `path` is the one that people see. */
  folder: string
  path: string
  /** True if the skill is in the working folder, false if it is in a folder of config.json. */
  isOfFolder: boolean
  /** The entries of the skill's `allowed-tools`; absent if it allows all tools. */
  allowedTools?: string[]
  /** True if models are not told of the skill, and only the user can choose it. */
  isForUser?: true
  body: string
  bodyLine: number
  /** The digest of the SKILL.md. */
  digest: string
  bytes: number
}

/** A folder with a SKILL.md that is not used as a skill. `path` is the one that people see. */
export interface UnusedSkill {
  name: string
  path: string
  isOfFolder: boolean
  reason: string
  /** True if another skill with the same name is used instead. */
  isHidden?: true
}

/** The recorded state of a skill. */
interface Pin {
  digest: string
  files: SkillFiles['digests']
}

/**
 * The states of the skills that were read, by path, and of the changed skills that were shown to a person, by run and path. The newest come
 * last.
 */
export interface StoredSkills {
  pins: Record<string, Pin>
  shown: Record<string, Pin>
}

/** The result of comparing a skill with its recorded state. `changed` names the files that differ. */
export type SkillState = { is: 'new' } | { is: 'known' } | { is: 'changed', changed: string[] }

interface Parts {
  paths: PathPolicy
  config: () => Config['skills']
  stored: StoredRecord<StoredSkills>
  copies?: CopyView
}

export type Skills = ReturnType<typeof createSkills>

/** The folders in a working folder that can hold skills. If two skills have the same name, the one in the earlier folder is used. */
const PLACES = [join('.agents', 'skills'), join('.claude', 'skills')]
const FILE = 'SKILL.md'
const MOST_FOLDERS = 200
const MOST_CACHED = 500
const MOST_PINS = 200
const MOST_SHOWN = 100
/** The most bytes of a SKILL.md. */
const LARGEST = 1024 * 1024
const LONGEST_NAME = 64
/** The most characters of a description. */
const LONGEST_DESCRIPTION = 4_096
/** Matches letters and digits, with single dots, dashes, underscores and spaces between them: no name can lead to another path. */
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}]|[._ -](?=[\p{L}\p{N}]))*$/u

/** Finds the skills of working folders, and records which ones were read, so that changes are noticed. */
export function createSkills ({ paths, config, stored, copies }: Parts) {
  const read = new Map<string, { version: string, skill: Skill }>()
  const places = (cwd: string) => {
    const { folders = [], enabled = true } = config() ?? {}
    if (!enabled) return []
    return [
      ...PLACES.map((place) => ({ base: join(cwd, place), isOfFolder: true })),
      ...folders.map((base) => ({ base, isOfFolder: false }))
    ]
  }

  /**
   * Returns the real path of a path in a place. In the working folder `owner`, the rules for all paths apply. Rejects if nothing is there.
   */
  const realOf = (path: string, { owner, isOfFolder }: { owner: string, isOfFolder: boolean }): Promise<string> =>
    isOfFolder ? paths.resolve(path, owner) : realpath(path)

  /** Returns the real path of a skill's folder. It must be inside `owner`, the real path of its place. Throws SkillRefused. */
  async function folderOf (path: string, place: { owner: string, isOfFolder: boolean }): Promise<string> {
    const real = await realOf(path, place).catch((error) => {
      if (error instanceof PathRefused) return undefined
      throw error
    })
    if (real === undefined || !within(real, place.owner)) {
      throw new SkillRefused(
        `It is a link that leads out of ${JSON.stringify(shownPath(place.owner))}. ` +
        'Name the folder that holds it in "skills.folders" of config.json.'
      )
    }
    if (await paths.isForbidden(real)) throw new SkillRefused('It belongs to the service itself.')
    return real
  }

  async function readSkill (folder: string, about: Pick<Skill, 'path' | 'isOfFolder'> & { entry: string }): Promise<Skill> {
    const file = join(folder, FILE)
    const real = await realpath(file)
    if (!within(real, folder)) throw new SkillRefused(`${FILE} is a link that leads out of its folder.`)
    const { size, mtimeMs, ctimeMs, ino } = await lstat(real)
    const version = [real, size, mtimeMs, ctimeMs, ino, about.path].join(' ')
    const known = read.get(folder)
    if (known?.version === version) return known.skill
    if (size > LARGEST) throw new SkillRefused(`${FILE} has ${size} bytes; the limit is ${LARGEST}.`)
    const bytes = await withParent(real, (parent, name) => withFile(parent, name, paths, (handle) => handle.readFile()))
    const skill = skillFrom(bytes, { ...about, folder })
    if (read.size >= MOST_CACHED) read.clear()
    read.set(folder, { version, skill })
    return skill
  }

  const shownPath = (path: string) => realPathOf(path, copies)

  /** Returns the skills in a place, and the folders there whose skill cannot be used. */
  async function inPlace (cwd: string, { base, isOfFolder }: { base: string, isOfFolder: boolean }) {
    const found: Array<Skill | UnusedSkill> = []
    const owner = await realpath(isOfFolder ? cwd : base).catch(() => undefined)
    const entries = owner === undefined ? [] : await readdir(base).catch(() => [])
    for (const entry of entries.sort().slice(0, MOST_FOLDERS)) {
      const path = shownPath(join(base, entry))
      if (await lstat(join(base, entry, FILE)).catch(() => undefined) === undefined) continue
      try {
        found.push(await readSkill(await folderOf(join(base, entry), { owner: owner!, isOfFolder }), { path, isOfFolder, entry }))
      } catch (error) {
        const reason = error instanceof SkillRefused ? error.message : `${FILE} cannot be read: ${(error as Error).message}`
        found.push({ name: nameFor(entry), path, isOfFolder, reason })
      }
    }
    return found
  }

  /** Returns the skills for work in a folder, and the unused ones with the reasons. */
  async function find (cwd: string): Promise<{ skills: Skill[], unused: UnusedSkill[] }> {
    const there = places(cwd).filter(({ base }) => isFolder(base))
    const skills = new Map<string, Skill>()
    const unused: UnusedSkill[] = []
    // `places` is in order of precedence, so the first of two skills with the same name is used.
    for (const skill of (await Promise.all(there.map((place) => inPlace(cwd, place)))).flat()) {
      if ('reason' in skill) {
        unused.push(skill)
        continue
      }
      const key = skill.name.toLowerCase()
      const first = skills.get(key)
      if (first === undefined) skills.set(key, skill)
      // If one place is a link to another, the same skill is found twice.
      else if (first.folder !== skill.folder) {
        const { name, path, isOfFolder } = skill
        unused.push({ name, path, isOfFolder, isHidden: true, reason: `The skill in ${JSON.stringify(first.path)} has the same name.` })
      }
    }
    return { skills: [...skills.values()], unused }
  }

  const pinOf = async ({ folder, digest }: Skill): Promise<Pin & Pick<SkillFiles, 'leadOut'>> => {
    const { digests, leadOut } = await filesOf(folder)
    return { digest, files: digests, leadOut }
  }
  const storedSkills = (): Promise<StoredSkills> => stored.get().catch(() => ({ pins: {}, shown: {} }))
  const save = (change: (stored: StoredSkills) => StoredSkills) =>
    stored.update(change).catch((error) => {
      if (error.code !== 'ERR_RECORD_DAMAGED') throw error
      return stored.replace(change({ pins: {}, shown: {} }))
    })
  const keyOf = ({ folder }: Skill) => shownPath(folder)

  function compare (pin: Pin, known: Pin | undefined): SkillState {
    if (known === undefined) return { is: 'new' }
    const changed = [...pin.digest === known.digest ? [] : [FILE], ...changedFiles(known.files, pin.files)]
    return changed.length === 0 ? { is: 'known' } : { is: 'changed', changed }
  }

  /** Records this state of a skill as known. */
  const keep = (skill: Skill, pin: Pin) =>
    save((before) => {
      const { [keyOf(skill)]: _, ...others } = before.pins
      return { ...before, pins: newest({ ...others, [keyOf(skill)]: pin }, MOST_PINS) }
    })

  return {
    find,

    /** Returns the state of a skill and all its files, the links that lead out of it, and a digest of everything. */
    async state (skill: Skill): Promise<SkillState & Pick<SkillFiles, 'leadOut'> & { files: string[], digest: string }> {
      const { leadOut, ...pin } = await pinOf(skill)
      const state = compare(pin, (await storedSkills()).pins[keyOf(skill)])
      return { ...state, leadOut, files: Object.keys(pin.files), digest: digestOf(pin) }
    },

    /** Records a skill as known, if it still has this digest. Returns whether it has. */
    async accept (skill: Skill, digest: string): Promise<boolean> {
      const { leadOut, ...pin } = await pinOf(skill)
      if (digestOf(pin) !== digest) return false
      await keep(skill, pin)
      return true
    },

    /**
     * Returns the skills that unattended runs are told of: skills whose SKILL.md has not changed since it was last read, and new skills in
     * folders of config.json, which are the user's choice.
     */
    async known (skills: readonly Skill[]): Promise<Skill[]> {
      if (skills.length === 0) return []
      const { pins } = await storedSkills()
      return skills.filter((skill) => {
        const pin = pins[keyOf(skill)]
        return pin === undefined ? !skill.isOfFolder : pin.digest === skill.digest
      })
    },

    /** Records the state of a skill that a person is shown when asked whether a run is allowed to read it. */
    async note (skill: Skill, runId: string): Promise<void> {
      const { leadOut, ...pin } = await pinOf(skill)
      const key = `${runId} ${keyOf(skill)}`
      await save(({ pins, shown: { [key]: _, ...shown } }) => ({ pins, shown: newest({ ...shown, [key]: pin }, MOST_SHOWN) }))
    },

    /**
     * Records that a skill is read in its present state, if no person needs to be asked: the state is known, or the skill is new and
     * `mayBeNew` is true, or a person was shown this state in this run. `isAgreed` is true if a person approved the call without being
     * shown a change. Returns the state of the skill if a person must be asked, else undefined.
     */
    async take (
      skill: Skill,
      runId: string,
      { mayBeNew, isAgreed }: { mayBeNew: boolean, isAgreed: boolean }
    ): Promise<SkillState | undefined> {
      const { leadOut, ...pin } = await pinOf(skill)
      const { pins, shown } = await storedSkills()
      const state = compare(pin, pins[keyOf(skill)])
      if (state.is === 'known') return undefined
      const asked = shown[`${runId} ${keyOf(skill)}`]
      const isAsShown = asked === undefined ? isAgreed : compare(pin, asked).is === 'known'
      if (!isAsShown && !(mayBeNew && state.is === 'new')) return state
      await keep(skill, pin)
      return undefined
    },

    /**
     * Returns the real path of a file in a skill's folder, which the run is allowed to read; undefined for any other path. Throws
     * PathRefused if the path leads out of its skill.
     */
    async fileAt (path: string, cwd: string): Promise<string | undefined> {
      const reading = readPath(path, cwd)
      if ('refused' in reading) return undefined
      const target = pathMeant(reading.path, cwd, copies)
      for (const { base, isOfFolder } of places(cwd)) {
        const [entry, ...below] = segments(base, target)
        if (entry === undefined || below.length === 0) continue
        const place = { owner: isOfFolder ? cwd : await realpath(base), isOfFolder }
        const folder = await realOf(join(base, entry), place).catch(() => undefined)
        if (folder === undefined || !within(folder, place.owner)) continue
        const real = await realOf(target, place).catch(() => undefined)
        // Nothing is there, or the rules for all paths refuse it.
        if (real === undefined) continue
        if (!within(real, folder)) {
          throw new PathRefused(`${JSON.stringify(path)} leads out of the folder of its skill, so it is not read as a part of it.`)
        }
        const isSkill = isOfFolder || await lstat(join(folder, FILE)).catch(() => undefined) !== undefined
        if (isSkill && !await paths.isForbidden(real)) return real
      }
      return undefined
    }
  }
}

/** Returns the names on the way from a folder to a path inside it; [] for a path elsewhere. */
function segments (base: string, target: string): string[] {
  const inside = relative(base, target)
  return inside === '' || isAbsolute(inside) ? [] : inside.split(/[\\/]/)[0] === '..' ? [] : inside.split(/[\\/]/)
}

/** Synchronous, because it takes microseconds. Most folders have no skills, and the user waits for this check. */
function isFolder (path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    return false
  }
}

/** Returns the digest of a skill and all its files. */
const digestOf = (pin: Pin): string => createHash('sha256').update(canonicalJson(pin)).digest('base64url').slice(0, 22)

const newest = <T>(all: Record<string, T>, most: number): Record<string, T> => Object.fromEntries(Object.entries(all).slice(-most))

/** Returns a name for a skill that cannot be read. The name of its folder can contain anything, so it is cut and cleaned. */
const nameFor = (entry: string) => oneLine(entry).slice(0, LONGEST_NAME)

/** Returns a text with line breaks, white space and invisible characters replaced by single spaces. */
const oneLine = (text: string) => text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()

/** Parses a SKILL.md. Throws SkillRefused. */
function skillFrom (bytes: Buffer, { entry, ...about }: Pick<Skill, 'path' | 'isOfFolder' | 'folder'> & { entry: string }): Skill {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new SkillRefused(`${FILE} is not text in UTF-8.`)
  }
  if (text.includes('\0')) throw new SkillRefused(`${FILE} is not text.`)
  const { fields, body, bodyLine } = readSkillFile(text)
  const textOf = (key: string): string | undefined => {
    const value = fields.get(key)
    if (Array.isArray(value)) throw new SkillRefused(`"${key}" of ${FILE} is a list, not a text.`)
    return value
  }
  const name = textOf('name') ?? entry
  if (name.length > LONGEST_NAME || !NAME.test(name)) {
    throw new SkillRefused(
      `The name ${JSON.stringify(name.slice(0, LONGEST_NAME))} cannot be used: a name has up to ${LONGEST_NAME} letters, digits and ` +
        'dashes, and is no path.'
    )
  }
  const description = oneLine(textOf('description') ?? '')
  if (description === '') throw new SkillRefused(`${FILE} has no "description", which says when the skill is for.`)
  if (description.length > LONGEST_DESCRIPTION) {
    throw new SkillRefused(`The description has ${description.length} characters; the limit is ${LONGEST_DESCRIPTION}.`)
  }
  const allowed = fields.get('allowed-tools')
  return {
    ...{ name, description, ...about, body: body.trim(), bodyLine: bodyLine + leadingLines(body) },
    ...(allowed !== undefined && { allowedTools: allowedEntries(allowed) }),
    ...(textOf('disable-model-invocation') === 'true' && { isForUser: true as const }),
    digest: createHash('sha256').update(bytes).digest('base64url'),
    bytes: bytes.length
  }
}

const leadingLines = (body: string) => /^\s*/.exec(body)![0].split('\n').length - 1
