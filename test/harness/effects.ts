import { existsSync, readFileSync } from 'node:fs'

/** Returns a call whose only effect is to append this text to a file, so that the file shows which calls ran, and how often. */
export const append = (text: string) => ({ toolName: 'runCommand', input: { command: `printf ${text} >> effects.log` } })

/** Returns the texts that calls have appended in a folder, in order. */
export const effects = (dir: string) => existsSync(`${dir}/effects.log`) ? readFileSync(`${dir}/effects.log`, 'utf8') : ''

/** Returns the configuration of a model that makes these calls in one step, whatever the message, and then says "done". */
export const calling = (...toolCalls: Array<{ toolName: string, input: object }>) => ({
  model: 'offline/scripted',
  offline: { script: [{ toolCalls }, { text: 'done' }] }
})
