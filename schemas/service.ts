import { Type, type Static } from '@sinclair/typebox'
import { oneOf } from './common.ts'

export const AboutSchema = Type.Object({
  name: Type.String(),
  model: Type.String({ description: 'The active model, `<provider>/<model>`' }),
  workspace: Type.String({ description: 'The default working directory of runs; empty where there is none, then requests need `cwd`' }),
  endpoints: Type.Array(Type.String({ description: '`<METHOD> <path>`' }))
}, { $id: 'About', description: 'The service, its active model and its endpoints' })

export const HealthSchema = Type.Object({
  status: oneOf(['ok', 'degraded']),
  version: Type.String({ description: 'The version of the package and, after a plus sign, a digest of the build' }),
  uptimeMs: Type.Integer(),
  checks: Type.Object({
    store: Type.String(),
    config: Type.String(),
    scheduler: Type.String({ description: 'The scheduler of tasks; "starting" while it recovers runs that were interrupted' }),
    model: Type.String(),
    awake: Type.String({ description: 'Why the machine may fall asleep while the agent works; the agent works all the same' }),
    workspace: Type.String({ description: 'Why there is no default workspace; requests with `cwd` are served all the same' })
  }, { description: 'State of each part: "ok", or a description of the problem' })
}, { $id: 'Health', description: 'The health of the service and of its parts' })
export type Health = Static<typeof HealthSchema>

export const ReadySchema = Type.Object({ ready: Type.Boolean() }, {
  $id: 'Ready',
  description: 'Whether the service accepts new work'
})

export const ConfigReloadedSchema = Type.Object({ status: Type.Literal('reloaded') }, {
  $id: 'ConfigReloaded',
  description: 'The content of config.json is now in effect'
})
export const ConfigViewSchema = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'ConfigView',
  description: 'The content of config.json with masked secrets'
})
