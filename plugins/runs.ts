import fp from 'fastify-plugin'

/** Ends the streams of events after all runs: by then, every end has been told. */
export default fp(async (app) => {
  app.addHook('preClose', async () => app.events.close())
}, { name: 'runs', dependencies: ['events', 'agent', 'tasks'] })
