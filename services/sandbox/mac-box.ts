import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { OBEYED, systemFolders, toolchains } from './box-places.ts'

/** Never run: written from the documents of Apple's sandbox(7) and sandbox-exec(1), and read twice. */
export const SANDBOX_EXEC = '/usr/bin/sandbox-exec'

/** What programs of macOS read to start, beside the folders that other systems have as well. */
const SYSTEM = ['/System', '/Library/Apple', '/Library/Developer', '/Library/Frameworks', '/Applications/Xcode.app', '/private/var/db/dyld',
  '/private/var/select', '/private/var/db/timezone', '/private/etc', '/opt/homebrew', '/dev']
const WRITABLE_DEVICES = ['/dev/null', '/dev/zero', '/dev/tty', '/dev/stdout', '/dev/stderr', '/dev/fd', '/dev/dtracehelper']

interface MacPlan {
  environment: NodeJS.ProcessEnv
  /** The working folder. */
  folder: string
  /** A folder of the command's own for temporary files. */
  temporary: string
  ownHome: string
}

const quoted = (path: string) => `"${path.replace(/["\\]/g, '\\$&')}"`
const below = (paths: string[]) => paths.map((path) => `(subpath ${quoted(path)})`).join(' ')

/** Returns the arguments of sandbox-exec, up to and without the command. Later rules of a profile win over earlier ones. */
export function macArguments ({ environment, folder, temporary, ownHome }: MacPlan): string[] {
  const real = (path: string) => existsSync(path) ? realpathSync(path) : path
  const readable = [...systemFolders().map(({ path }) => real(path)), ...SYSTEM, ...toolchains(environment, ownHome).map(real)]
  const obeyed = [...OBEYED, '.git/hooks'].map((name) => join(folder, name))
  const profile = [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork sysctl-read)',
    '(allow signal process-info* (target same-sandbox))',
    '(allow ipc-posix-sem ipc-posix-shm)',
    // Programs look at the folders above the one they are in.
    '(allow file-read-metadata)',
    `(allow file-read* (literal "/") ${below([...readable, folder, temporary])})`,
    `(allow file-write* ${below([folder, temporary])} ${WRITABLE_DEVICES.map((path) => `(literal ${quoted(path)})`).join(' ')})`,
    `(deny file-write* ${below(obeyed)} (literal ${quoted(join(folder, '.git'))}))`,
    `(deny file-read* file-write* ${below([ownHome, join(homedir(), 'Library/Keychains'), '/Library/Keychains'])})`,
    '(deny network*)'
  ].join('\n')
  return ['-p', profile]
}
