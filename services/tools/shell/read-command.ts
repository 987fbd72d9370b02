import { Type, type Static } from '@sinclair/typebox'
import type { BuiltinTool, ToolOutput } from '../../contracts/tool.ts'
import type { CommandOutput, Sandbox } from '../../sandbox/index.ts'
import type { BackgroundCommands, CommandState } from './background-commands.ts'
import { takenAwayText } from './command-output.ts'

const LONGEST_WAIT_MS = 50_000

const commandId = Type.String({ minLength: 1, maxLength: 100, description: 'Its id' })
const ReadInput = Type.Object({
  commandId,
  waitMs: Type.Optional(Type.Integer({
    minimum: 0,
    maximum: LONGEST_WAIT_MS,
    description: 'Milliseconds to wait for something new. Default 0.'
  }))
}, { additionalProperties: false })
const StopInput = Type.Object({ commandId }, { additionalProperties: false })

interface Parts {
  background: Pick<BackgroundCommands, 'read' | 'stop'>
  sandbox: Sandbox
}

/**
 * Creates the tool that reads a background command. Output: `{output, running, exitCode?, signal?, message?}`; `output` is the part since
 * the last read.
 */
export function createReadCommand ({ background, sandbox }: Parts): BuiltinTool<Static<typeof ReadInput>> {
  return {
    model: {
      name: 'readCommand',
      description: 'Read what a background command wrote since the last read.',
      schema: ReadInput,
      use: 'seldom'
    },
    says: {
      en: { label: 'Read the output of a command', does: 'read what a command has written' },
      about: ['commandId'],
      otherNames: ['bashoutput']
    },
    policy: { effect: 'read', needs: ['commands'] },
    async execute ({ commandId, waitMs = 0 }, { runId, signal, sandbox: narrowed }) {
      return stateOutput(await background.read(runId, commandId, { ms: waitMs, signal }), sandbox.mayAsk(narrowed))
    }
  }
}

/** Creates the tool that ends a background command of its own conversation. Output as for `readCommand`, once the command has ended. */
export function createStopCommand ({ background, sandbox }: Parts): BuiltinTool<Static<typeof StopInput>> {
  return {
    model: { name: 'stopCommand', description: 'End a background command.', schema: StopInput, use: 'seldom' },
    says: { en: { label: 'Stop a command', does: 'stop a command' }, about: ['commandId'], otherNames: ['killshell', 'killbash'] },
    policy: { effect: 'write', permission: 'allow', needs: ['commands'] },
    effects: { proves: 'command' },
    execute: async ({ commandId }, { runId, sandbox: narrowed }) =>
      stateOutput(await background.stop(runId, commandId), sandbox.mayAsk(narrowed))
  }
}

/** Converts the state of a command to the form that models get. */
export function stateOutput ({ output, left, end, explain }: CommandState, mayAsk: CommandOutput['mayAsk']): ToolOutput {
  const hasFailed = end !== undefined && end.exitCode !== 0
  const messages = [
    left > 0 && `${left} bytes before this are lost, because they were not read in time.`,
    ...explain?.({ stdout: '', stderr: output, hasFailed, mayAsk }) ?? [],
    ...end?.notes ?? [],
    end !== undefined && end.takenAway.length > 0 && takenAwayText(end.takenAway)
  ].filter((text) => text !== false)
  return {
    output,
    running: end === undefined,
    ...(end && { exitCode: end.exitCode, ...(end.signal && { signal: end.signal }) }),
    ...(messages.length > 0 && { message: messages.join(' ') })
  }
}
