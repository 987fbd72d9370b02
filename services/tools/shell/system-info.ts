import os from 'node:os'
import { Type } from '@sinclair/typebox'
import type { Desktop } from '../desktop/control/desktop.ts'
import type { BuiltinTool, ToolOutput } from '../../contracts/tool.ts'
import { textOf } from '../../lib/in-words.ts'

/**
 * Creates the tool that describes the computer. It tells of the user only the home folder and the shell. Sizes are in bytes, times in
 * seconds.
 */
export function createSystemInfo (
  { environment, desktop }: { environment: () => NodeJS.ProcessEnv, desktop: Desktop }
): BuiltinTool<Record<string, never>> {
  return {
    model: {
      name: 'systemInfo',
      description: 'Tell the system, processors, memory, shell and desktop of this computer.',
      schema: Type.Object({}, { additionalProperties: false })
    },
    says: {
      en: { label: 'Look at this computer', does: 'look at this computer', verb: 'read the system information', result: systemInWords }
    },
    policy: { effect: 'read' },
    async execute (_input, { cwd }) {
      const cpus = os.cpus()
      return {
        platform: os.platform(),
        type: os.type(),
        release: os.release(),
        version: os.version(),
        arch: os.arch(),
        hostname: os.hostname(),
        cpus: { count: cpus.length, model: cpus[0]?.model ?? 'unknown' },
        loadAverage: os.loadavg(),
        memory: { totalBytes: os.totalmem(), freeBytes: os.freemem() },
        uptimeSeconds: Math.round(os.uptime()),
        nodeVersion: process.version,
        shell: process.platform === 'win32' ? 'cmd.exe' : environment().SHELL ?? '/bin/sh',
        home: os.homedir(),
        temporaryFolder: os.tmpdir(),
        desktop: desktop.problem() ?? 'available',
        timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        cwd
      }
    }
  }
}

const systemInWords = (output: ToolOutput): string =>
  `This system:\n${Object.entries(output).map(([key, value]) => `- ${key}: ${textOf(value)}`).join('\n')}`
