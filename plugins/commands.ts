import fp from 'fastify-plugin'
import { createBackgroundCommands, type BackgroundCommands } from '../services/tools/shell/background-commands.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Commands that keep running after their tool calls have ended. */
    backgroundCommands: BackgroundCommands
  }
}

/**
 * Commands in the background. A command ends with the run of its task, an hour after its conversation has last used it, or with the
 * service.
 */
export default fp(async (app) => {
  const { clock, log, sandbox, undo } = app
  const commands = createBackgroundCommands({
    clock,
    log,
    // The engine is created after the tools, so `app.engine` is read only at a call.
    ownerOf (runId) {
      const record = app.engine.activeRuns.find(runId)?.run.record
      // A rehearsal owns its commands alone, also when it rehearses a conversation.
      return record && { threadId: record.trigger === 'rehearsal' ? undefined : record.threadId, taskId: record.taskId }
    },
    isActive: ({ threadId, runId }) =>
      threadId === undefined
        ? app.engine.activeRuns.find(runId) !== undefined
        : app.engine.activeRuns.has(threadId),
    boxes: sandbox,
    settled: undo.settled,
    tookAway: ({ commandId, command, runId, threadId, taskId }, sentences) => app.notifications.notify({
      ...{ kind: 'boxed', key: `boxed/${commandId}`, runId, threadId, taskId },
      text: `${sentences.join(' ')} If one of them is yours, made meanwhile, give it its name back. The command: ${command}`
    })
  })
  app.decorate('backgroundCommands', commands)
  app.addHook('onReady', async () => {
    app.engine.activeRuns.onEnd(commands.used)
    app.events.onEvent((event) => {
      const isOver = event.type === 'task:complete' || event.type === 'task:error' || event.type === 'run:end'
      if (isOver) void commands.endOf({ runId: event.runId })
    })
  })
  app.addHook(
    'preClose',
    app.shutdown.addPart('commands', async () => {
      await commands.close()
      await undo.idle()
    })
  )
}, { name: 'commands', dependencies: ['clock', 'shutdown', 'sandbox', 'undo'] })
