export { createSupervisor, type Supervisor, type SupervisorEvent, type SupervisorOptions } from './supervisor.ts'
export type { Notification, NotificationHandlers } from './follow-notifications.ts'
export { ServiceEnded } from './service-ended.ts'
export type { Exit, Ready, Secrets, ServiceChild, StartService } from './service-child.ts'

if (typeof Promise.withResolvers !== 'function') {
  throw new Error(`local-agent-service/supervisor needs Node 22.18 or newer; ${process.execPath} is Node ${process.versions.node}.`)
}
