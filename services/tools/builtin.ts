import type { Clock } from '../clock/clock.ts'
import type { Desktop } from '../desktop/desktop.ts'
import type { Describe } from '../models/describe.ts'
import type { Search } from '../search/search.ts'
import type { Web } from '../web/fetch.ts'
import type { Tool } from './contract.ts'
import { createClick } from './desktop/click.ts'
import { createScreenshot } from './desktop/screenshot.ts'
import { createScroll } from './desktop/scroll.ts'
import { createType } from './desktop/type.ts'
import { createDeleteFile } from './files/delete.ts'
import { createListDirectory } from './files/list.ts'
import { createReadFile } from './files/read.ts'
import { createWriteFile } from './files/write.ts'
import type { PathPolicy } from './paths.ts'
import { createRunCommand } from './system/command.ts'
import { createSystemInfo } from './system/info.ts'
import { createFetchUrl } from './web/fetch.ts'
import { createWebSearch } from './web/search.ts'

interface Parts {
  paths: PathPolicy
  clock: Clock
  /** Environment of commands, without secrets: see childEnvironment. */
  environment: () => NodeJS.ProcessEnv
  /** Loaded when first used. */
  web: () => Promise<Web>
  search: () => Promise<Search>
  desktop: Desktop
  /** Says what a picture shows. */
  describe: Describe
}

/** The built-in tools, in the order they are offered. */
export function createBuiltinTools (parts: Parts): Tool[] {
  return [
    createReadFile(parts),
    createWriteFile(parts),
    createListDirectory(parts),
    createDeleteFile(parts),
    createRunCommand(parts),
    createFetchUrl(parts),
    createWebSearch(parts),
    createSystemInfo(parts),
    createScreenshot(parts),
    createClick(parts),
    createType(parts),
    createScroll(parts)
  ]
}
