import { Type, type Static } from '@sinclair/typebox'
import { oneOf, ref } from './common.ts'

const STATES = ['new', 'known', 'changed', 'refused', 'hidden'] as const
const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }))

export const SkillSchema = Type.Object({
  name: Type.String(),
  description: Type.Optional(Type.String({ description: 'What it is for, in the words of its folder' })),
  path: Type.String({ description: 'Its folder' }),
  source: oneOf(['folder', 'config'], 'Whether it lies in the working folder, or in a folder that config.json names'),
  state: oneOf(STATES, {
    description: 'new: no run has read it; known: it is as it was read; changed: it is not, and a person is asked before it is read ' +
      'again; refused: it cannot be used, for the `reason`; hidden: an earlier one has its name'
  }),
  reason: Type.Optional(Type.String({ description: 'Why it is not used' })),
  changed: texts('The files that are other than when it was read'),
  allowedTools: texts('The only tools that can be called while it is in use, as its folder names them'),
  unread: texts('Entries of `allowedTools` that allow nothing, because they are not understood'),
  forUser: Type.Optional(Type.Literal(true, { description: 'Models are not told of it: it is read when its user names it' })),
  files: Type.Optional(Type.Integer({ description: 'The number of files beside its SKILL.md' })),
  digest: Type.Optional(Type.String({ description: 'Changes when a file of the skill changes; send it to accept the skill' })),
  leadOut: texts('Links in its folder that lead out of it: nothing is read through them')
}, { $id: 'Skill', description: 'A folder with a SKILL.md: instructions for a kind of work' })
export type SkillView = Static<typeof SkillSchema>

export const SkillListSchema = Type.Object({
  cwd: Type.String({ description: 'The working folder' }),
  skills: Type.Array(ref(SkillSchema))
}, { $id: 'SkillList', description: 'The skills for work in a folder, those that are used first' })

export const SkillQuery = Type.Object({
  cwd: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: 'The working folder; that of the service by default' }))
}, { additionalProperties: false })

export const AcceptSkillBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  cwd: SkillQuery.properties.cwd,
  digest: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The `digest` of the skill as it was shown; with another one, nothing is accepted'
  })
}, {
  additionalProperties: false,
  examples: [{ name: 'release-notes', cwd: '/home/ada/shop', digest: 'Zs0p1XbM9vQ2uY7cK4tR1w' }]
})
