import { existsSync, readFileSync } from 'node:fs'

/** A call whose only effect is this text at the end of a file, so that what ran, and how often, can be read there. */
export const append = (text: string) => ({ toolName: 'runCommand', input: { command: `printf ${text} >> effects.log` } })

/** What ran in a folder, in order. */
export const effects = (dir: string) => existsSync(`${dir}/effects.log`) ? readFileSync(`${dir}/effects.log`, 'utf8') : ''

/** The configuration of a model that, told anything, makes these calls in one step and then says "done". */
export const calling = (...toolCalls: Array<{ toolName: string, input: object }>) => ({
  model: 'offline/scripted',
  offline: { script: [{ toolCalls }, { text: 'done' }] }
})
