import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Reply } from './model.ts'
import { answersGiven } from './prompt.ts'

/** One answer of a script; `error` fails the call (after the text, if there is any). Times in milliseconds. */
export type ScriptedTurn = Reply

/**
 * Replays a script, one turn a model call: the n-th answer of a conversation is the n-th turn, counted in the prompt, so
 * that a script goes on after a restart. Past its end it says so.
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
