import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { systemFolders, toolchains } from './box-places.ts'

/**
 * The program that makes boxes (sandboxes) on macOS. This file has never been run. It was written from Apple's sandbox(7) and
 * sandbox-exec(1), and compared on 2026-11-28 with the profile by which Codex runs commands of models on macOS (openai/codex,
 * codex-rs/core/src/seatbelt_base_policy.sbpl, which follows Chromium's common.sb).
 */
export const SANDBOX_EXEC = '/usr/bin/sandbox-exec'

/** Folders that programs of macOS read to start, beside those that `systemFolders` returns. */
// Not the whole of /System: all data of the users is below /System/Volumes/Data.
const SYSTEM = ['/System/Library', '/System/Applications', '/System/iOSSupport', '/System/Cryptexes', '/System/Volumes/Preboot/Cryptexes',
  '/Library/Apple', '/Library/Developer', '/Library/Frameworks', '/Applications/Xcode.app', '/private/var/db/dyld', '/private/var/select',
  '/private/var/db/timezone', '/private/etc', '/opt/homebrew', '/dev/fd']
/**
 * Services that the libraries of every program ask: for names of users and groups, the folder for temporary files, the time zone, and the
 * log. Others are left out. Through launchservicesd and coreservices, a command would have programs started outside of the box. Through
 * securityd it would reach keys, through pboard the clipboard, through cfprefsd the settings of all programs, and through FSEvents the
 * changes in other folders. trustd and configd are for networks, which commands in this box do not have.
 */
const SERVICES = ['com.apple.system.opendirectoryd.libinfo', 'com.apple.system.opendirectoryd.membership', 'com.apple.bsd.dirhelper',
  'com.apple.system.notification_center', 'com.apple.system.logger', 'com.apple.logd']
// Neither the whole of /dev nor /dev/tty: a command could read what is typed in terminals there, and write to them.
const DEVICES = ['/dev/null', '/dev/zero', '/dev/stdout', '/dev/stderr', '/dev/fd', '/dev/dtracehelper', '/dev/ptmx']
const READABLE_DEVICES = [...DEVICES, '/dev', '/dev/stdin', '/dev/random', '/dev/urandom', '/dev/autofs_nowait']

interface MacPlan {
  environment: NodeJS.ProcessEnv
  /** The working folder. */
  folder: string
  /** A folder of the command's own for temporary files. */
  temporary: string
  ownHome: string
  /** Files and folders in the working folder that programs act on when somebody opens or enters a folder. */
  opens?: readonly string[]
}

const quoted = (path: string) => `"${path.replace(/["\\]/g, '\\$&')}"`
const each = (paths: string[]) => paths.map((path) => `(literal ${quoted(path)})`).join(' ')
const below = (paths: string[]) => paths.map((path) => `(subpath ${quoted(path)})`).join(' ')

/** Returns the arguments of sandbox-exec, without the command. Later rules of a profile win over earlier ones. */
export function macArguments ({ environment, ...plan }: MacPlan): string[] {
  // Rules are about real paths: /var, /tmp and /etc are links into /private.
  const real = (path: string) => existsSync(path) ? realpathSync(path) : path
  const [folder, temporary, ownHome] = [plan.folder, plan.temporary, plan.ownHome].map(real)
  const readable = [...systemFolders().map(({ path }) => real(path)), ...SYSTEM, ...toolchains(environment, ownHome).map(real)]
  const obeyed = [...plan.opens ?? [], ...['config', 'hooks'].map((name) => join(folder, '.git', name))]
  const profile = [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork sysctl-read)',
    // What Node asks for the number of processors, and Java for their kind.
    '(allow mach-host*)',
    '(allow sysctl-write (sysctl-name "kern.grade_cputype"))',
    '(allow signal process-info* (target same-sandbox))',
    '(allow ipc-posix-sem ipc-posix-shm)',
    `(allow mach-lookup ${SERVICES.map((name) => `(global-name ${quoted(name)})`).join(' ')})`,
    // Programs look at the folders above the one they are in.
    '(allow file-read-metadata)',
    `(allow file-read* (literal "/") ${each(READABLE_DEVICES)} ${below([...readable, folder, temporary])})`,
    `(allow file-write* ${below([folder, temporary])} ${each(DEVICES)})`,
    // Terminals that a program makes for itself, such as those of `script`.
    '(allow pseudo-tty)',
    '(allow file-ioctl (literal "/dev/ptmx"))',
    '(allow file-read* file-write* file-ioctl (require-all (regex #"^/dev/ttys[0-9]+") (extension "com.apple.sandbox.pty")))',
    `(deny file-write* ${below(obeyed)} (literal ${quoted(join(folder, '.git'))}))`,
    `(deny file-read* file-write* ${below([ownHome, join(real(homedir()), 'Library/Keychains'), '/Library/Keychains'])})`,
    '(deny network*)'
  ].join('\n')
  return ['-p', profile]
}
