import { Type, type Static } from '@sinclair/typebox'
import type { BuiltinTool, ToolOutput } from '../../contracts/tool.ts'
import { withPathErrors, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import type { Transform } from '../transform/transform.ts'
import { relativeGlob, restOf, runSearch, searchScope } from './search-files.ts'

const DEFAULT_LIMIT = 200

const Input = Type.Object({
  pattern: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: 'A glob: "*.test.ts" (a name, in any folder), "src/**/*.{js,ts}" (a path)'
  }),
  path: Type.Optional(
    Type.String({ minLength: 1 })
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'nextOffset of the answer, to go on' }))
}, { additionalProperties: false })

interface Parts {
  paths: PathPolicy
  transform: Transform
}

/**
 * Output: `{path, files, truncated?, nextOffset?, message?}`. The paths in `files` are relative to `path`. Models get one path per line.
 */
export function createFindFiles ({ paths, transform }: Parts): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: 'findFiles',
      description: 'Find files and folders by name. What .gitignore leaves out is not found unless path names its folder.',
      schema: Input,
      use: 'always',
      output: (output) => asLines(output)
    },
    says: {
      en: { label: 'Find files', does: 'find files in' },
      about: ['path'],
      otherNames: ['find', 'glob', 'findfile', 'globsearch', 'filesearch']
    },
    policy: { effect: 'read' },
    effects: { source: 'files' },
    execute: ({ pattern, path = '.', limit = DEFAULT_LIMIT, offset = 0 }, { cwd, signal }) =>
      withPathErrors(path, async () => {
        const scope = await searchScope(path, cwd, paths)
        if (scope.file !== undefined) throw new ToolFailed(`${JSON.stringify(path)} is a file; findFiles searches folders.`)
        const glob = relativeGlob(pattern, scope.folder)
        const found = await runSearch(() => transform.run('searchFiles', { ...scope, glob, limit, offset }, { signal }))
        const { paths: files } = found
        return { path: scope.folder, files, ...restOf(found, offset + files.length, files.length > 0 ? '' : nothingFound(offset)) }
      })
  }
}

const nothingFound = (offset: number): string =>
  offset > 0 ? 'There are no more.' : 'No file matches. What .gitignore leaves out is found when path names its folder.'

function asLines ({ files, ...rest }: ToolOutput): ToolOutput {
  return { ...rest, files: Array.isArray(files) ? files.join('\n') : files }
}
