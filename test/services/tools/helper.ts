import { Type } from '@sinclair/typebox'
import type { Test } from 'tap'
import type { Config } from '../../../schemas/config.ts'
import { systemClock, type Clock } from '../../../services/lib/clock.ts'
import { createDesktop } from '../../../services/tools/desktop/control/desktop.ts'
import { createBuiltinTools } from '../../../services/tools/builtin.ts'
import { createBackgroundCommands } from '../../../services/tools/shell/background-commands.ts'
import { createPrivateFolders } from '../../../services/sandbox/private-folders.ts'
import { type BoxKind, createSandbox, type Sandbox } from '../../../services/sandbox/sandbox.ts'
import { NO_BOX } from '../../harness/boxes.ts'
import type { LookUp } from '../../../services/sandbox/box-network.ts'
import type { StoredRecord } from '../../../services/store/store-types.ts'
import { withFolder } from '../../../services/workspace/open-folder.ts'
import { createFence } from '../../../services/tools/fence.ts'
import { createToolHost } from '../../../services/tools/host.ts'
import type { Permissions } from '../../../services/tools/permissions.ts'
import { createTransform } from '../../../services/tools/transform/transform.ts'
import { createSkills, type StoredSkills } from '../../../services/tools/skills/skills.ts'
import { createPathPolicy, type PathPolicy } from '../../../services/tools/path-policy.ts'
import type { Tool, WorkFolder } from '../../../services/contracts/tool.ts'
import type { SourceTool } from '../../../services/contracts/tool.ts'
import type { ToolSource } from '../../../services/tools/sources.ts'

interface Options {
  workspace: string
  roots?: string[]
  forbidden?: string
  environment?: NodeJS.ProcessEnv
  tools?: Tool[]
  permissions?: Permissions
  clock?: Clock
  /** What makes boxes; commands run outside one by default. */
  boxes?: BoxKind
  /** Where the commands have a home and a /tmp that stay; absent: each has its own, in memory. */
  homes?: string
  lookUp?: LookUp
  /** The key `skills` of config.json. */
  skills?: Config['skills']
  /** The policy, where it is not that of this system. */
  paths?: PathPolicy
}

/** A stored record that is in memory alone. */
export function memoryRecord<T> (value: T): StoredRecord<T> {
  return {
    get: async () => value,
    update: async (change) => (value = await change(structuredClone(value))),
    replace: async (next) => (value = next)
  }
}

/** The web has tests of its own, and so has the desktop. */
const notHere = async () => {
  throw new Error('there is no web here')
}
/** A test file that searches or reads PDFs closes it at its end. */
export const transform = createTransform({ clock: systemClock })
const desktop = createDesktop({ clock: systemClock, environment: () => ({}) })

export const sandboxOver = (parts: Partial<Parameters<typeof createSandbox>[0]>) =>
  createSandbox({
    ...{ clock: systemClock, ownHome: '/no/such/folder', environment: () => process.env, mode: () => 'auto' as const, lookUp: notHere },
    withFolder,
    ...parts
  })

/** Commands in the background, all of one conversation. */
export const backgroundOver = (sandbox: Sandbox, clock = systemClock) =>
  createBackgroundCommands({
    ...{ clock, log: console, boxes: sandbox },
    ownerOf: () => ({ threadId: 'one' }),
    isActive: () => false
  })

export const noBackground = () => backgroundOver(noSandbox())

/** Commands run outside a box. */
export const noSandbox = () => sandboxOver({ kind: NO_BOX })

interface CallParts {
  cwd?: string
  signal?: AbortSignal
  attempt?: number
  identity?: string
  folder?: WorkFolder
  paths?: string[]
  sandbox?: 'required'
  confinedTo?: WorkFolder
}

/** A host with the built-in tools over a folder, as a plugin builds it, and short ways to call them. */
export function build (
  { workspace, roots = [], forbidden = '/no/such/folder', environment = process.env, tools, permissions = {}, skills, ...more }: Options
) {
  const { boxes = NO_BOX, lookUp = notHere, clock = systemClock } = more
  const fence = createFence()
  const paths = more.paths ?? createPathPolicy({ workspace, roots, forbidden })
  const privateFolders = more.homes === undefined ? undefined : createPrivateFolders({ clock, root: more.homes, nameOf: (owner) => owner })
  const sandbox = sandboxOver({ clock, environment: () => environment, ownHome: forbidden, kind: boxes, lookUp, privateFolders })
  const host = createToolHost({
    paths,
    tools: tools ??
      createBuiltinTools({
        paths,
        transform,
        skills: createSkills({ paths, config: () => skills, stored: memoryRecord<StoredSkills>({ pins: {}, shown: {} }) }),
        skillRun: () => ({ cwd: workspace, isUnattended: false }),
        clock,
        environment: () => environment,
        sandbox,
        allowedOrigins: () => [],
        background: backgroundOver(sandbox, clock),
        web: notHere,
        search: notHere,
        desktop,
        describe: notHere,
        attachments: { attachmentsOf: async () => [], files: { text: notHere } },
        brain: { ingest: notHere, known: notHere, forgetAbout: notHere, forgetEverything: notHere },
        userWords: async () => undefined,
        conversationOf: async () => undefined,
        tasks: () => notHere() as never,
        tellUser: notHere,
        investigate: async () => ({ report: '', calls: [] }),
        deferredTools: () => [],
        resourceServers: () => []
      }),
    permissions: () => permissions,
    missing: { desktop: desktop.problem, resources: () => 'There are none.' },
    clock: systemClock,
    fence,
    wrote: sandbox.keepWritten
  })
  const runId = 'run'
  const attempt = fence.enter(runId)
  const signal = new AbortController().signal
  const execute = (
    name: string,
    input: unknown,
    { sandbox, ...rest }: CallParts = {}
  ) => host.forRun({ sandbox }).execute({ name, input, runId, attempt, callId: 'call', cwd: workspace, signal, ...rest })
  return {
    host,
    fence,
    paths,
    permissions,
    execute,
    /** The output of a call that must succeed. */
    async output (...call: Parameters<typeof execute>): Promise<any> {
      const result = await execute(...call)
      if (result.status === 'error') throw new Error(result.errorText)
      return result.output
    },
    /** The text of a call that must fail. */
    async failure (...call: Parameters<typeof execute>): Promise<string> {
      const result = await execute(...call)
      if (result.status === 'completed') throw new Error(`succeeded: ${JSON.stringify(result.output).slice(0, 500)}`)
      return result.errorText
    }
  }
}

type PartOfTool = { model?: Partial<Tool['model']>, policy?: Partial<Tool['policy']> } & Partial<Omit<Tool, 'model' | 'policy'>>

/** A tool that needs nothing and answers nothing, but for what is said. */
export const tool = (name: string, execute: Tool['execute'] = async () => ({}), { model, policy, ...rest }: PartOfTool = {}): Tool => ({
  model: { name, description: name, schema: Type.Object({}), ...model },
  policy: { effect: 'read', ...policy },
  ...rest,
  execute
})

/** A tool server with such tools. */
export const server = (name: string, tools: string[], rest: PartOfTool & Omit<Partial<SourceTool>, keyof Tool> = {}): ToolSource => ({
  name,
  available: true,
  tools: tools.map((each) => ({ identity: `${name} ${each}`, ...rest, ...tool(each, rest.execute, rest) }))
})

/** A host over an empty folder. */
export const over = (t: Test, tools?: Tool[], permissions: Permissions = {}) => build({ workspace: t.testdir(), tools, permissions })

export const names = (tools: Tool[]): string[] => tools.map(({ model: { name } }) => name)
