import fp from 'fastify-plugin'
import { createCourier } from '../services/notifications/courier.ts'
import { createNotifications, type Notifications } from '../services/notifications/notifications.ts'
import { createWebhook, isWrittenOut, resolveWebhook, STORED_SECRET } from '../services/notifications/webhook.ts'
import { RECORDS } from '../services/store/keys.ts'
import { emptyIfDamaged } from '../services/store/store-errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Notifications for a person. */
    notifications: Notifications
  }
}

/** Notifies a person of things that wait, fail or need a key. A notification that no shell and no page shows goes to the webhook. */
export default fp(async (app) => {
  const { store, clock, config, events, log } = app
  const record = store.record<{ secret?: string }>(RECORDS.webhook, () => ({}))
  let stored = (await record.get().catch(emptyIfDamaged) as { secret?: string }).secret
  const webhook = () => resolveWebhook(config.current.notify?.webhook, stored, process.env)
  // A replaced secret is still redacted, because a command might find it somewhere.
  const secrets = new Set<string>()
  app.secrets.add(() => {
    for (const secret of [stored, webhook()?.secret]) if (secret !== undefined) secrets.add(secret)
    return secrets
  })

  const notifications = createNotifications({
    store,
    clock,
    emit: events.emit,
    isRead: (runId) => app.engine.activeRuns.ofRun(runId)?.isRead ?? false,
    say: (call) => app.tools.say(call).text
  })
  await notifications.load()
  app.decorate('notifications', notifications)

  const providerIsWell = (name: string) => {
    notifications.close(`provider/${name}`).catch((error) => log.warn({ err: error }, 'the end of a notification could not be stored'))
  }
  app.providers.onKey(providerIsWell)
  app.usage.onAnswer((model) => providerIsWell(app.providers.providerNameOf(model)))

  const deliver = createWebhook({
    clock,
    // The user chose the address, so a private address is allowed. Only the ports of this service are refused.
    async post (url, message) {
      const [{ createAddressPolicy }, { reasonOf, send }] = await Promise.all([
        import('../services/tools/web/fetch/address-policy.ts'),
        import('../services/tools/web/fetch/send.ts')
      ])
      const policy = createAddressPolicy({ allowPrivate: () => true, ownPorts: app.ownPorts })
      try {
        return await send(url, { method: 'POST', ...message, addresses: await policy.addresses(url) })
      } catch (error) {
        throw new Error(reasonOf(error), { cause: error })
      }
    }
  })
  const courier = createCourier({ notifications, clock, webhook, deliver, log })

  /** Moves a webhook secret that is written out in config.json to the store, and leaves a reference in its place. */
  async function keepSecret () {
    const written = config.current.notify?.webhook?.secret
    if (written === undefined || !isWrittenOut(written)) return
    await record.replace({ secret: written })
    stored = written
    await config.update((current) => {
      const { webhook: before, ...others } = current.notify ?? {}
      return before?.secret === written ? { ...current, notify: { ...others, webhook: { ...before, secret: STORED_SECRET } } } : current
    })
  }
  const keep = () => {
    courier.wake()
    keepSecret().catch((error) => log.warn({ err: error }, 'the secret of the webhook stays in config.json, as it could not be stored'))
  }

  const stop = new AbortController()
  let running: Promise<void> | undefined
  app.addHook('onListen', () => {
    running = courier.run(stop.signal)
    config.watch(keep)
    keep()
  })
  app.addHook('preClose', async () => {
    stop.abort()
    await running
    await notifications.save().catch((error) => log.warn({ err: error }, 'the ends of notifications could not be stored'))
  })
}, { name: 'notifications', dependencies: ['store', 'clock', 'config', 'events', 'providers', 'usage'] })
