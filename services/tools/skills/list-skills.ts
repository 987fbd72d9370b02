import type { SkillView } from '../../../schemas/skills.ts'
import { workingFolder } from '../../lib/working-folder.ts'
import { readAllowedTools } from './allowed-tools.ts'
import type { Skill, Skills, UnusedSkill } from './skills.ts'

const sourceOf = ({ isOfFolder }: Pick<Skill, 'isOfFolder'>) => isOfFolder ? 'folder' as const : 'config' as const

const unusedView = ({ name, path, isOfFolder, reason, isHidden }: UnusedSkill): SkillView =>
  ({ name, path, source: sourceOf({ isOfFolder }), state: isHidden ? 'hidden' : 'refused', reason })

/** Returns the function that lists the skills for work in a folder; it throws BadFolder (400) for none. `tools` are names of tools. */
export function createSkillList (
  { skills, workspace, tools }: { skills: Skills, workspace: () => string, tools: () => readonly string[] }
) {
  async function view (skill: Skill): Promise<SkillView> {
    const { name, description, path, allowedTools, isForUser } = skill
    const { files, leadOut, ...state } = await skills.state(skill)
    const unread = readAllowedTools(allowedTools ?? [], tools()).filter((rule) => rule.unread !== undefined).map(({ entry }) => entry)
    return {
      ...{ name, description, path, source: sourceOf(skill), state: state.is },
      ...(state.is === 'changed' && { changed: state.changed }),
      ...(allowedTools && { allowedTools }),
      ...(unread.length > 0 && { unread }),
      ...(isForUser && { forUser: true as const }),
      files: files.length,
      ...(leadOut.length > 0 && { leadOut })
    }
  }

  return async (folder: string | undefined): Promise<{ cwd: string, skills: SkillView[] }> => {
    const cwd = await workingFolder(folder, workspace())
    const found = await skills.find(cwd)
    const used: SkillView[] = []
    for (const skill of found.skills) used.push(await view(skill))
    return { cwd, skills: [...used, ...found.unused.map(unusedView)] }
  }
}

export type SkillList = ReturnType<typeof createSkillList>
