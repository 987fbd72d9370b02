import type { Static } from '@sinclair/typebox'
import type { AcceptSkillBody, SkillView } from '../../../schemas/skills.ts'
import { defineError } from '../../lib/service-error.ts'
import { workingFolder } from '../../lib/working-folder.ts'
import { readAllowedTools, type Vocabulary } from './allowed-tools.ts'
import type { Skill, Skills, UnusedSkill } from './skills.ts'

const sourceOf = ({ isOfFolder }: Pick<Skill, 'isOfFolder'>) => isOfFolder ? 'folder' as const : 'config' as const

const unusedView = ({ name, path, isOfFolder, reason, isHidden }: UnusedSkill): SkillView =>
  ({ name, path, source: sourceOf({ isOfFolder }), state: isHidden ? 'hidden' : 'refused', reason })

const NoSkill = defineError('ERR_SKILL_NOT_FOUND', 'There is no usable skill "%s" in this folder; GET /skills says which there are.')
const SkillChanged = defineError(
  'ERR_SKILL_CHANGED',
  'The skill "%s" has changed since it was shown, and was not accepted. Look at it again: its digest is now "%s".'
)

/**
 * Lists the skills for work in a folder, and accepts skills. All functions throw BadFolder (400) if the path is not a folder. `host` is
 * used to read `allowed-tools`.
 */
export function createSkillList (
  { skills, workspace, host }: { skills: Skills, workspace: () => string, host: () => Vocabulary }
) {
  async function view (skill: Skill): Promise<SkillView> {
    const { name, description, path, allowedTools, isForUser } = skill
    const { files, leadOut, digest, ...state } = await skills.state(skill)
    const unread = readAllowedTools(allowedTools ?? [], host()).filter((rule) => rule.unread !== undefined).map(({ entry }) => entry)
    return {
      ...{ name, description, path, source: sourceOf(skill), state: state.is },
      ...(state.is === 'changed' && { changed: state.changed }),
      ...(allowedTools && { allowedTools }),
      ...(unread.length > 0 && { unread }),
      ...(isForUser && { forUser: true as const }),
      files: files.length,
      digest,
      ...(leadOut.length > 0 && { leadOut })
    }
  }

  return {
    async list (folder: string | undefined): Promise<{ cwd: string, skills: SkillView[] }> {
      const cwd = await workingFolder(folder, workspace())
      const found = await skills.find(cwd)
      const used: SkillView[] = []
      for (const skill of found.skills) used.push(await view(skill))
      return { cwd, skills: [...used, ...found.unused.map(unusedView)] }
    },

    /**
     * Records a skill in the state that the user looked at. Runs then read it without asking until it changes. Throws NoSkill (404), or
     * SkillChanged (409) if it has changed since the user looked.
     */
    async accept ({ name, cwd: folder, digest }: Static<typeof AcceptSkillBody>): Promise<SkillView> {
      const cwd = await workingFolder(folder, workspace())
      const skill = (await skills.find(cwd)).skills.find((each) => each.name === name)
      if (skill === undefined) throw new NoSkill(name)
      if (!await skills.accept(skill, digest)) throw new SkillChanged(name, (await skills.state(skill)).digest)
      return view(skill)
    }
  }
}

export type SkillList = ReturnType<typeof createSkillList>
