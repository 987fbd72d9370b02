import { Type, type Static } from '@sinclair/typebox'
import { oneOf } from './common.ts'

const path = { minLength: 1, maxLength: 4096 }

/** Why a folder cannot be opened or chosen. */
const ProblemSchema = oneOf(['unreadable', 'own', 'system', 'outside', 'broken', 'name'], {
  description: 'Why it cannot be chosen: `unreadable`, this user may not read it; `own`, it is the folder of the service itself; ' +
    '`system`, devices and the kernel; `outside`, no folder that file tools may use with the given `cwd`; `broken`, a link that leads ' +
    'nowhere; `name`, it cannot be written as text'
})
export type FolderProblem = Static<typeof ProblemSchema>

const EntrySchema = Type.Object({
  name: Type.String(),
  path: Type.String(),
  link: Type.Optional(Type.String({ description: 'The folder that it leads to, if it is a link' })),
  problem: Type.Optional(ProblemSchema)
})
export type FolderEntry = Static<typeof EntrySchema>

export const FolderSchema = Type.Object({
  path: Type.String({ description: 'The real path: links on the way are followed' }),
  parts: Type.Array(Type.Object({ name: Type.String(), path: Type.String() }), {
    description: 'The folders on the way to it, from the root or the drive on, and itself'
  }),
  problem: Type.Optional(ProblemSchema),
  folders: Type.Array(EntrySchema, { description: 'The folders in it, by name' }),
  leftOut: Type.Integer({ description: 'The number of further entries that fit and are not in the answer: narrow them by `prefix`' }),
  hidden: Type.Integer({ description: 'The number of entries that are left out because their names begin with a dot' }),
  isCut: Type.Optional(Type.Literal(true, { description: 'It has so many entries that not all of them were looked at' }))
}, {
  $id: 'Folder',
  description: 'A folder of this computer with the folders in it; names of files are not told',
  examples: [{
    path: '/home/ada/notes',
    parts: [
      { name: '/', path: '/' },
      { name: 'home', path: '/home' },
      { name: 'ada', path: '/home/ada' },
      { name: 'notes', path: '/home/ada/notes' }
    ],
    folders: [{ name: '2026', path: '/home/ada/notes/2026' }],
    leftOut: 0,
    hidden: 1
  }]
})
export type FolderView = Static<typeof FolderSchema>

export const FolderPlacesSchema = Type.Object({
  home: Type.String({ description: 'The home folder of the user who runs the service' }),
  workspace: Type.String({ description: 'The folder that runs work in when they name none' }),
  roots: Type.Array(Type.String(), { description: 'Further folders that config.json lets the file tools use' }),
  drives: Type.Array(Type.String(), { description: 'On Windows, the drives that are there' }),
  recent: Type.Array(Type.String(), { description: 'Folders of conversations and tasks, the most recent first' })
}, { $id: 'FolderPlaces', description: 'Folders to start from when choosing one' })
export type FolderPlaces = Static<typeof FolderPlacesSchema>

export const FolderQuerySchema = Type.Object({
  path: Type.Optional(Type.String({
    ...path,
    description: 'The folder; by default, and where it is relative, from `cwd` or the workspace on. `~` is the home folder'
  })),
  prefix: Type.Optional(Type.String({ maxLength: 255, description: 'Only folders whose names begin so, in any case of letters' })),
  hidden: Type.Optional(Type.Boolean({ description: 'Also folders whose names begin with a dot. A `prefix` with a dot shows them, too' })),
  cwd: Type.Optional(Type.String({
    ...path,
    description: 'The working folder of the task or conversation that the folder is chosen for: folders that its file tools may not use ' +
      'have the problem `outside`'
  })),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 500, description: 'The most folders in the answer' })
}, { additionalProperties: false })
export type FolderQuery = Static<typeof FolderQuerySchema>
