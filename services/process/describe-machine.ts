import { systemShell } from './shell.ts'

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }

/** Describes to a model the system of this computer and the shell of its commands. */
export const describeMachine = (): string =>
  `This computer runs ${SYSTEMS[process.platform] ?? process.platform}; commands run in ${systemShell().name}.`
