import type { Clock } from '../clock/clock.ts'
import type { Tool } from './contract.ts'
import { createDeleteFile } from './files/delete.ts'
import { createListDirectory } from './files/list.ts'
import { createReadFile } from './files/read.ts'
import { createWriteFile } from './files/write.ts'
import type { PathPolicy } from './paths.ts'
import { createRunCommand } from './system/command.ts'
import { createSystemInfo } from './system/info.ts'

interface Parts {
  paths: PathPolicy
  clock: Clock
  /** Environment of commands, without secrets: see childEnvironment. */
  environment: () => NodeJS.ProcessEnv
}

/** The tools that work on this machine's files and processes, in the order they are offered. */
export function createBuiltinTools (parts: Parts): Tool[] {
  return [
    createReadFile(parts),
    createWriteFile(parts),
    createListDirectory(parts),
    createDeleteFile(parts),
    createRunCommand(parts),
    createSystemInfo(parts)
  ]
}
