import { Type, type Static } from '@sinclair/typebox'
import * as examples from './examples/service.ts'

export const AboutSchema = Type.Object({
  name: Type.String(),
  model: Type.String({ description: 'The active model, `<provider>/<model>`' }),
  workspace: Type.String({ description: 'Folder that runs work in by default' }),
  endpoints: Type.Array(Type.String({ description: '`<METHOD> <path>`' }))
}, { $id: 'About', description: 'What this service is', examples: [examples.about] })

export const HealthSchema = Type.Object({
  status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')]),
  version: Type.String(),
  uptimeMs: Type.Integer(),
  checks: Type.Object({
    store: Type.String(),
    config: Type.String(),
    scheduler: Type.String({ description: 'Of tasks: "starting" while what was under way is taken up again' }),
    model: Type.String()
  }, { description: '"ok", or what is wrong' })
}, { $id: 'Health', description: 'Whether the service is up, and what is wrong with it', examples: [examples.health] })
export type Health = Static<typeof HealthSchema>

export const ReadySchema = Type.Object({ ready: Type.Boolean() }, {
  $id: 'Ready',
  description: 'Whether new work is taken',
  examples: [{ ready: true }]
})

export const ConfigReloadedSchema = Type.Object({ status: Type.Literal('reloaded') }, {
  $id: 'ConfigReloaded',
  description: 'The configuration in force is that of config.json',
  examples: [{ status: 'reloaded' }]
})
export const ConfigViewSchema = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'ConfigView',
  description: 'config.json with its secrets masked',
  examples: [examples.config]
})
