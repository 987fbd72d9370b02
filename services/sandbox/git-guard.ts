import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { BoxFile } from './linux-box.ts'
import type { RepositoryAbove } from './repository-above.ts'

// A box that shows only one folder of a repository hides its other files, and git takes these for deleted. The hooks here keep such
// deletions out of the index and out of commits. They prevent accidents and are no protection: a command can bypass them.

/** The path of the hooks in a box (a sandbox). */
const HOOKS = '/run/git-hooks'

/**
 * The git hooks that a command can trigger. core.hooksPath replaces the repository's own hooks, so each hook here runs its own counterpart.
 */
const NAMES = [
  'applypatch-msg', 'commit-msg', 'post-applypatch', 'post-checkout', 'post-commit', 'post-index-change', 'post-merge', 'post-rewrite',
  'pre-applypatch', 'pre-commit', 'pre-merge-commit', 'pre-push', 'pre-rebase', 'prepare-commit-msg', 'reference-transaction'
]

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const script = (repository: RepositoryAbove, folder: string) => `#!/bin/sh
name=\${0##*/}
others=:\\(top,exclude,literal\\)${quoted(relative(repository.top, folder))}
input=
[ "$name" != reference-transaction ] || input=$(cat)
if [ "$(git rev-parse --absolute-git-dir)" = ${quoted(repository.own)} ]; then
  case "$name $1" in
    post-index-change*)
      [ -e "$(git rev-parse --git-path index.lock)" ] ||
        [ -z "$(git diff-index --cached --diff-filter=D --name-only HEAD -- "$others" 2>/dev/null | head -n 1)" ] ||
        git -c core.hooksPath=/nowhere reset -q HEAD -- "$others" 2>/dev/null ;;
    'reference-transaction prepared')
      printf '%s\\n' "$input" | while read -r old new ref; do
        case $ref in HEAD|refs/heads/*|refs/stash) ;; *) continue ;; esac
        case $new in *[!0-9a-f]*) continue ;; *[!0]*) ;; *) continue ;; esac
        case $old in *[!0]*) ;; *) old=HEAD ;; esac
        gone=$(git diff-tree -r --diff-filter=D --name-only "$old" "$new" -- "$others" 2>/dev/null | head -n 1)
        [ -z "$gone" ] && continue
        echo "Refused: this would delete files beside ${relative(repository.top, folder).replace(/[^\w./ -]/g, '?')}, such as $gone," >&2
        echo "which the box does not show. Add paths (git add .) and commit without -a, or run git with \\"outside\\": true." >&2
        exit 1
      done || exit 1 ;;
  esac
fi
unset GIT_CONFIG_COUNT
own=$(git rev-parse --git-path "hooks/$name")
[ -x "$own" ] || exit 0
[ "$name" = reference-transaction ] || exec "$own" "$@"
printf '%s\\n' "$input" | "$own" "$@"
`

/** Returns environment variables that set these git settings. They override the settings in files. */
function gitVariables (settings: Record<string, string>): NodeJS.ProcessEnv {
  const pairs = Object.entries(settings).flatMap(([name, value], at) => [[`GIT_CONFIG_KEY_${at}`, name], [`GIT_CONFIG_VALUE_${at}`, value]])
  return { GIT_CONFIG_COUNT: String(Object.keys(settings).length), ...Object.fromEntries(pairs) }
}

/** Settings for a repository whose config file is read-only: with autoSetupMerge, git would report an error for a new branch. */
const READ_ONLY = { 'branch.autoSetupMerge': 'false' }
export const readOnlyVariables = (): NodeJS.ProcessEnv => gitVariables(READ_ONLY)

/**
 * Prepares a repository whose config file is read-only, for a box. Returns the variables and files for the box. If the working folder is
 * only a part of the work tree, writes the hooks into `own`, a folder outside the box.
 */
export async function guardRepository (
  own: string,
  repository: RepositoryAbove,
  folder: string
): Promise<{ env: NodeJS.ProcessEnv, files: BoxFile[] }> {
  if (repository.top === folder) return { env: readOnlyVariables(), files: [] }
  // In a box the folder is a file system of its own.
  const across = { GIT_DISCOVERY_ACROSS_FILESYSTEM: '1' }
  const from = join(own, 'git-hooks')
  await mkdir(from)
  for (const name of NAMES) await writeFile(join(from, name), script(repository, folder), { mode: 0o755 })
  return { env: { ...across, ...gitVariables({ ...READ_ONLY, 'core.hooksPath': HOOKS }) }, files: [{ from, to: HOOKS }] }
}
