import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Reply } from './model.ts'
import { answersGiven } from './prompt.ts'

/** One answer of a script. `error` fails the call, after the text if there is any. Times are milliseconds. */
export type ScriptedTurn = Reply

/**
 * Replays a script, one turn per model call. The turn's number is the number of answers in the prompt, so that a script
 * continues after a restart. After the last turn, the answer says that the script has ended.
 */
export function scriptedReply (script: ScriptedTurn[], options: LanguageModelV4CallOptions): Reply {
  const given = answersGiven(options.prompt)
  return script[given] ??
    {
      text: script.length === 0
        ? 'There is no script: set "offline.script" in config.json.'
        : `End of the script: it has ${script.length} ${script.length === 1 ? 'turn' : 'turns'}.`
    }
}
