import { reviewAnswer } from '../judge/index.ts'
import { type RunOwner, type ThreadRun, makeRunPolicy } from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { ConversationAttempt } from './conversation-state.ts'
import { withRefusedLists } from './refused-calls.ts'
import { runContext, type Context } from './run-prompt.ts'
import { attachedIn } from './prepare-request.ts'

/** The most characters of a file that a message can show. */
const SHOWN_CHARACTERS = 16_000

/** Returns the facts and functions that the engine needs about the conversation of a run. `deps` must have the run's options applied. */
export function conversationOwner (attempt: ConversationAttempt, context: Context, deps: AgentDeps): RunOwner<ThreadRun> {
  const { live: { run, signal }, conversation: { refusedCalls }, meter } = attempt
  const { threadId, cwd, options } = run.record
  const { host, registry, threads } = deps
  const isRehearsal = run.record.sheet !== undefined
  const { prompt, older, places } = context

  return {
    kind: 'conversation',
    // A rehearsal has its own provenance, stored under its run id.
    place: isRehearsal ? run.record.runId : deps.store.digest(threadId),
    registry,
    tools: host,
    prompt: {
      messages: prompt,
      placement: { older, places },
      summaries: {
        load: () => threads.summaries(threadId),
        // If the write fails, the summary is only made again later.
        async keep (summaries) {
          if (isRehearsal) return
          await threads.keepSummaries(threadId, summaries).catch((error) => deps.log.error({ err: error }, 'a summary could not be stored'))
        }
      },
      said: { isUsers: true, texts: options?.instructions === undefined ? [] : [options.instructions] },
      hasRecalled: context.memory.hasRecalled,
      recalled: context.memory.recalled,
      /**
       * Of an attached file that the model gets as text, only the part that the message shows counts as read; nothing of a file that cannot
       * be read. Reading further parts with readAttachment is a call of its own.
       */
      attached: () =>
        Promise.all(attachedIn(prompt).map(async ({ part: { mediaType, filename }, digest }) =>
          (await deps.attachedFiles.text({ digest, mediaType, name: filename }).catch(() => '')).slice(0, SHOWN_CHARACTERS)))
    },
    policy: makeRunPolicy({
      interactive: options?.interactive,
      onlyGranted: isRehearsal,
      mayAsk: options?.interactive === true && !isRehearsal,
      mayAskInCalls: options?.interactive !== false && !isRehearsal
    }),
    refused: refusedCalls,
    context: (append) => runContext(attempt, context, { ...deps, append }),
    notes: () => context.advice?.takeNotes() ?? [],
    complete: (prompt) => withRefusedLists(prompt, refusedCalls),

    async review ({ isLast, object }) {
      if (!isLast) await context.advice?.settle()
      const { events } = run.log
      const { evaluation, ...review } = await reviewAnswer({ events, prompt, cwd, object, isLast }, { ...deps, meter }, signal) ?? {}
      if (evaluation !== undefined) run.log.append({ type: 'evaluation', evaluation })
      return { ...review, mayStand: true }
    }
  }
}
