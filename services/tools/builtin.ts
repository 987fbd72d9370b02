import type { Clock } from '../lib/clock.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { Desktop } from './desktop/control/desktop.ts'
import type { DescribeImage } from '../models/index.ts'
import type { Search } from './web/search/search.ts'
import type { Web } from './web/fetch/fetch.ts'
import type { Tool } from '../contracts/tool.ts'
import { createClick, createLastViews, createScreenshot, createScroll, createType } from './desktop/desktop-tools.ts'
import { createSearchFiles } from './search/search-files.ts'
import { createFindFiles } from './search/find-files.ts'
import type { Transform } from './transform/transform.ts'
import { type AttachmentReading, createReadAttachment } from './attachments/read-attachment.ts'
import { createDeleteFile } from './files/delete-file.ts'
import { createEditFile } from './files/edit-file.ts'
import { createListDirectory } from './files/list-directory.ts'
import { createMoveFile } from './files/move-file.ts'
import type { OpenEditors } from './files/open-editors.ts'
import { createReadFile } from './files/read-file.ts'
import { createWriteFile } from './files/write-file.ts'
import { createFindTools, createUseTool } from './deferred/find-tools.ts'
import { createInvestigateTool } from './investigate-tool.ts'
import type { PathPolicy } from './path-policy.ts'
import { createUpdatePlan } from './update-plan.ts'
import { createListResources, createReadResource, type ResourceServers } from './resources.ts'
import type { BackgroundCommands } from './shell/background-commands.ts'
import { createReadCommand, createStopCommand } from './shell/read-command.ts'
import { createRunCommand } from './shell/run-command.ts'
import { createReadSkill, type SkillParts } from './skills/read-skill.ts'
import { createSystemInfo } from './shell/system-info.ts'
import { createFetchUrl } from './web/fetch-url.ts'
import { createWebSearch } from './web/web-search.ts'
import { createAskUser } from './questions/ask-user.ts'
import { createForget } from './memory/forget.ts'
import { createRemember } from './memory/remember.ts'
import { createChangeTask } from './tasks/change-task.ts'
import { createCreateTask } from './tasks/create-task.ts'
import { createListTasks } from './tasks/list-tasks.ts'
import { createNotifyUser, type NotifyParts } from './tasks/notify-user.ts'
import type { TaskParts } from './tasks/task-parts.ts'
import type { MemoryParts } from './memory/said-words.ts'

interface Parts extends MemoryParts, TaskParts, NotifyParts, SkillParts {
  /** Access to the attachments of conversations. */
  attachments: AttachmentReading
  paths: PathPolicy
  /** The child process that searches files and extracts text from PDFs. */
  transform: Transform
  clock: Clock
  /** The user's open editors, which can hold unsaved texts. */
  editors?: OpenEditors
  /** The environment for commands, without secrets: see childEnvironment. */
  environment: () => NodeJS.ProcessEnv
  /** The web origins of apps whose pages are allowed to call the service. */
  allowedOrigins: () => string[]
  /** Runs commands in boxes (sandboxes). */
  sandbox: Sandbox
  /** The commands that keep running after their calls have ended. */
  background: BackgroundCommands
  /** Imports the module at its first use. */
  web: () => Promise<Web>
  search: () => Promise<Search>
  desktop: Desktop
  /** Describes an image in words. */
  describe: DescribeImage
  /** Answers a question with an investigation: a run inside the run. */
  investigate: Parameters<typeof createInvestigateTool>[0]['investigate']
  /** Returns the deferred tools of a run: the tools that are not described to its model, which findTools finds. */
  deferredTools: Parameters<typeof createFindTools>[0]['deferredTools']
  /** Returns the tool servers that have resources. */
  resourceServers: ResourceServers
}

/** Creates the built-in tools, in the order in which models get them. */
export function createBuiltinTools (parts: Parts): Tool[] {
  const views = createLastViews()
  return [
    createReadFile(parts),
    createSearchFiles(parts),
    createFindFiles(parts),
    createListDirectory(parts),
    createReadAttachment(parts.attachments),
    createReadSkill(parts),
    createEditFile(parts),
    createWriteFile(parts),
    createMoveFile(parts),
    createDeleteFile(parts),
    createRunCommand(parts),
    createReadCommand(parts),
    createStopCommand(parts),
    createFetchUrl(parts),
    createWebSearch(parts),
    createUpdatePlan(),
    createInvestigateTool(parts),
    createSystemInfo(parts),
    createScreenshot({ ...parts, views }),
    createClick({ ...parts, views }),
    createType(parts),
    createScroll({ ...parts, views }),
    createRemember(parts),
    createForget(parts),
    createCreateTask(parts),
    createListTasks(parts),
    createChangeTask(parts),
    createNotifyUser(parts),
    createListResources(parts.resourceServers),
    createReadResource(parts.resourceServers),
    createAskUser(),
    createFindTools(parts),
    createUseTool()
  ]
}
